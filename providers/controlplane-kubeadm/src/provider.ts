import {
  type AnyKind,
  KubeadmControlPlane,
  KubeadmControlPlaneTemplate,
  type Provider,
  type ProviderDeps,
} from "@capstan/capi";
import type { EtcdInProcess } from "@capstan/etcd";
import { kubeadmControlPlaneDescription } from "./description.ts";
import { ControlPlaneBackup } from "./kinds/control-plane-backup.ts";
import { ControlPlaneRecovery } from "./kinds/control-plane-recovery.ts";

/** Dependencies of the kubeadm control plane provider. */
export interface KubeadmControlPlaneDeps extends ProviderDeps {
  /** Members of etcd on simulated machines, which run in this process. */
  readonly etcdInProcess?: EtcdInProcess | undefined;
}

/** The kubeadm control plane provider: control planes on Machines of any infrastructure provider. */
export const controlPlaneKubeadm: Provider<KubeadmControlPlaneDeps> = {
  ...kubeadmControlPlaneDescription,
  kinds: [KubeadmControlPlane, KubeadmControlPlaneTemplate, ControlPlaneBackup, ControlPlaneRecovery] as AnyKind[],
  // A recovery deletes all Machines of a control plane: only administrators of the namespace create it.
  access: { inventory: ["controlplanerecoveries"] },
  reasons: async () => (await import("./reasons.ts")).KUBEADM_CONTROL_PLANE_REASONS,
  load: async (deps) => (await import("./running.ts")).loadKubeadmControlPlane(deps),
};
