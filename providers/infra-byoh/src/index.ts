export { BootstrapKubeconfig } from "./kinds/bootstrap-kubeconfig.ts";
export { ByoCluster, ByoClusterTemplate } from "./kinds/byo-cluster.ts";
export { ByoMachine, ByoMachineTemplate } from "./kinds/byo-machine.ts";
export { K8sInstallerConfig, K8sInstallerConfigTemplate } from "./kinds/k8s-installer-config.ts";
export { byoh, byohProvider } from "./provider.ts";
