/** The roles and bindings of a freshly started kube-apiserver, without a controller manager. */
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

function itemsOf({ json }, kind) {
  return json.items.map(({ metadata: { name, labels, annotations }, ...o }) => ({
    apiVersion: json.apiVersion,
    kind,
    metadata: { name, labels, annotations },
    ...(o.roleRef === undefined ? {} : { roleRef: o.roleRef }),
    ...(o.aggregationRule === undefined ? {} : { aggregationRule: o.aggregationRule }),
    ...(kind === "ClusterRole" ? { rules: o.rules } : {}),
    ...(o.subjects === undefined ? {} : { subjects: o.subjects }),
  }));
}

/** Other recordings may have made roles of their own. */
const isDefault = ({ metadata }) => metadata.labels?.["kubernetes.io/bootstrapping"] === "rbac-defaults";

export const defaultRbac = {
  file: "../apiserver/src/auth/testdata/default-rbac.golden.json",
  async record({ call }) {
    const roles = itemsOf(await call("GET", `${RBAC}/clusterroles`), "ClusterRole");
    const bindings = itemsOf(await call("GET", `${RBAC}/clusterrolebindings`), "ClusterRoleBinding");
    return [...roles, ...bindings].filter(isDefault);
  },
};
