import { ALL_KINDS, type KindDefinition, type KindObject, WorkerPool } from "@capstan/capi";
import { HostedControlPlane, HostedControlPlaneTemplate } from "@capstan/controlplane-hosted";
import { ByoHost } from "@capstan/host-agent";
import {
  BootstrapKubeconfig,
  ByoCluster,
  ByoClusterTemplate,
  ByoMachine,
  ByoMachineTemplate,
  K8sInstallerConfig,
  K8sInstallerConfigTemplate,
} from "@capstan/infra-byoh";
import { MemoryCluster, MemoryClusterTemplate, MemoryMachine, MemoryMachineTemplate } from "@capstan/infra-memory";
import { MetaCluster } from "@capstan/infra-meta";
import { BareMetalHost, HardwareData, METAL3_KINDS } from "@capstan/infra-metal3";

/** A kind whatever its type. */
export type AnyKind = Pick<
  KindDefinition<KindObject<object>>,
  "group" | "kind" | "plural" | "namespaced" | "version" | "versions" | "crd" | "doc"
>;

/** Every kind this manager serves. */
export const KINDS: readonly AnyKind[] = [
  ...ALL_KINDS,
  HostedControlPlane,
  HostedControlPlaneTemplate,
  MetaCluster,
  ByoHost,
  ByoCluster,
  ByoClusterTemplate,
  ByoMachine,
  ByoMachineTemplate,
  BareMetalHost,
  HardwareData,
  ...METAL3_KINDS,
  K8sInstallerConfig,
  K8sInstallerConfigTemplate,
  BootstrapKubeconfig,
  MemoryCluster,
  MemoryClusterTemplate,
  MemoryMachine,
  MemoryMachineTemplate,
  WorkerPool,
];
