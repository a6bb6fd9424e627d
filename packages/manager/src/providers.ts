import { bootstrapKubeadm } from "@capstan/bootstrap-kubeadm";
import type { AnyKind, Provider } from "@capstan/capi";
import { type HostedDeps, hosted } from "@capstan/controlplane-hosted";
import { type CoreProviderDeps, core } from "@capstan/core";
import { byoh } from "@capstan/infra-byoh";
import { memory } from "@capstan/infra-memory";
import { meta } from "@capstan/infra-meta";
import { type Metal3Deps, metal3 } from "@capstan/infra-metal3";

/** Dependencies that this manager passes to the providers it loads. */
export type ManagerDeps = CoreProviderDeps & HostedDeps & Metal3Deps;

/** A provider that this manager can load, built in or from outside this repository. */
export type ManagedProvider = Provider<ManagerDeps>;

/** The built-in providers. Adding one takes its folder and one entry here. */
export const PROVIDERS: readonly ManagedProvider[] = [core, bootstrapKubeadm, hosted, meta, byoh, metal3, memory];

/** Returns every kind that these providers serve. */
export function kindsOf(providers: readonly Pick<ManagedProvider, "kinds">[]): AnyKind[] {
  return providers.flatMap(({ kinds }) => kinds);
}
