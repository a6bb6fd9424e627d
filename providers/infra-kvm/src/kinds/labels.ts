/** Labels of the CRDs, by which clusterctl and others find the kinds of a provider. */
export const KVM_LABELS = { "cluster.x-k8s.io/provider": "infrastructure-kvm" };
