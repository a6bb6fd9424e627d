export { BootstrapKubeconfig } from "./kinds/bootstrap-kubeconfig.ts";
export { ByoCluster, ByoClusterTemplate } from "./kinds/byo-cluster.ts";
export { ByoMachine, ByoMachineTemplate } from "./kinds/byo-machine.ts";
export { K8sInstallerConfig, K8sInstallerConfigTemplate } from "./kinds/k8s-installer-config.ts";
export { byoh } from "./provider.ts";
export { byohProvider } from "./running.ts";
export { DEAD_AGENT, SIMULATED_AGENT_ANNOTATION, SIMULATED_KUBELET_ANNOTATION } from "./simulation/annotations.ts";
