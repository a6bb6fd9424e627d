import { controllerOf, formatTime, isTrue } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, conditionsOf, isControlPlaneMachine, type Machine, MachineSet } from "@capstan/capi";
import type { HostNode, Pod } from "@capstan/workloads";
import type { Place } from "../backend.ts";
import type { Scope } from "./ensure.ts";

/** Annotation of a Machine that its MachineSet replaces: name and UID of the MachineSet, and since when. */
const AWAITS = "kubernetes.infrastructure.cluster.x-k8s.io/awaits-replacement";
/** Annotation of a Machine with the name of the one that it replaces. */
const REPLACES = "kubernetes.infrastructure.cluster.x-k8s.io/replaces";
/** Outer nodes and other Machines announce nothing to a machine. */
const WATCH_MS = 15_000;
const WAIT_MS = 5_000;

/** What a drain of the outer node means for a machine. */
export interface OuterDrain {
  /** What to report in addition; undefined when nothing happens. */
  readonly message: string | undefined;
  readonly recheckAfterMs: number;
}

const NOTHING: OuterDrain = { message: undefined, recheckAfterMs: Number.POSITIVE_INFINITY };

/**
 * Lets a drain of an outer node replace the worker machines on it instead of killing them. The budget of the workers blocks their eviction. A
 * MachineSet counts a Machine until it is deleted; so a machine on a cordoned outer node is taken out of its set, which makes another one,
 * and is deleted, which drains its Node, when that is ready.
 */
export async function followOuterDrain(scope: Scope, place: Place, pod: Pod): Promise<OuterDrain> {
  const { machine, infraCluster } = scope;
  if (isControlPlaneMachine(machine) || machine.metadata.deletionTimestamp !== undefined) return NOTHING;
  const isOff = infraCluster?.spec?.disruptionProtection === "None";
  const awaited = awaitedBy(machine);
  if (awaited !== undefined) return await awaitReplacement(scope, awaited, isOff);
  if (isOff) return NOTHING;
  const node = (await scope.backend.nodes(place)).find(({ metadata }) => metadata.name === pod.spec?.nodeName);
  const isDrained = node !== undefined && isLeaving(node);
  if (!isDrained && !isEvicted(pod)) return { message: undefined, recheckAfterMs: WATCH_MS };
  const cause = isDrained ? `Outer node ${pod.spec?.nodeName} is being drained` : "The pod is being evicted";
  if (await release(scope)) {
    const message = `${cause}: the Machine is replaced`;
    scope.recorder.event(scope.object, "Normal", "OuterNodeDrained", "Replace", message);
    return { message, recheckAfterMs: WAIT_MS };
  }
  return {
    message: `${cause}, and nothing would replace this Machine: delete it to let the drain continue`,
    recheckAfterMs: WATCH_MS,
  };
}

/** Continues a replacement that began while the machine's pod ran. What is not awaited any more is deleted, however its pod fares. */
export async function continueReplacement(scope: Scope): Promise<void> {
  const awaited = awaitedBy(scope.machine);
  if (awaited === undefined || scope.machine.metadata.deletionTimestamp !== undefined) return;
  await awaitReplacement(scope, awaited, scope.infraCluster?.spec?.disruptionProtection === "None");
}

/** Returns whether a Machine was taken out of its MachineSet: a MachineHealthCheck may no longer select it. */
export function awaitsReplacement(machine: Machine): boolean {
  return awaitedBy(machine) !== undefined;
}

/** Taints of cluster-autoscaler and Karpenter (of version 1 and before), which evict without cordoning. */
const LEAVING = new Set(["ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption"]);

/** Cordoned by a person or a drain, or to be removed by an autoscaler. */
function isLeaving({ spec }: HostNode): boolean {
  return spec?.unschedulable === true || (spec?.taints ?? []).some(({ key }) => LEAVING.has(key));
}

/**
 * An eviction that the budget refuses is visible to its client only. One that something else stopped after the budget allowed it leaves this
 * condition on the pod.
 */
function isEvicted({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    (status?.conditions ?? []).some(
      ({ type, status: value, reason }) =>
        type === "DisruptionTarget" && value === "True" && reason === "EvictionByEvictionAPI",
    )
  );
}

interface Awaited {
  readonly set: string;
  readonly uid: string;
  readonly since: string;
}

function awaitedBy({ metadata }: Machine): Awaited | undefined {
  const [set, uid, since] = metadata.annotations?.[AWAITS]?.split(" ") ?? [];
  return set === undefined || uid === undefined || since === undefined ? undefined : { set, uid, since };
}

/** Takes a Machine out of its MachineSet, in one write; false if it is in none, or cannot be taken out. */
async function release({ machine, backend, clock, signal }: Scope): Promise<boolean> {
  const owner = controllerOf(machine);
  if (owner?.kind !== MachineSet.kind) return false;
  const { namespace, resourceVersion } = machine.metadata;
  const set = await backend.client.get<MachineSet>(MachineSet, { namespace, name: owner.name }, signal);
  if (set === undefined || set.metadata.uid !== owner.uid) return false;
  // Without one of these labels the set would adopt it again.
  const selecting = Object.keys(set.spec.selector.matchLabels ?? {}).filter((name) => name !== CLUSTER_NAME_LABEL);
  if (selecting.length === 0) return false;
  const metadata = {
    resourceVersion,
    annotations: { [AWAITS]: `${owner.name} ${owner.uid} ${formatTime(clock.now())}` },
    labels: Object.fromEntries(selecting.map((name) => [name, null])),
    ownerReferences: (machine.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.uid),
  };
  await backend.client.patch(machine, { metadata }, {}, signal);
  return true;
}

async function awaitReplacement(scope: Scope, awaited: Awaited, isOff: boolean): Promise<OuterDrain> {
  const { machine, backend, signal, cluster } = scope;
  const isOver =
    isOff ||
    cluster.metadata.deletionTimestamp !== undefined ||
    (await isReplaced(scope, awaited)) ||
    !(await isWanted(scope, awaited));
  if (!isOver)
    return {
      message:
        "The Machine is drained once its replacement is ready; if none can be, add outer nodes, or set disruptionProtection of the KubernetesCluster to None",
      recheckAfterMs: WAIT_MS,
    };
  await backend.client.delete(machine, {}, signal);
  return NOTHING;
}

/** A MachineSet that has all it wants, or that is deleted, makes no replacement. */
async function isWanted({ machine, backend, signal }: Scope, { set: name, uid }: Awaited): Promise<boolean> {
  const key = { namespace: machine.metadata.namespace, name };
  const set = await backend.client.get<MachineSet>(MachineSet, key, signal);
  if (set === undefined || set.metadata.uid !== uid || set.metadata.deletionTimestamp !== undefined) return false;
  const ready = backend
    .machinesOwnedBy(uid)
    .filter((each) => each.metadata.deletionTimestamp === undefined && isTrue(conditionsOf(each), "NodeReady"));
  return ready.length < (set.spec.replicas ?? 1);
}

/** Each replacement is for one machine, and says for which: several may wait, and be gone at different times. */
async function isReplaced({ machine, backend, signal }: Scope, { uid, since }: Awaited): Promise<boolean> {
  const { name = "" } = machine.metadata;
  const siblings = backend.machinesOwnedBy(uid);
  if (siblings.some(({ metadata }) => metadata.annotations?.[REPLACES] === name)) return true;
  const fresh = siblings.find(
    ({ metadata, ...rest }) =>
      metadata.deletionTimestamp === undefined &&
      (metadata.creationTimestamp ?? "") >= since &&
      metadata.annotations?.[REPLACES] === undefined &&
      isTrue(conditionsOf(rest), "NodeReady"),
  );
  if (fresh === undefined) return false;
  const { resourceVersion } = fresh.metadata;
  await backend.client.patch(fresh, { metadata: { resourceVersion, annotations: { [REPLACES]: name } } }, {}, signal);
  return true;
}
