import type { AnyKind } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { BootstrapKubeconfig } from "./bootstrap-kubeconfig.ts";
import { ByoCluster, ByoClusterTemplate } from "./byo-cluster.ts";
import { ByoMachine, ByoMachineTemplate } from "./byo-machine.ts";
import { K8sInstallerConfig, K8sInstallerConfigTemplate } from "./k8s-installer-config.ts";

/** All kinds that the provider serves. */
export const BYOH_KINDS = [
  ByoHost,
  ByoCluster,
  ByoClusterTemplate,
  ByoMachine,
  ByoMachineTemplate,
  K8sInstallerConfig,
  K8sInstallerConfigTemplate,
  BootstrapKubeconfig,
] as readonly AnyKind[];
