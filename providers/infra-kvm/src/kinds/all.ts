import type { AnyKind } from "@capstan/capi";
import { KVMCluster, KVMClusterTemplate } from "./kvm-cluster.ts";
import { KVMMachine, KVMMachineTemplate } from "./kvm-machine.ts";

/** All kinds that the provider serves. */
export const KVM_KINDS = [KVMCluster, KVMClusterTemplate, KVMMachine, KVMMachineTemplate] as readonly AnyKind[];
