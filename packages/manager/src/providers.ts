import { bootstrapKubeadm } from "@capstan/bootstrap-kubeadm/provider";
import type { AnyKind, Provider } from "@capstan/capi";
import { type HostedDeps, hosted } from "@capstan/controlplane-hosted/provider";
import { controlPlaneKubeadm, type KubeadmControlPlaneDeps } from "@capstan/controlplane-kubeadm/provider";
import { type CoreProviderDeps, core } from "@capstan/core/provider";
import { byoh } from "@capstan/infra-byoh/provider";
import { type KubernetesDeps, kubernetes } from "@capstan/infra-kubernetes/provider";
import { type KvmDeps, kvm } from "@capstan/infra-kvm/provider";
import { type MemoryDeps, memory } from "@capstan/infra-memory/provider";
import { meta } from "@capstan/infra-meta/provider";
import { type Metal3Deps, metal3 } from "@capstan/infra-metal3/provider";

/** Dependencies that this manager passes to the providers it loads. */
export type ManagerDeps = CoreProviderDeps &
  HostedDeps &
  KubeadmControlPlaneDeps &
  KubernetesDeps &
  KvmDeps &
  MemoryDeps &
  Metal3Deps;

/** A provider that this manager can load, built in or from outside this repository. */
export type ManagedProvider = Provider<ManagerDeps>;

/** The built-in providers. Adding one takes its folder and one entry here. */
export const PROVIDERS: readonly ManagedProvider[] = [
  core,
  bootstrapKubeadm,
  hosted,
  controlPlaneKubeadm,
  meta,
  byoh,
  metal3,
  kubernetes,
  kvm,
  memory,
];

/** Returns every kind that these providers serve. */
export function kindsOf(providers: readonly Pick<ManagedProvider, "kinds">[]): AnyKind[] {
  return providers.flatMap(({ kinds }) => kinds);
}
