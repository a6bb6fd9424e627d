import type { KindDefinition, KindObject } from "../schema/kind.ts";
import { Cluster } from "./cluster.ts";
import { ClusterClass } from "./cluster-class.ts";
import { ClusterResourceSet } from "./cluster-resource-set.ts";
import { ClusterResourceSetBinding } from "./cluster-resource-set-binding.ts";
import { GlobalInClusterIPPool, InClusterIPPool } from "./in-cluster-ip-pool.ts";
import { GlobalInClusterPrefixPool, InClusterPrefixPool } from "./in-cluster-prefix-pool.ts";
import { IPAddress } from "./ip-address.ts";
import { IPAddressClaim } from "./ip-address-claim.ts";
import { KubeadmConfig } from "./kubeadm-config.ts";
import { KubeadmConfigTemplate } from "./kubeadm-config-template.ts";
import { KubeadmControlPlane } from "./kubeadm-control-plane.ts";
import { KubeadmControlPlaneTemplate } from "./kubeadm-control-plane-template.ts";
import { Machine } from "./machine.ts";
import { MachineDeployment } from "./machine-deployment.ts";
import { MachineDrainRule } from "./machine-drain-rule.ts";
import { MachineHealthCheck } from "./machine-health-check.ts";
import { MachinePool } from "./machine-pool.ts";
import { MachineSet } from "./machine-set.ts";

/** A kind whatever its type: what installing, converting, admitting and documenting need. */
export type AnyKind = Omit<KindDefinition<KindObject<object>>, "admission" | "__type"> & {
  readonly admission: unknown;
};

/** Every kind that upstream Cluster API serves. */
export const ALL_KINDS: readonly AnyKind[] = [
  Cluster,
  ClusterClass,
  Machine,
  MachineSet,
  MachineDeployment,
  MachinePool,
  MachineHealthCheck,
  MachineDrainRule,
  ClusterResourceSet,
  ClusterResourceSetBinding,
  IPAddress,
  IPAddressClaim,
  InClusterIPPool,
  GlobalInClusterIPPool,
  InClusterPrefixPool,
  GlobalInClusterPrefixPool,
  KubeadmConfig,
  KubeadmConfigTemplate,
  KubeadmControlPlane,
  KubeadmControlPlaneTemplate,
];
