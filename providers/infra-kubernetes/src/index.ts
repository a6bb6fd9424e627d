export { KubernetesCluster, KubernetesClusterTemplate } from "./kinds/kubernetes-cluster.ts";
export { KubernetesMachine, KubernetesMachineTemplate } from "./kinds/kubernetes-machine.ts";
export { KubernetesMachinePool } from "./kinds/kubernetes-machine-pool.ts";
export { kubernetes } from "./provider.ts";
