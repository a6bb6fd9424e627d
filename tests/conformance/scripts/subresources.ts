import { APPLY, type Script, type Step } from "../harness/script.ts";

const NS = "/api/v1/namespaces/<ns>";
const CM = `${NS}/configmaps`;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/<ns>/deployments";
const CERTIFICATES = { apiGroups: ["certificates.k8s.io"] };

/** A request for CN=bob, O=team, whose key does not exist. */
const REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWU1IOENBUUF3SFRFTk1Bc0dBMVVFQ2d3RWRHVmhiVEVNTUFvR0ExVUVBd3dEWW05aU1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUUyZmM0enhRVDZDRVlYb2p5Mk5ZVW1hMFlHVkJET3RyVEVmSnd3TU5oClhQWWhMd29Jc3J4NlF0bHFTS2EzL1V2MmJGL2VVNGFtdmUrcXFHQVNsUWZRUDZBQU1Bb0dDQ3FHU000OUJBTUMKQTBrQU1FWUNJUURUZ0hLYmRKMlhTV1B6VEVISTJRVUxhTkNWY1NuOW5BbHJWZ2lEOHpkZDFBSWhBUDlicGo2NgpJbGRqTjh5eTVva3QzRk9tUzVNZUZ4d0I5UStEYW9JOHlZeWoKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";

/** Gives a user a ClusterRole of its own. */
const grant = (user: string, rules: readonly object[]): Step[] => [
  { do: `POST ${RBAC}/clusterroles`, body: { metadata: { name: `<ns>-${user}` }, rules }, only: ["rules"] },
  {
    do: `POST ${RBAC}/clusterrolebindings`,
    body: {
      metadata: { name: `<ns>-${user}` },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `<ns>-${user}` },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
    },
    only: ["subjects"],
  },
];
const request = (name: string): Step => ({
  do: `POST ${CSRS}`,
  body: { metadata: { name }, spec: { request: REQUEST, signerName: "example.com/x", usages: ["client auth"] } },
  only: ["spec.username", "spec.groups", "status"],
});
const condition = (type: string): object => ({ conditions: [{ type, status: "True", reason: "R", message: "m" }] });
/** Without managedFields, which a kube-apiserver does not record for these requests. */
const SHOWN = ["metadata.name", "metadata.labels", "spec", "status", "message"];
const approval = `${CSRS}/<ns>-a/approval`;
const evict = (deleteOptions?: object): object => ({
  apiVersion: "policy/v1",
  kind: "Eviction",
  metadata: { name: "p" },
  ...(deleteOptions === undefined ? {} : { deleteOptions }),
});
const token = (metadata: object, spec: object = {}): Step => ({
  do: `POST ${NS}/serviceaccounts/robot/token`,
  body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata, spec },
  mask: [/eyJ[\w.-]+/],
  only: ["kind", "message", "reason"],
});
const scale = (metadata: object, spec: object): object => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "d", ...metadata },
  spec,
});
const bind = (metadata: object, query = ""): Step => ({
  do: `POST ${NS}/pods/p/binding${query}`,
  body: {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "p", ...metadata },
    target: { kind: "Node", name: "n" },
  },
});
const applied = (query: string, replicas: number): Step => ({
  do: `PATCH ${DEPLOYMENTS}/d/scale?${query}`,
  type: APPLY,
  body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" }, spec: { replicas } },
  only: ["kind", "reason", "code", "spec"],
});
const POD = { containers: [{ name: "c", image: "i" }] };

/** Who writes subresources, with which options and preconditions; and what a permission for one name grants. */
export const subresources: Script = {
  name: "subresources",
  steps: [
    ...grant("writer", [
      { ...CERTIFICATES, resources: ["certificatesigningrequests"], verbs: ["create", "get"] },
      { ...CERTIFICATES, resources: ["certificatesigningrequests/approval"], verbs: ["update", "patch"] },
      { ...CERTIFICATES, resources: ["certificatesigningrequests/status"], verbs: ["update", "patch"] },
    ]),
    ...grant("approver", [
      { ...CERTIFICATES, resources: ["certificatesigningrequests"], verbs: ["get"] },
      { ...CERTIFICATES, resources: ["certificatesigningrequests/approval"], verbs: ["update", "patch"] },
      { ...CERTIFICATES, resources: ["signers"], resourceNames: ["example.com/*"], verbs: ["approve"] },
    ]),
    request("<ns>-a"),
    { wait: `${CSRS}/<ns>-a`, as: "writer" },
    { wait: `${CSRS}/<ns>-a`, as: "approver" },
    { do: `PATCH ${approval}`, as: "writer", body: { status: condition("Approved") } },
    { do: `PATCH ${approval}?dryRun=All`, as: "writer", body: { status: condition("Denied") } },
    { do: `PATCH ${CSRS}/<ns>-a/status`, as: "writer", body: { status: condition("Failed") } },
    { do: `PATCH ${approval}?dryRun=All`, as: "approver", body: { status: condition("Approved") }, only: SHOWN },
    { do: `GET ${CSRS}/<ns>-a`, only: SHOWN },
    { do: `PATCH ${approval}`, as: "approver", body: { metadata: { resourceVersion: "1" } } },
    { do: `PATCH ${approval}`, as: "approver", body: { metadata: { uid: "other" } } },
    {
      do: `PATCH ${approval}?fieldManager=judge`,
      as: "approver",
      body: { status: condition("Approved") },
      only: SHOWN,
    },
    {
      do: `PUT ${approval}`,
      as: "approver",
      body: {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name: "<ns>-a", labels: { l: "1" } },
        spec: { request: "eA==", signerName: "example.com/y", usages: ["client auth"] },
        status: { ...condition("Approved"), certificate: "eA==" },
      },
      only: SHOWN,
    },
    { do: `PATCH ${approval}`, as: "approver", body: { status: condition("Denied") } },
    { do: `DELETE ${CSRS}/<ns>-a`, only: ["status"] },

    ...["only", "other"].map((name) => ({ do: `POST ${CM}`, body: { metadata: { name } }, only: ["metadata.name"] })),
    ...grant("one", [
      {
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: ["only"],
        verbs: ["get", "list", "watch", "deletecollection"],
      },
    ]),
    { wait: `${CM}/only`, as: "one" },
    ...["metadata.name%3Dother", "metadata.namespace%3D<ns>", "metadata.name!%3Dother", "nope%3Dx"].flatMap(
      (selector) => [
        { do: `GET /api/v1/watch/namespaces/<ns>/configmaps/only?fieldSelector=${selector}`, as: "one" },
        { do: `GET ${CM}?fieldSelector=${selector}`, as: "one" },
        { do: `GET ${CM}?watch=true&fieldSelector=${selector}`, as: "one" },
      ],
    ),
    { do: `GET /api/v1/watch/namespaces/<ns>/configmaps?fieldSelector=metadata.name%3Donly`, as: "one" },
    { do: `DELETE ${CM}?fieldSelector=metadata.name%3Donly`, as: "one" },
    ...["False", "FALSE", "0"].map((watch) => ({
      do: `GET ${CM}?watch=${watch}&fieldSelector=metadata.name%3Donly`,
      as: "one",
      only: ["kind"],
    })),
    { do: `GET ${CM}?watch=f&fieldSelector=metadata.name%3Donly&timeoutSeconds=1`, as: "one", only: ["type"] },
    { do: `GET ${CM}?fieldSelector=metadata.name%3Donly,metadata.name%3Dother`, as: "one", only: ["items", "message"] },
    {
      do: `GET /api/v1/watch/namespaces/<ns>/configmaps/only?timeoutSeconds=1&fieldSelector=metadata.name%3Donly`,
      as: "one",
      only: ["type", "object.metadata.name"],
    },

    { wait: `${NS}/serviceaccounts/default` },
    {
      do: `POST ${NS}/pods`,
      body: { metadata: { name: "p" }, spec: POD },
      only: ["metadata.name"],
      differs: "workload-warning",
    },
    { do: `POST ${NS}/pods/p/eviction?dryRun=All`, body: evict(), only: ["status", "message"] },
    { do: `POST ${NS}/pods/p/eviction`, body: evict({ dryRun: ["All"] }), only: ["status", "message"] },
    { do: `POST ${NS}/pods/p/eviction`, body: evict({ preconditions: { uid: "other" } }) },
    { do: `POST ${NS}/pods/p/eviction`, body: { ...evict(), metadata: { name: "q" } } },
    { do: `POST ${NS}/pods/p/eviction`, body: evict({ dryRun: ["all"] }), only: ["status", "message"] },
    { do: `POST ${NS}/pods/p/eviction?dryRun=All`, body: evict({ dryRun: ["all"] }) },
    { do: `GET ${NS}/pods/p`, only: ["metadata.name", "metadata.deletionTimestamp"] },
    bind({ uid: "other" }),
    bind({ uid: "other" }, "?dryRun=All"),
    { ...bind({ resourceVersion: "1" }), mask: [/object meta: \d+/] },
    { do: `GET ${NS}/pods/p`, only: ["spec.nodeName"] },

    { do: `POST ${NS}/serviceaccounts`, body: { metadata: { name: "robot" } }, only: ["metadata.name"] },
    token({}),
    token({ name: "other" }),
    token({ uid: "other" }),
    token({}, { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "p" } }),
    token({}, { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "nope" } }),
    { do: `POST ${NS}/pods/p/eviction`, body: evict(), only: ["status", "message"] },
    { wait: `${NS}/pods/p`, status: 404 },

    {
      do: `POST ${DEPLOYMENTS}`,
      differs: "workload-warning",
      body: {
        metadata: { name: "d" },
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: "d" } },
          template: { metadata: { labels: { app: "d" } }, spec: POD },
        },
      },
      only: ["spec.replicas"],
    },
    { do: `PUT ${DEPLOYMENTS}/d/scale`, body: scale({ uid: "other" }, { replicas: 0 }) },
    { do: `PATCH ${DEPLOYMENTS}/d/scale`, body: { metadata: { uid: "other" }, spec: { replicas: 0 } } },
    { do: `PUT ${DEPLOYMENTS}/d/scale`, body: scale({ resourceVersion: "1" }, { replicas: 0 }) },
    { do: `PUT ${DEPLOYMENTS}/d/scale?fieldValidation=Strict`, body: scale({}, { replicas: 0, replica: 1 }) },
    { do: `PUT ${DEPLOYMENTS}/d/scale`, body: scale({}, { replicas: 0, replica: 1 }), only: ["spec"] },
    { do: `PUT ${DEPLOYMENTS}/d/scale?dryRun=All`, body: scale({}, { replicas: 3 }), only: ["spec"] },
    { do: `GET ${DEPLOYMENTS}/d/scale`, only: ["spec", "status.selector"] },
    // The message quotes the revision.
    {
      do: `PATCH ${DEPLOYMENTS}/d/scale?fieldValidation=Strict`,
      body: { spec: { replica: 1 } },
      only: ["reason", "code", "details.causes.0.field"],
    },
    { do: `PATCH ${DEPLOYMENTS}/d/scale`, body: { spec: { replica: 1 } }, only: ["spec"] },
    { do: `PATCH ${DEPLOYMENTS}/d/scale?fieldManager=owner`, body: { spec: { replicas: 1 } }, only: ["spec"] },
    applied("fieldManager=scaler", 0),
    applied("fieldManager=scaler&force=true&dryRun=All", 0),
    { do: `GET ${DEPLOYMENTS}/d/scale`, only: ["spec"] },
    applied("fieldManager=scaler&force=true", 0),
    { do: `GET ${DEPLOYMENTS}/d/scale`, only: ["spec"] },

    {
      do: `PUT ${NS}/finalize?dryRun=All`,
      body: { metadata: { name: "<ns>" }, spec: { finalizers: ["example.com/x"] }, status: { phase: "Terminating" } },
      only: ["spec", "status"],
    },
    {
      do: `PUT ${NS}/finalize`,
      body: {
        metadata: { name: "<ns>" },
        spec: { finalizers: ["kubernetes", "example.com/x"] },
        status: { phase: "Terminating" },
      },
      only: ["spec", "status"],
    },
    {
      do: `PUT ${NS}/finalize`,
      body: { metadata: { name: "<ns>" }, spec: { finalizers: ["kubernetes"] } },
      only: ["spec", "status"],
    },
  ],
};
