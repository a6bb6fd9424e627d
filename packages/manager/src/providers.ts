import { bootstrapKubeadm } from "@capstan/bootstrap-kubeadm";
import type { AnyKind, Provider } from "@capstan/capi";
import { type HostedDeps, hosted } from "@capstan/controlplane-hosted";
import { type CoreProviderDeps, core } from "@capstan/core";
import { byoh } from "@capstan/infra-byoh";
import { memory } from "@capstan/infra-memory";
import { meta } from "@capstan/infra-meta";
import { type Metal3Deps, metal3 } from "@capstan/infra-metal3";

/** What this manager gives to the providers it loads. */
export type ManagerDeps = CoreProviderDeps & HostedDeps & Metal3Deps;

/** A provider that this manager can load: one of the list below, or one from outside the tree. */
export type ManagedProvider = Provider<ManagerDeps>;

/** The providers of this manager. Adding one means its folder and one line here. */
export const PROVIDERS: readonly ManagedProvider[] = [core, bootstrapKubeadm, hosted, meta, byoh, metal3, memory];

/** Every kind that these providers serve. */
export function kindsOf(providers: readonly Pick<ManagedProvider, "kinds">[]): AnyKind[] {
  return providers.flatMap(({ kinds }) => kinds);
}
