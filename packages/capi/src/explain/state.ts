import type { ProviderDescription } from "../sdk/description.ts";
import { type Activity, activitiesOf, type Progress } from "./activity.ts";
import { type Explanation, explanations } from "./explain.ts";
import { changesAtMs, type Finding, findingsOf } from "./findings.ts";
import type { ObjectNode } from "./object-node.ts";
import type { Level } from "./patience.ts";
import { shortGroups } from "./rollouts.ts";
import { summaryOf } from "./why.ts";

/** The states of an object, worst first. Unknown means that the workload cluster is unreachable, so the state of its Nodes is unknown. */
export const STATES = ["Degraded", "Unknown", "Progressing", "Paused", "Hibernated", "Healthy"] as const;
/** The name of an object's state, as the command line, the dashboard and the metrics show it. */
export type StateName = (typeof STATES)[number];

/** The state of an object with its most severe cause, short enough for one line of a table. */
export interface ObjectState {
  state: StateName;
  /** Reason in CamelCase. */
  reason: string;
  /** The cause as a sentence; empty for a healthy object. */
  message: string;
  /** Since when the object is in this state; empty when unknown. */
  since: string;
  /** How far a rollout or scaling has progressed. */
  progress?: Progress;
}

/** The state of an object and all its causes, decided from the object and its parts at one point in time. */
export interface Assessment {
  state: ObjectState;
  /** Most severe first; empty for a healthy object. */
  causes: Explanation[];
  /** What control planes do with their Machines, each with its progress and its current step. */
  activities: Activity[];
  /** When the state may change without a further event, in milliseconds since 1970. */
  changesAtMs?: number;
}

/** The time at which `assess` decides, the namespace and Cluster of the object, and the providers whose rules apply. */
export interface AssessmentContext {
  nowMs: number;
  namespace: string;
  providers: readonly ProviderDescription[];
  /** Name of the object's Cluster; defaults to the object's own name. */
  cluster?: string;
}

/**
 * Decides the state of an object. This is the only place that does: the command line, the dashboard and the metrics all show its
 * result.
 */
export function assess(node: ObjectNode, context: AssessmentContext): Assessment {
  const { nowMs, namespace, providers, cluster = node.name } = context;
  const findings = findingsOf(node, nowMs, providers);
  const causes = explanations(findings, { namespace, cluster, providers });
  const at = changesAtMs(node, findings);
  return {
    state: stateFrom(node, findings, causes),
    causes,
    activities: activitiesOf(node),
    changesAtMs: at,
  };
}

/** Returns only the state of an object. Parts of a paused or hibernated cluster have the cluster's state, passed as `within`. */
export function stateOf(
  node: ObjectNode,
  { nowMs, providers }: Pick<AssessmentContext, "nowMs" | "providers">,
  within?: ObjectState,
): ObjectState {
  if (within?.state === "Hibernated" || within?.state === "Paused") return within;
  return assess(node, { nowMs, namespace: "default", providers }).state;
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
    progress,
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

/** Formats a state with its progress: `Progressing (3 of 7)`. */
export function stateText({ state, progress }: ObjectState): string {
  return progress === undefined ? state : `${state} (${progress.done} of ${progress.total})`;
}
