// Creates objects on a real kube-apiserver and writes their JSON and protobuf forms to protobuf.golden.json.
// Usage: node record-protobuf.mjs https://127.0.0.1:6443 <bearer token>   (run it from this folder)
import { writeFileSync } from "node:fs";

process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
const [server, token] = process.argv.slice(2);
const NS = "/api/v1/namespaces/default";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const metadata = {
  name: "proto",
  labels: { a: "b" },
  annotations: { x: "ü", "": "" },
  finalizers: [],
  ownerReferences: [
    { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u1", controller: true, blockOwnerDeletion: false },
  ],
};
delete metadata.annotations[""];
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

async function call(method, path, accept, body) {
  const response = await fetch(server + path, {
    method,
    headers: { authorization: `Bearer ${token}`, accept, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return accept === "application/json" ? response.json() : Buffer.from(await response.arrayBuffer()).toString("base64");
}

const golden = [];
for (const [path, body] of CASES) {
  await call("DELETE", `${path}/proto`, "application/json");
  await call("POST", path, "application/json", body);
  golden.push({
    json: await call("GET", `${path}/proto`, "application/json"),
    protobuf: await call("GET", `${path}/proto`, "application/vnd.kubernetes.protobuf"),
  });
}
for (const [path, body] of REVIEWS) {
  golden.push({
    json: await call("POST", path, "application/json", body),
    protobuf: await call("POST", path, "application/vnd.kubernetes.protobuf", body),
  });
}
writeFileSync("protobuf.golden.json", `${JSON.stringify({ objects: golden }, undefined, 1)}\n`);
