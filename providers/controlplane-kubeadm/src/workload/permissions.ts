import { clusterBinding, RBAC_GROUP } from "@capstan/controlplane";
import { type Client, createIfAbsent, kindRef } from "@capstan/runtime";
import semver from "semver";

const ClusterRoleBinding = kindRef({
  group: RBAC_GROUP,
  version: "v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
});

/** From this version on kubeadm init of every supported cluster has created them. */
const ALWAYS_THERE = "1.38.0";

/**
 * Creates the bindings that newer versions of kubeadm rely on (since 1.29 for administrators, since 1.37 for kube-apiserver's access to
 * kubelets) and that only kubeadm init and kubeadm upgrade create, neither of which runs in a rollout.
 */
export async function ensurePermissions(client: Client, version: string, signal: AbortSignal): Promise<void> {
  const parsed = semver.parse(version);
  if (parsed === null || semver.gte(`${parsed.major}.${parsed.minor}.${parsed.patch}`, ALWAYS_THERE)) return;
  const wanted = [
    clusterBinding("kubeadm:cluster-admins", "cluster-admin", [
      { kind: "Group", name: "kubeadm:cluster-admins", apiGroup: RBAC_GROUP },
    ]),
    clusterBinding("kubeadm:apiserver-kubelet-client", "system:kubelet-api-admin", [
      { kind: "User", name: "kube-apiserver-kubelet-client", apiGroup: RBAC_GROUP },
    ]),
  ];
  for (const binding of wanted) {
    const found = await client.get(ClusterRoleBinding, { name: binding.metadata.name ?? "" }, signal);
    if (found === undefined) await createIfAbsent(client, binding, {}, signal);
  }
}
