import { controllerOf } from "@capstan/apimachinery";
import {
  type Cluster,
  type ClusterKey,
  CONTROL_PLANE_LABEL,
  type ConditionInput,
  type ContractObject,
  KubeadmConfig,
  KubeadmControlPlane,
  type Machine,
  type MachinePlan,
  ownerCluster,
  pausedCondition,
  type TemplatePart,
  templatePart,
} from "@capstan/capi";
import { type Cache, type ReconcileContext, type Request, requestFor } from "@capstan/runtime";
import type { JoinMode } from "./desired-config.ts";
import { isControlledBy, machinesOfCluster } from "./indexes.ts";
import { recordsInitialization } from "./initialized.ts";
import { isEtcdManaged, machinePlan } from "./machine-plan.ts";
import { effectiveControlPlane } from "./preconditions/effective.ts";
import type { PlaneTarget, WorkloadSide } from "./workload/workload-side.ts";

/** Everything that one reconcile of a KubeadmControlPlane starts from. */
export interface PlaneScope {
  readonly object: KubeadmControlPlane;
  /** The Cluster that owns it; undefined until there is one. */
  readonly cluster: Cluster | undefined;
  readonly paused: ConditionInput;
  readonly deleting: boolean;
  /** Whether `kubeadm init` has finished on the first Machine; it stays true. */
  readonly initialized: boolean;
  readonly etcdManaged: boolean;
  readonly context: ReconcileContext;
  readonly side: WorkloadSide;
}

/** The scope of a control plane that has a Cluster. */
export interface OwnedScope extends PlaneScope {
  readonly cluster: Cluster;
  readonly key: ClusterKey;
  /** The control plane as its Machines are created and compared. */
  readonly desired: KubeadmControlPlane;
  readonly infrastructure: TemplatePart;
  readonly plan: MachinePlan;
}

/** The control plane Machines of a Cluster by their owner. */
export interface PlaneMachines {
  readonly owned: Machine[];
  /** Without a controller: to be adopted. */
  readonly standalone: Machine[];
  /** Of another controller. */
  readonly foreign: Machine[];
}

/** Reads what a KubeadmControlPlane belongs to. */
export function readScope(object: KubeadmControlPlane, context: ReconcileContext, side: WorkloadSide): PlaneScope {
  const cluster = ownerCluster(context.cache, object);
  return {
    object,
    cluster,
    paused: pausedCondition(object, cluster),
    deleting: object.metadata.deletionTimestamp !== undefined,
    initialized: recordsInitialization(object),
    etcdManaged: isEtcdManaged(object.spec),
    context,
    side,
  };
}

/** Reads the template of the infrastructure machines and plans what Machines are to be. */
export async function readOwned(scope: PlaneScope, cluster: Cluster): Promise<OwnedScope> {
  const { object, context, initialized } = scope;
  const namespace = object.metadata.namespace ?? "";
  const key = { namespace, name: cluster.metadata.name ?? "" };
  const { infrastructureRef } = object.spec.machineTemplate.spec;
  const infrastructure = await templatePart(context, namespace, infrastructureRef, planesThatRefer);
  const desired = effectiveControlPlane(object, cluster);
  const owned = machinesOfCluster(context.cache, key).filter((machine) => isControlledBy(machine, object));
  // Before the control plane is initialized there is one Machine at a time, which starts it. A move drops the status.
  const mode = initialized || owned.length > 1 ? "join" : "init";
  const plan = machinePlan({ object: desired, clusterName: key.name, infrastructure, mode, cache: context.cache });
  return { ...scope, cluster, key, desired, infrastructure, plan };
}

/** Reads the control plane Machines of the Cluster from the cache, which knows this controller's own writes. */
export function readMachines({ object, context, key }: OwnedScope): PlaneMachines {
  const all = machinesOfCluster(context.cache, key).filter(
    ({ metadata }) => metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined,
  );
  const owned = all.filter((machine) => isControlledBy(machine, object));
  return {
    owned: owned.sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1)),
    standalone: all.filter((machine) => controllerOf(machine) === undefined),
    foreign: all.filter((machine) => controllerOf(machine) !== undefined && !isControlledBy(machine, object)),
  };
}

/** Returns the plan of a new Machine, which becomes part of the control plane in this way. */
export function planOfNew({ desired, key, infrastructure, context }: OwnedScope, mode: JoinMode): MachinePlan {
  return machinePlan({ object: desired, clusterName: key.name, infrastructure, mode, cache: context.cache });
}

/** Returns what the workload side acts on. */
export function targetOf(scope: OwnedScope, machines: readonly Machine[]): PlaneTarget {
  const { key, desired, etcdManaged } = scope;
  const kubeadmConfigs = new Map(
    machines.flatMap((machine) => {
      const config = configOf(scope, machine);
      return config === undefined ? [] : [[machine.metadata.name ?? "", config] as const];
    }),
  );
  return { cluster: key, controlPlane: desired, machines, kubeadmConfigs, etcdManaged };
}

/** Returns the KubeadmConfig that a Machine refers to; undefined if there is none, or it refers to something else. */
export function configOf({ context, key }: OwnedScope, { spec }: Machine): KubeadmConfig | undefined {
  const { configRef } = spec.bootstrap;
  return configRef?.kind === KubeadmConfig.kind
    ? context.cache.get(KubeadmConfig, { namespace: key.namespace, name: configRef.name })
    : undefined;
}

/** A template that appears or disappears concerns the control planes that refer to it. */
function planesThatRefer({ kind, metadata }: ContractObject, cache: Cache): Request[] {
  return cache
    .list(KubeadmControlPlane, { namespace: metadata.namespace ?? "" })
    .filter(({ spec }) => {
      const { infrastructureRef } = spec.machineTemplate.spec;
      return infrastructureRef.kind === kind && infrastructureRef.name === metadata.name;
    })
    .flatMap(requestFor);
}
