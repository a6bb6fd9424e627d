import { type Explanation, explanations } from "./explain.ts";
import { changesAtMs, type Finding, findingsOf } from "./findings.ts";
import type { ObjectNode } from "./object-node.ts";
import type { Level } from "./patience.ts";
import { type Progress, shortGroups } from "./rollouts.ts";
import { summaryOf } from "./why.ts";

/** The states of an object, worst first. Unknown: the workload cluster cannot be reached, so nothing is known of its Nodes. */
export const STATES = ["Degraded", "Unknown", "Progressing", "Paused", "Hibernated", "Healthy"] as const;
export type StateName = (typeof STATES)[number];

/** The state of an object in one line. */
export interface ObjectState {
  state: StateName;
  /** Why, as a reason in CamelCase. */
  reason: string;
  /** Why, as a sentence; empty for a healthy object. */
  message: string;
  /** Since when; empty when unknown. */
  since: string;
  /** While something progresses: how far it has come. */
  progress?: Progress;
}

/** The state of an object and every cause of it, decided from the object and its parts at one moment. */
export interface Assessment {
  state: ObjectState;
  /** Most severe first; empty for a healthy object. */
  causes: Explanation[];
  /** When this may change without any further event, in milliseconds. */
  changesAtMs?: number;
}

/** Where an object is. */
export interface AssessmentContext {
  nowMs: number;
  namespace: string;
  /** Name of its Cluster; of a Cluster its own. */
  cluster?: string;
}

/**
 * Decides the state of an object. This is the only place that does: the command line, the dashboard and the metrics all show its
 * result.
 */
export function assess(node: ObjectNode, context: AssessmentContext): Assessment {
  const findings = findingsOf(node, context.nowMs);
  const causes = explanations(findings, context.namespace, context.cluster ?? node.name);
  const at = changesAtMs(node, findings);
  return {
    state: stateFrom(node, findings, causes),
    causes,
    ...(at === undefined ? {} : { changesAtMs: at }),
  };
}

/** The state alone. Within a paused or hibernated cluster all parts rest with it. */
export function stateOf(node: ObjectNode, nowMs: number, within?: ObjectState): ObjectState {
  if (within?.state === "Hibernated" || within?.state === "Paused") return within;
  return assess(node, { nowMs, namespace: "default" }).state;
}

function stateFrom(node: ObjectNode, findings: readonly Finding[], causes: readonly Explanation[]): ObjectState {
  const level = worst(node, findings);
  const index = causes.findIndex((cause) => cause.level === level);
  const cause = causes[index];
  if (level === undefined || cause === undefined)
    return {
      state: "Healthy",
      reason: summaryOf(node)?.reason ?? "Healthy",
      message: "",
      since: summaryOf(node)?.lastTransitionTime ?? node.created ?? "",
    };
  const more = causes.filter((other) => other !== cause && other.level === level).length;
  const progress = level === "Progressing" ? (cause.progress ?? shortage(node)) : cause.progress;
  return {
    state: level,
    reason: cause.chain.at(-1)?.reason ?? level,
    message: more === 0 ? cause.cause : `${cause.cause} (and ${more} more ${more === 1 ? "cause" : "causes"})`,
    since: cause.chain.at(-1)?.since ?? "",
    ...(progress === undefined ? {} : { progress }),
  };
}

/** What is paused or hibernated as a whole is in that state, whatever else is the case. */
function worst(node: ObjectNode, findings: readonly Finding[]): Level | undefined {
  const whole = findings.find(
    ({ root, level }) => level === "Hibernated" || (level === "Paused" && root.node === node),
  );
  if (whole !== undefined) return whole.level;
  return STATES.find((state): state is Level => findings.some(({ level }) => level === state));
}

/** How many of the wanted machines are available, over all groups that lack some. */
function shortage(node: ObjectNode): Progress | undefined {
  const groups = shortGroups(node).flatMap(({ progress }) => progress ?? []);
  if (groups.length === 0) return undefined;
  const sum = (read: (progress: Progress) => number): number => groups.reduce((total, each) => total + read(each), 0);
  return { done: sum(({ done }) => done), total: sum(({ total }) => total) };
}

/** The state in a few words: `Progressing (3 of 7)`. */
export function stateText({ state, progress }: ObjectState): string {
  return progress === undefined ? state : `${state} (${progress.done} of ${progress.total})`;
}
