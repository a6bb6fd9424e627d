import type { Unstructured } from "@capstan/apimachinery";
import { clusterBinding, RBAC_GROUP, type Subject } from "../kube-system.ts";

const RBAC_API = `${RBAC_GROUP}/v1`;
/** Group of nodes that authenticate with a bootstrap token and have no certificate yet. */
export const TOKEN_GROUP = "system:bootstrappers:kubeadm:default-node-token";

const group = (name: string): Subject => ({ kind: "Group", name, apiGroup: RBAC_GROUP });
const user = (name: string): Subject => ({ kind: "User", name, apiGroup: RBAC_GROUP });
const account = (name: string): Subject => ({ kind: "ServiceAccount", name, namespace: "kube-system" });

/** A Role that may read one ConfigMap, bound to subjects. */
function readsConfigMap(name: string, namespace: string, configMap: string, subjects: Subject[]): Unstructured[] {
  return [
    {
      apiVersion: RBAC_API,
      kind: "Role",
      metadata: { name, namespace },
      rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [configMap], verbs: ["get"] }],
    },
    {
      apiVersion: RBAC_API,
      kind: "RoleBinding",
      metadata: { name, namespace },
      roleRef: { apiGroup: RBAC_GROUP, kind: "Role", name },
      subjects,
    },
  ];
}

const CSR = "system:certificates.k8s.io:certificatesigningrequests";

/** Returns the roles and bindings that `kubeadm join` of a worker, its kubelet and kube-proxy need. */
export function joinRbac(): Unstructured[] {
  return [
    // Without this one `kubeadm join` cannot even discover the cluster: it reads cluster-info anonymously.
    ...readsConfigMap("kubeadm:bootstrap-signer-clusterinfo", "kube-public", "cluster-info", [
      user("system:anonymous"),
    ]),
    ...readsConfigMap("kubeadm:nodes-kubeadm-config", "kube-system", "kubeadm-config", [
      group(TOKEN_GROUP),
      group("system:nodes"),
    ]),
    ...readsConfigMap("kubeadm:kubelet-config", "kube-system", "kubelet-config", [
      group("system:nodes"),
      group(TOKEN_GROUP),
    ]),
    ...readsConfigMap("kube-proxy", "kube-system", "kube-proxy", [group(TOKEN_GROUP)]),
    {
      apiVersion: RBAC_API,
      kind: "ClusterRole",
      metadata: { name: "kubeadm:get-nodes" },
      rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }],
    },
    clusterBinding("kubeadm:get-nodes", "kubeadm:get-nodes", [group(TOKEN_GROUP)]),
    clusterBinding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", [group(TOKEN_GROUP)]),
    clusterBinding("kubeadm:node-autoapprove-bootstrap", `${CSR}:nodeclient`, [group(TOKEN_GROUP)]),
    clusterBinding("kubeadm:node-autoapprove-certificate-rotation", `${CSR}:selfnodeclient`, [group("system:nodes")]),
    clusterBinding("kubeadm:cluster-admins", "cluster-admin", [group("kubeadm:cluster-admins")]),
    clusterBinding("kubeadm:apiserver-kubelet-client", "system:kubelet-api-admin", [
      user("kube-apiserver-kubelet-client"),
    ]),
    clusterBinding("kubeadm:node-proxier", "system:node-proxier", [account("kube-proxy")]),
  ];
}
