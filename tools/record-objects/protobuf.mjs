/** Objects and reviews as JSON and as protobuf. */
const NS = "/api/v1/namespaces/default";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const metadata = {
  name: "proto",
  labels: { a: "b" },
  annotations: { x: "ü" },
  finalizers: [],
  ownerReferences: [
    { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u1", controller: true, blockOwnerDeletion: false },
  ],
};
const rules = [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods"], resourceNames: ["x"] }];
const CASES = new Map([
  [`${NS}/configmaps`, { metadata, immutable: false, data: { k: "v", empty: "" }, binaryData: { b: "AAEC" } }],
  [`${NS}/secrets`, { metadata, immutable: true, type: "Opaque", data: { k: "dg==", empty: "" } }],
  [
    `${NS}/serviceaccounts`,
    { metadata, automountServiceAccountToken: false, imagePullSecrets: [{ name: "p" }], secrets: [{ name: "s" }] },
  ],
  [
    `${NS}/events`,
    {
      metadata: { name: "proto" },
      involvedObject: { kind: "Pod", name: "p", namespace: "default" },
      reason: "R",
      message: "m",
      type: "Normal",
      count: 2,
      source: { component: "c" },
      firstTimestamp: "2026-01-02T03:04:05Z",
      lastTimestamp: "2026-01-02T03:04:06Z",
      eventTime: "2026-01-02T03:04:05.000123Z",
      action: "A",
      reportingComponent: "c",
      reportingInstance: "i",
      series: { count: 2, lastObservedTime: "2026-01-02T03:04:05.500000Z" },
    },
  ],
  [
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    {
      metadata: { name: "proto" },
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-02T03:04:05.123456Z",
        renewTime: "2026-01-02T03:04:06.000000Z",
        leaseTransitions: 0,
      },
    },
  ],
  [`${RBAC}/namespaces/default/roles`, { metadata, rules }],
  [
    `${RBAC}/clusterroles`,
    {
      metadata: { name: "proto" },
      rules: [{ verbs: ["*"], nonResourceURLs: ["/x"] }],
      aggregationRule: {
        clusterRoleSelectors: [
          { matchLabels: { a: "b" }, matchExpressions: [{ key: "k", operator: "In", values: ["1", "2"] }] },
        ],
      },
    },
  ],
  [
    `${RBAC}/namespaces/default/rolebindings`,
    {
      metadata: { name: "proto" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "proto" },
      subjects: [
        { kind: "ServiceAccount", name: "a", namespace: "b" },
        { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "u" },
      ],
    },
  ],
  [
    `${RBAC}/clusterrolebindings`,
    {
      metadata: { name: "proto" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "proto" },
      subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "g" }],
    },
  ],
  ["/api/v1/namespaces", { metadata: { name: "proto" } }],
]);
const REVIEWS = new Map([
  [
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    {
      spec: {
        resourceAttributes: {
          verb: "get",
          resource: "pods",
          namespace: "default",
          group: "g",
          version: "v1",
          subresource: "s",
          name: "n",
        },
      },
    },
  ],
  [
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    {
      spec: {
        nonResourceAttributes: { path: "/x", verb: "get" },
        user: "bob",
        groups: ["a"],
        uid: "7",
        extra: { k: ["v", "w"] },
      },
    },
  ],
  ["/apis/authentication.k8s.io/v1/selfsubjectreviews", {}],
  ["/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "nope", audiences: ["a"] } }],
]);

/** Becomes the name of the fields' manager. */
const headers = { "user-agent": "node" };
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const bytes = (answer) => answer.bytes.toString("base64");

/** What differs from run to run: identities, times, and with them all bytes. */
function withoutChance({ objects }) {
  const text = JSON.stringify(objects.map(({ json }) => json));
  return JSON.parse(text.replaceAll(/"(uid|creationTimestamp|resourceVersion|time)":"[^"]*"/g, '"$1":""'));
}

export const protobuf = {
  file: "testdata/protobuf.golden.json",
  async record({ call }) {
    const objects = [];
    for (const [path, body] of CASES) {
      await call("POST", path, { body, headers });
      const object = `${path}/proto`;
      objects.push({
        json: (await call("GET", object)).json,
        protobuf: bytes(await call("GET", object, { accept: PROTOBUF })),
      });
    }
    for (const [path, body] of REVIEWS)
      objects.push({
        json: (await call("POST", path, { body, headers })).json,
        protobuf: bytes(await call("POST", path, { body, headers, accept: PROTOBUF })),
      });
    return { objects };
  },
  comparable: withoutChance,
};
