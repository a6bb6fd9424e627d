/** Compact notation of a rule: verbs | groups | resources [| names]; non-resource URLs have an empty group part. */
export type RuleLine = readonly [verbs: string, groups: string, resources: string, names?: string];

/** A role's name, the role labels it aggregates to or from, and its rules. */
export interface DefaultRole {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly aggregates?: string;
  readonly rules: readonly RuleLine[];
}

/** Group part of a rule about non-resource URLs. */
export const URLS = "URLS";
/** Group part that means the core group. */
const CORE = "";

const READ = "get,list,watch";
const WRITE = "create,delete,deletecollection,patch,update";
const READ_WRITE = "create,delete,deletecollection,get,list,patch,update,watch";
/** Groups that serve events: the core group and its successor. */
const ALL_EVENTS = ",events.k8s.io";
const EVENTS: RuleLine = ["create,patch,update", ALL_EVENTS, "events"];
const HEALTH = "/healthz /livez /readyz /version /version/";
const TOKEN_REVIEWS: RuleLine = ["create", "authentication.k8s.io", "tokenreviews"];
const ACCESS_REVIEWS: RuleLine = ["create", "authorization.k8s.io", "subjectaccessreviews"];
const CERTIFICATES = "certificates.k8s.io";
const aggregateTo = (role: string): Record<string, string> => ({
  [`rbac.authorization.k8s.io/aggregate-to-${role}`]: "true",
});
const approver = (signer: string): DefaultRole => ({
  name: `system:certificates.k8s.io:${signer}-approver`,
  rules: [["approve", CERTIFICATES, "signers", `kubernetes.io/${signer}`]],
});

/**
 * ClusterRoles as kube-apiserver v1.37 creates them (recorded from it), without those of controllers and programs that never
 * talk to this server (`system:controller:*`, heapster, kube-dns, kube-aggregator and the like).
 */
export const DEFAULT_CLUSTER_ROLES: readonly DefaultRole[] = [
  {
    name: "cluster-admin",
    rules: [
      ["*", "*", "*"],
      ["*", URLS, "*"],
    ],
  },
  { name: "admin", aggregates: "admin", rules: [] },
  { name: "edit", aggregates: "edit", labels: aggregateTo("admin"), rules: [] },
  { name: "view", aggregates: "view", labels: aggregateTo("edit"), rules: [] },
  {
    name: "system:aggregate-to-admin",
    labels: aggregateTo("admin"),
    rules: [
      ["create", "authorization.k8s.io", "localsubjectaccessreviews"],
      [READ_WRITE, "rbac.authorization.k8s.io", "rolebindings roles"],
    ],
  },
  {
    name: "system:aggregate-to-edit",
    labels: aggregateTo("edit"),
    rules: [
      [READ, CORE, "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"],
      ["impersonate", CORE, "serviceaccounts"],
      [WRITE, CORE, "pods pods/attach pods/exec pods/portforward pods/proxy"],
      ["create", CORE, "pods/eviction"],
      [
        WRITE,
        CORE,
        "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy",
      ],
      ["create", CORE, "serviceaccounts/token"],
      [WRITE, ALL_EVENTS, "events"],
      [
        WRITE,
        "apps",
        "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale",
      ],
      [WRITE, "autoscaling", "horizontalpodautoscalers"],
      [WRITE, "batch", "cronjobs jobs"],
      [
        WRITE,
        "extensions",
        "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale",
      ],
      [WRITE, "policy", "poddisruptionbudgets"],
      [WRITE, "networking.k8s.io", "ingresses networkpolicies"],
      [READ_WRITE, "coordination.k8s.io", "leases"],
      [WRITE, "resource.k8s.io", "resourceclaims resourceclaimtemplates"],
    ],
  },
  {
    name: "system:aggregate-to-view",
    labels: aggregateTo("view"),
    rules: [
      [
        READ,
        CORE,
        "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status",
      ],
      [
        READ,
        CORE,
        "bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status",
      ],
      [READ, CORE, "namespaces"],
      [READ, ALL_EVENTS, "events"],
      [READ, "discovery.k8s.io", "endpointslices"],
      [
        READ,
        "apps",
        "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
      ],
      [READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"],
      [READ, "batch", "cronjobs cronjobs/status jobs jobs/status"],
      [
        READ,
        "extensions",
        "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale",
      ],
      [READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status"],
      [READ, "networking.k8s.io", "ingresses ingresses/status networkpolicies"],
      [READ, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates"],
    ],
  },
  { name: "system:auth-delegator", rules: [TOKEN_REVIEWS, ACCESS_REVIEWS] },
  {
    name: "system:basic-user",
    rules: [
      ["create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"],
      ["create", "authentication.k8s.io", "selfsubjectreviews"],
    ],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    rules: [["create", CERTIFICATES, "certificatesigningrequests/nodeclient"]],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
    rules: [["create", CERTIFICATES, "certificatesigningrequests/selfnodeclient"]],
  },
  approver("kube-apiserver-client"),
  approver("kube-apiserver-client-kubelet"),
  approver("kubelet-serving"),
  approver("legacy-unknown"),
  {
    name: "system:discovery",
    rules: [["get", URLS, "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"]],
  },
  {
    name: "system:kubelet-api-admin",
    rules: [
      [READ, CORE, "nodes"],
      ["proxy", CORE, "nodes"],
      ["*", CORE, "nodes/log nodes/metrics nodes/proxy nodes/stats"],
      ["*", CORE, "nodes/configz nodes/healthz nodes/pods"],
    ],
  },
  {
    name: "system:monitoring",
    rules: [
      ["get", URLS, "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz"],
      ["get", CORE, "nodes/metrics"],
    ],
  },
  {
    name: "system:node",
    rules: [
      TOKEN_REVIEWS,
      ["create", "authorization.k8s.io", "localsubjectaccessreviews subjectaccessreviews"],
      [READ, CORE, "services"],
      ["create,get,list,watch", CORE, "nodes"],
      ["patch,update", CORE, "nodes/status"],
      ["patch,update", CORE, "nodes"],
      EVENTS,
      [READ, CORE, "pods"],
      ["create,delete", CORE, "pods"],
      ["patch,update", CORE, "pods/status"],
      ["create", CORE, "pods/eviction"],
      [READ, CORE, "configmaps secrets"],
      ["get", CORE, "persistentvolumeclaims persistentvolumes"],
      ["get", CORE, "endpoints"],
      ["create,get,list,watch", CERTIFICATES, "certificatesigningrequests"],
      ["create,delete,get,patch,update", "coordination.k8s.io", "leases"],
      ["get", "storage.k8s.io", "volumeattachments"],
      ["create", CORE, "serviceaccounts/token"],
      ["get,patch,update", CORE, "persistentvolumeclaims/status"],
      [READ, "storage.k8s.io", "csidrivers"],
      ["create,delete,get,patch,update", "storage.k8s.io", "csinodes"],
      [READ, "node.k8s.io", "runtimeclasses"],
      ["get", "resource.k8s.io", "resourceclaims"],
      ["deletecollection", "resource.k8s.io", "resourceslices"],
      [READ, CERTIFICATES, "clustertrustbundles"],
      ["get", CORE, "serviceaccounts"],
      ["create,get,list,watch", CERTIFICATES, "podcertificaterequests"],
    ],
  },
  {
    name: "system:node-bootstrapper",
    rules: [["create,get,list,watch", CERTIFICATES, "certificatesigningrequests"]],
  },
  {
    name: "system:node-proxier",
    rules: [
      ["list,watch", CORE, "endpoints services"],
      [READ, CORE, "nodes"],
      EVENTS,
      ["list,watch", "networking.k8s.io", "servicecidrs"],
      ["list,watch", "discovery.k8s.io", "endpointslices"],
    ],
  },
  { name: "system:public-info-viewer", rules: [["get", URLS, HEALTH]] },
  {
    name: "system:service-account-issuer-discovery",
    rules: [
      [
        "get",
        URLS,
        "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/",
      ],
    ],
  },
];

/** ClusterRoleBindings as kube-apiserver creates them: role of the same name to users or groups. */
export const DEFAULT_BINDINGS: Readonly<Record<string, readonly (readonly ["User" | "Group", string])[]>> = {
  "cluster-admin": [["Group", "system:masters"]],
  "system:basic-user": [["Group", "system:authenticated"]],
  "system:discovery": [["Group", "system:authenticated"]],
  "system:monitoring": [["Group", "system:monitoring"]],
  "system:node": [],
  "system:node-proxier": [["User", "system:kube-proxy"]],
  "system:public-info-viewer": [
    ["Group", "system:authenticated"],
    ["Group", "system:unauthenticated"],
  ],
  "system:service-account-issuer-discovery": [["Group", "system:serviceaccounts"]],
};
