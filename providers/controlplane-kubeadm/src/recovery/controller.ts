import { Cluster, KubeadmControlPlane, Machine, RECOVERY_ANNOTATION } from "@capstan/capi";
import { type Cache, type Controller, controller, type Request, requestFor } from "@capstan/runtime";
import { ControlPlaneBackup } from "../kinds/control-plane-backup.ts";
import { ControlPlaneRecovery } from "../kinds/control-plane-recovery.ts";
import { type RecoveryMemory, reconcileControlPlaneRecovery } from "./control-plane-recovery.ts";
import type { RecoveryDeps } from "./kubeadm-target.ts";

/** Returns the controller of ControlPlaneRecoveries. */
export function controlPlaneRecoveryController(deps: RecoveryDeps): Controller {
  const memory: RecoveryMemory = {};
  return controller("control-plane-recovery")
    .for(ControlPlaneRecovery)
    .watches(Machine, ({ metadata, spec }, cache) => recoveriesOf(cache, metadata.namespace ?? "", spec.clusterName))
    .watches(KubeadmControlPlane, ({ metadata }, cache) => {
      const cluster = metadata.ownerReferences?.find(({ kind }) => kind === "Cluster")?.name;
      const { [RECOVERY_ANNOTATION]: name } = metadata.annotations ?? {};
      const holder = name === undefined ? undefined : { namespace: metadata.namespace ?? "", name };
      return [
        ...(cluster === undefined ? [] : recoveriesOf(cache, metadata.namespace ?? "", cluster)),
        // Deleted while no manager ran: nothing but the control plane names it any more.
        ...(holder === undefined || cache.get(ControlPlaneRecovery, holder) !== undefined ? [] : [holder]),
      ];
    })
    .watches(Cluster, ({ metadata }, cache) => recoveriesOf(cache, metadata.namespace ?? "", metadata.name ?? ""))
    .watches(ControlPlaneBackup, ({ metadata, spec }, cache) =>
      recoveriesOf(cache, metadata.namespace ?? "", spec.clusterName),
    )
    .concurrency(4)
    .rank(5)
    .reconcile((request, context) => reconcileControlPlaneRecovery(request, context, deps, memory));
}

/** Those that are under way: the others change nothing, whatever happens to Machines. */
function recoveriesOf(cache: Cache, namespace: string, clusterName: string): Request[] {
  if (!cache.synced(ControlPlaneRecovery)) return [];
  return cache
    .list(ControlPlaneRecovery, { namespace })
    .filter(
      ({ spec, status }) =>
        spec.clusterName === clusterName && /^(Removing|Starting|Scaling)$/.test(status?.phase ?? ""),
    )
    .flatMap(requestFor);
}
