export { ByoCluster, ByoClusterTemplate } from "./kinds/byo-cluster.ts";
export { ByoMachine, ByoMachineTemplate } from "./kinds/byo-machine.ts";
export { byohProvider } from "./provider.ts";
