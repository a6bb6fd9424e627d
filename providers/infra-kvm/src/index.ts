export { KVMCluster, KVMClusterTemplate } from "./kinds/kvm-cluster.ts";
export { KVMMachine, KVMMachineTemplate } from "./kinds/kvm-machine.ts";
export { kvm } from "./provider.ts";
