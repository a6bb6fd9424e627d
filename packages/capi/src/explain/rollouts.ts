import { type Condition, formatTime } from "@capstan/apimachinery";
import { activityOf, type Progress } from "./activity.ts";
import type { ObjectNode } from "./object-node.ts";
import { lastChangeMs } from "./patience.ts";
import { type Cause, type Link, linkOf } from "./why.ts";

/** A group of machines, or a control plane, that is not yet as its spec wants it. */
export interface RolloutFinding {
  link: Link;
  progress?: Progress;
}

const GROUPS = /^(WorkerPool|MachineDeployment|MachinePool)$|ControlPlane$/;

/**
 * Every group below an object that replaces its machines or its version: the pool, not its deployments, and a Machine only when it is
 * looked at alone or belongs to no group.
 */
export function rolloutFindings(node: ObjectNode): RolloutFinding[] {
  if (node.deleting) return [];
  if (node.kind === "Machine") {
    const outdated = conditionOf(node, "UpToDate");
    return outdated?.status === "False" ? [{ link: linkOf(node, outdated) }] : [];
  }
  if (!GROUPS.test(node.kind)) return node.children.flatMap(rolloutFindings);
  const exceeded = withExceededDeadline(node);
  const [activity] = activityOf(node) ?? [];
  const progress = activity?.counts === "replaced" ? activity.progress : upToDateOf(node);
  const outdated = machinesOf(node).find((machine) => conditionOf(machine, "UpToDate")?.status === "False");
  const own = conditionOf(node, "UpToDate");
  if (exceeded !== undefined) return [{ link: exceeded, progress }];
  if (own?.status === "False") return [{ link: linkOf(node, own), progress }];
  if (outdated === undefined || progress === undefined || progress.done >= progress.total) return [];
  return [{ link: { node, cause: rollingOut(node, outdated) }, progress }];
}

/** Every group that has fewer available machines than it wants. */
export function shortGroups(node: ObjectNode): RolloutFinding[] {
  if (node.deleting) return [];
  const { replicas } = node;
  if (!GROUPS.test(node.kind) || replicas === undefined) return node.children.flatMap(shortGroups);
  if (replicas.available >= replicas.desired) return [];
  const progress = { done: replicas.available, total: replicas.desired };
  const what = node.kind.endsWith("ControlPlane") ? "control plane instances" : "machines";
  const message = `${progress.done} of ${progress.total} ${what} are available`;
  return [{ link: { node, cause: made(node, "Available", "NotAllAvailable", message) }, progress }];
}

/** How many machines of a group are up to date; undefined for a group that counts none. */
function upToDateOf(node: ObjectNode): Progress | undefined {
  const machines = machinesOf(node).filter(({ deleting }) => !deleting);
  const total = node.replicas?.desired ?? machines.length;
  if (total === 0) return undefined;
  const current = machines.filter((machine) => conditionOf(machine, "UpToDate")?.status === "True").length;
  const counted = machines.length === 0 ? node.replicas?.upToDate : current;
  return counted === undefined ? undefined : { done: Math.min(counted, total), total };
}

function withExceededDeadline(node: ObjectNode): Link | undefined {
  const own = conditionOf(node, "Progressing");
  if (own?.status === "False" && own.reason === "ProgressDeadlineExceeded") return linkOf(node, own);
  for (const child of node.children) {
    const found = GROUPS.test(child.kind) ? withExceededDeadline(child) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function rollingOut(node: ObjectNode, outdated: ObjectNode): Cause {
  const { message = "" } = conditionOf(outdated, "UpToDate") ?? {};
  const rolling = conditionOf(node, "RollingOut");
  const since = (rolling?.status === "True" ? rolling : conditionOf(outdated, "UpToDate"))?.lastTransitionTime;
  return {
    ...made(node, "UpToDate", "RollingOut", `Machine ${outdated.name}: ${message.replace(/^\* /, "")}`),
    since: since ?? "",
  };
}

function made(node: ObjectNode, condition: string, reason: string, message: string): Cause {
  const { kind, name } = node;
  const found = conditionOf(node, "Available");
  const since =
    found?.status === "False" ? found.lastTransitionTime : (scalingSince(node) ?? formatTime(lastChangeMs(node)));
  return { kind, name, condition, status: "False", reason, message, since };
}

function scalingSince(node: ObjectNode): string | undefined {
  const scaling = conditionOf(node, "ScalingUp");
  return scaling?.status === "True" ? scaling.lastTransitionTime : undefined;
}

function machinesOf(node: ObjectNode): ObjectNode[] {
  return node.children.flatMap((child) => (child.kind === "Machine" ? [child] : machinesOf(child)));
}

function conditionOf(node: ObjectNode, type: string): Condition | undefined {
  return node.conditions.find((condition) => condition.type === type);
}
