import type { Script, Step } from "../harness/script.ts";

const CM = "/api/v1/namespaces/<ns>/configmaps";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const AUTHZ = "/apis/authorization.k8s.io/v1";
const AUTHN = "/apis/authentication.k8s.io/v1";
const role = (name: string, rules: unknown): Step => ({
  do: `POST ${RBAC}/namespaces/<ns>/roles`,
  body: { metadata: { name }, rules },
});
const binding = (name: string, user: string, roleName: string, kind = "Role"): Step => ({
  do: `POST ${RBAC}/namespaces/<ns>/rolebindings`,
  body: {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: roleName },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  },
});
const review = (spec: unknown, as?: string): Step => ({
  do: `POST ${AUTHZ}/selfsubjectaccessreviews`,
  body: { spec },
  ...(as === undefined ? {} : { as }),
});
const cm = (name: string): object => ({ metadata: { name } });

/** Who may do what: credentials, RBAC, impersonation, escalation and reviews. */
export const access: Script = {
  name: "access",
  steps: [
    { do: `GET ${CM}`, credentials: "none" },
    { do: "GET /version", credentials: "none", only: ["major", "minor"] },
    { do: "GET /healthz", credentials: "none" },
    { do: "GET /api", credentials: "none" },
    { do: "GET /nope", credentials: "none" },
    { do: "GET /metrics", credentials: "none" },
    { do: `GET ${CM}`, credentials: { token: "nonsense" } },
    { do: `GET ${CM}`, credentials: { token: "a.b.c" } },
    { do: `GET ${CM}`, credentials: "none", headers: { authorization: "Basic eDp5" } },
    { do: `GET ${CM}`, as: "bob" },
    { do: `GET ${CM}/x`, as: "bob" },
    { do: `POST ${CM}`, as: "bob", body: cm("x") },
    { do: `PUT ${CM}/x`, as: "bob", body: cm("x") },
    { do: `PATCH ${CM}/x`, as: "bob", body: {} },
    { do: `DELETE ${CM}/x`, as: "bob" },
    { do: `DELETE ${CM}`, as: "bob" },
    { do: `GET ${CM}?watch=true`, as: "bob" },
    { do: "GET /api/v1/nodes", as: "bob" },
    { do: "GET /api/v1/configmaps", as: "bob" },
    { do: "GET /api/v1/namespaces/<ns>", as: "bob" },
    { do: "PUT /api/v1/namespaces/<ns>/status", as: "bob", body: {} },
    { do: "GET /apis/nope.example/v1/namespaces/<ns>/things/x", as: "bob" },
    { do: "GET /metrics", as: "bob" },
    { do: "GET /api", as: "bob", mask: [/\d+\.\d+\.\d+\.\d+:\d+/], differs: "server-address" },
    role("reader", [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"], resourceNames: ["only"] }]),
    binding("bob-reads", "bob", "reader"),
    { do: `POST ${CM}`, body: cm("only"), only: ["metadata.name"] },
    { wait: `${CM}/only`, as: "bob" },
    { do: `GET ${CM}/only`, as: "bob", only: ["metadata.name", "message"] },
    { do: `GET ${CM}/other`, as: "bob" },
    { do: `GET ${CM}`, as: "bob" },
    { do: `GET ${CM}?fieldSelector=metadata.name%3Donly`, as: "bob", only: ["items.0.metadata.name"] },
    { do: `GET ${CM}?fieldSelector=metadata.name%3Donly&watch=true&timeoutSeconds=1`, as: "bob", only: ["message"] },
    { do: `GET ${CM}/only`, as: "bob,extra-group", only: ["metadata.name"] },
    {
      do: `GET ${CM}/only`,
      as: "bob",
      headers: { "impersonate-uid": "7", "impersonate-extra-scopes": "a" },
      only: ["metadata.name"],
    },
    { do: `GET ${CM}/only`, headers: { "impersonate-group": "g" }, differs: "bare-impersonation" },
    { do: `GET ${CM}/only`, headers: { "impersonate-uid": "7" }, differs: "bare-impersonation" },
    { do: `POST ${AUTHN}/selfsubjectreviews`, body: {}, as: "bob,g1,g2" },
    {
      do: `POST ${AUTHN}/selfsubjectreviews`,
      body: {},
      as: "bob",
      headers: { "impersonate-uid": "7", "impersonate-extra-scopes": "a" },
    },
    { do: `POST ${AUTHN}/selfsubjectreviews`, body: {}, mask: [/X509SHA256=[0-9a-f]+/] },
    { do: `POST ${AUTHN}/selfsubjectreviews`, body: {}, as: "system:serviceaccount:<ns>:default" },
    { do: `POST ${AUTHN}/selfsubjectreviews`, body: {}, credentials: "none" },
    { do: `GET ${AUTHN}/selfsubjectreviews` },
    review({ resourceAttributes: { verb: "get", resource: "configmaps", namespace: "<ns>", name: "only" } }, "bob"),
    review({ resourceAttributes: { verb: "delete", resource: "configmaps", namespace: "<ns>" } }, "bob"),
    review({ resourceAttributes: { verb: "*", group: "*", resource: "*" } }),
    review({ nonResourceAttributes: { verb: "get", path: "/api" } }, "bob"),
    review({ nonResourceAttributes: { verb: "get", path: "/secret" } }, "bob"),
    review({}),
    review({ resourceAttributes: {}, nonResourceAttributes: {} }),
    {
      do: `POST ${AUTHZ}/subjectaccessreviews`,
      body: { spec: { user: "bob", resourceAttributes: { verb: "list", resource: "secrets", namespace: "<ns>" } } },
    },
    {
      do: `POST ${AUTHZ}/subjectaccessreviews`,
      body: { spec: { groups: ["system:masters"], resourceAttributes: { verb: "list", resource: "secrets" } } },
    },
    {
      do: `POST ${AUTHZ}/subjectaccessreviews`,
      body: { spec: { resourceAttributes: { verb: "list", resource: "secrets" } } },
    },
    {
      do: `POST ${AUTHZ}/subjectaccessreviews`,
      body: {
        metadata: { name: "x", labels: { a: "b" } },
        spec: { user: "bob", resourceAttributes: { verb: "list", resource: "secrets" } },
      },
      differs: "json-order",
    },
    {
      do: `POST ${AUTHZ}/namespaces/<ns>/localsubjectaccessreviews`,
      body: {
        metadata: { namespace: "<ns>" },
        spec: {
          user: "bob",
          resourceAttributes: { verb: "get", resource: "configmaps", namespace: "<ns>", name: "only" },
        },
      },
    },
    {
      do: `POST ${AUTHZ}/namespaces/<ns>/localsubjectaccessreviews`,
      body: {
        spec: { user: "bob", resourceAttributes: { verb: "get", resource: "configmaps", namespace: "default" } },
      },
    },
    {
      do: `POST ${AUTHZ}/selfsubjectrulesreviews`,
      body: { spec: { namespace: "<ns>" } },
      as: "bob",
      only: ["spec", "status.incomplete", "status.resourceRules.0.verbs"],
    },
    { do: `POST ${AUTHZ}/selfsubjectrulesreviews`, body: { spec: {} }, as: "bob" },
    { do: `POST ${AUTHN}/tokenreviews`, body: { spec: { token: "nonsense" } } },
    { do: `POST ${AUTHN}/tokenreviews`, body: { spec: {} } },
    {
      do: "POST /api/v1/namespaces/<ns>/serviceaccounts/default/token",
      id: "token",
      body: { spec: { expirationSeconds: 600 } },
      mask: [/eyJ[\w.-]+/],
      only: ["kind", "spec.expirationSeconds", "spec.audiences"],
    },
    { do: "POST /api/v1/namespaces/<ns>/serviceaccounts/default/token", body: { spec: { expirationSeconds: 5 } } },
    { do: "POST /api/v1/namespaces/<ns>/serviceaccounts/missing/token", body: { spec: {} } },
    {
      do: "POST /api/v1/namespaces/<ns>/serviceaccounts/default/token",
      body: { kind: "DeleteOptions", apiVersion: "v1" },
    },
    { do: "POST /api/v1/namespaces/<ns>/serviceaccounts/default/token", body: "" },
    { do: "POST /api/v1/namespaces/<ns>/pods/none/eviction", body: { kind: "DeleteOptions", apiVersion: "v1" } },
    { do: `GET ${CM}`, credentials: { token: "<token.status.token>" } },
    { do: `POST ${AUTHN}/selfsubjectreviews`, body: {}, credentials: { token: "<token.status.token>" } },
    { do: `POST ${AUTHN}/tokenreviews`, body: { spec: { token: "<token.status.token>" } }, mask: [/eyJ[\w.-]+/] },
    {
      do: `POST ${AUTHN}/tokenreviews`,
      body: { spec: { token: "<token.status.token>", audiences: ["elsewhere"] } },
      mask: [/eyJ[\w.-]+/],
    },
    // Escalation.
    role("maker", [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles", "rolebindings"], verbs: ["*"] }]),
    binding("eve-makes", "eve", "maker"),
    { wait: `${RBAC}/namespaces/<ns>/rolebindings/eve-makes`, as: "eve" },
    {
      do: `POST ${RBAC}/namespaces/<ns>/roles`,
      as: "eve",
      body: {
        metadata: { name: "grab" },
        rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] }],
      },
    },
    {
      do: `POST ${RBAC}/namespaces/<ns>/roles`,
      as: "eve",
      body: {
        metadata: { name: "own" },
        rules: [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["get"] }],
      },
    },
    {
      do: `PATCH ${RBAC}/namespaces/<ns>/roles/own`,
      as: "eve",
      body: { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] },
    },
    {
      do: `POST ${RBAC}/namespaces/<ns>/rolebindings`,
      as: "eve",
      body: {
        metadata: { name: "up" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "eve" }],
      },
    },
    {
      do: `POST ${RBAC}/namespaces/<ns>/rolebindings`,
      as: "eve",
      body: {
        metadata: { name: "up" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "missing" },
        subjects: [],
      },
    },
    { do: `PATCH ${RBAC}/namespaces/<ns>/rolebindings/bob-reads`, body: { roleRef: { name: "maker" } } },
    role("bad", [{ apiGroups: [""], resources: ["x"] }]),
    role("bad", [{ verbs: ["get"], nonResourceURLs: ["/x"] }]),
    role("bad", [{ verbs: ["get"], resources: ["x"] }]),
    binding("bad", "", "reader"),
    binding("bad", "bob", "reader", "Widget"),
    {
      do: `POST ${RBAC}/namespaces/<ns>/rolebindings`,
      body: {
        metadata: { name: "bad" },
        roleRef: { apiGroup: "x", kind: "Role", name: "" },
        subjects: [
          { kind: "ServiceAccount", name: "x" },
          { kind: "Nope", name: "y" },
        ],
      },
    },
    {
      do: `POST ${RBAC}/clusterroles`,
      body: {
        metadata: { name: "c-access-url" },
        rules: [{ verbs: ["get"], nonResourceURLs: ["/logs/*"], resources: ["pods"], apiGroups: [""] }],
      },
    },
    {
      do: `POST ${RBAC}/clusterroles`,
      body: {
        metadata: { name: "c-access-agg" },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "c-access": "yes" } }] },
      },
    },
    {
      do: `POST ${RBAC}/clusterroles`,
      body: {
        metadata: { name: "c-access-part", labels: { "c-access": "yes" } },
        rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
      },
    },
    { wait: `${RBAC}/clusterroles/c-access-agg`, where: ["rules.0.verbs.0", "get"] },
    { do: `GET ${RBAC}/clusterroles/c-access-agg`, only: ["rules", "aggregationRule"] },
    { do: `GET ${RBAC}/clusterroles/view`, only: ["metadata.labels", "metadata.annotations", "aggregationRule"] },
    { do: `GET ${RBAC}/clusterroles/cluster-admin`, only: ["metadata.labels", "rules"] },
    { do: `GET ${RBAC}/clusterroles/system:discovery`, only: ["rules"] },
    { do: `GET ${RBAC}/clusterrolebindings/cluster-admin`, only: ["subjects", "roleRef"] },
  ],
};
