import { controllerOf } from "@capstan/apimachinery";
import type { Machine, Node, NodeTaint } from "@capstan/capi";
import type { NodeKeys } from "./node-keys.ts";

const PREFIX = "cluster.x-k8s.io";
const LABELS_FROM_MACHINE = `${PREFIX}/labels-from-machine`;
const ANNOTATIONS_FROM_MACHINE = `${PREFIX}/annotations-from-machine`;
const TAINTS_FROM_MACHINE = `${PREFIX}/taints-from-machine`;
const INTERRUPTIBLE_LABEL = `${PREFIX}/interruptible`;
/** Keeps pods away until the Node has its labels. */
const UNINITIALIZED_TAINT = "node.cluster.x-k8s.io/uninitialized";
/** Makes pods prefer Nodes that will not be replaced next. */
const OUTDATED_TAINT = "node.cluster.x-k8s.io/outdated-revision";

/** Everything that the desired state of a Node depends on. */
export interface DesiredNodeInput {
  machine: Machine;
  interruptible: boolean;
  /** The Machine's MachineSet is not the current revision of its MachineDeployment. */
  outdated: boolean;
  keys: NodeKeys;
}

/** Returns the Node with the labels, annotations and taints of its Machine; those of other managers are kept. */
export function desiredNode(node: Node, input: DesiredNodeInput): Node {
  const { machine, keys } = input;
  const annotations = { ...node.metadata.annotations };
  const labels = synced(
    node.metadata.labels,
    {
      ...filterKeys(machine.metadata.labels, keys.label),
      ...(input.interruptible ? { [INTERRUPTIBLE_LABEL]: "" } : {}),
    },
    annotations,
    LABELS_FROM_MACHINE,
  );
  const ownAnnotations = filterKeys(machine.metadata.annotations, keys.annotation);
  const nextAnnotations = synced(annotations, ownAnnotations, annotations, ANNOTATIONS_FROM_MACHINE);
  copyTracking(annotations, nextAnnotations);
  const owner = controllerOf(machine);
  nextAnnotations[`${PREFIX}/cluster-name`] = machine.spec.clusterName;
  nextAnnotations[`${PREFIX}/cluster-namespace`] = machine.metadata.namespace ?? "";
  nextAnnotations[`${PREFIX}/machine`] = machine.metadata.name ?? "";
  setOrDelete(nextAnnotations, `${PREFIX}/owner-kind`, owner?.kind);
  setOrDelete(nextAnnotations, `${PREFIX}/owner-name`, owner?.name);
  const taints = desiredTaints(node, input, nextAnnotations);
  return {
    ...node,
    metadata: { ...node.metadata, labels, annotations: nextAnnotations },
    spec: withTaints(node.spec, taints),
  };
}

function withTaints(spec: Node["spec"], taints: NodeTaint[]): NonNullable<Node["spec"]> {
  const { taints: _, ...rest } = spec ?? {};
  return taints.length === 0 ? rest : { ...rest, taints };
}

function filterKeys(map: Record<string, string> | undefined, keep: (key: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => keep(key)));
}

/** Sets what the Machine has and removes what it had before; which keys those are is kept in an annotation of the Node. */
function synced(
  current: Record<string, string> | undefined,
  wanted: Record<string, string>,
  annotations: Record<string, string>,
  tracking: string,
): Record<string, string> {
  const next = { ...current };
  for (const key of list(annotations[tracking])) if (!(key in wanted)) delete next[key];
  Object.assign(next, wanted);
  track(annotations, tracking, Object.keys(wanted));
  return next;
}

function track(annotations: Record<string, string>, tracking: string, keys: string[]): void {
  if (keys.length > 0 || annotations[tracking] !== undefined) annotations[tracking] = keys.sort().join(",");
}

function copyTracking(from: Record<string, string>, to: Record<string, string>): void {
  for (const key of [LABELS_FROM_MACHINE, ANNOTATIONS_FROM_MACHINE]) {
    const value = from[key];
    if (value !== undefined) to[key] = value;
  }
}

function setOrDelete(map: Record<string, string>, key: string, value: string | undefined): void {
  if (value === undefined) delete map[key];
  else map[key] = value;
}

function list(text: string | undefined): string[] {
  return text === undefined || text === "" ? [] : text.split(",");
}

const taintId = (taint: { key: string; effect: string }): string => `${taint.key}:${taint.effect}`;

function desiredTaints(node: Node, input: DesiredNodeInput, annotations: Record<string, string>): NodeTaint[] {
  const specified = input.machine.spec.taints ?? [];
  const before = annotations[TAINTS_FROM_MACHINE];
  const always = specified.filter((taint) => taint.propagation === "Always");
  const had = new Set(list(before));
  // Taints for the beginning only are set when the Node is first seen: nothing has been tracked on it yet.
  const wanted = before === undefined ? specified : always;
  // A taint that becomes OnInitialization stays; it is no longer managed.
  const keptIds = new Set(specified.map(taintId));
  const taints = (node.spec?.taints ?? []).filter(
    (taint) => taint.key !== UNINITIALIZED_TAINT && (!had.has(taintId(taint)) || keptIds.has(taintId(taint))),
  );
  for (const { key, value, effect } of wanted) {
    const taint: NodeTaint = { key, effect: effect as NodeTaint["effect"], value };
    const index = taints.findIndex((present) => taintId(present) === taintId(taint));
    if (index < 0) taints.push(taint);
    else if ((taints[index]?.value ?? "") !== (value ?? "")) taints[index] = taint;
  }
  // Without taints too: those that come later find a Node that has begun long ago.
  annotations[TAINTS_FROM_MACHINE] = always.map(taintId).sort().join(",");
  return withOutdated(taints, input.outdated);
}

function withOutdated(taints: NodeTaint[], outdated: boolean): NodeTaint[] {
  const present = taints.some((taint) => taint.key === OUTDATED_TAINT);
  if (outdated === present) return taints;
  if (!outdated) return taints.filter((taint) => taint.key !== OUTDATED_TAINT);
  return [...taints, { key: OUTDATED_TAINT, effect: "PreferNoSchedule" }];
}
