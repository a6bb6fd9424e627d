import type { AnyKind } from "@capstan/capi";
import { KubernetesCluster, KubernetesClusterTemplate } from "./kubernetes-cluster.ts";
import { KubernetesMachine, KubernetesMachineTemplate } from "./kubernetes-machine.ts";
import { KubernetesMachinePool } from "./kubernetes-machine-pool.ts";

/** All kinds that the provider serves. */
export const KUBERNETES_KINDS = [
  KubernetesCluster,
  KubernetesClusterTemplate,
  KubernetesMachine,
  KubernetesMachineTemplate,
  KubernetesMachinePool,
] as readonly AnyKind[];
