import type { Condition } from "@capstan/apimachinery";

/** An object and what it is made of, as `describe`, `why` and the dashboard see it. */
export interface ObjectNode {
  kind: string;
  name: string;
  /** What it is to its parent, e.g. `ControlPlane`. */
  role?: string;
  conditions: readonly Condition[];
  /** Whether it is being deleted. */
  deleting: boolean;
  children: ObjectNode[];
}

/** One link of the chain from a symptom to its cause. */
export interface Cause {
  kind: string;
  name: string;
  condition: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  since: string;
}

/** Conditions that sum an object up, best first. */
const SUMMARIES = ["Available", "Ready"];
/** Of these True is the bad state; they explain but never are a cause by themselves while nothing else is wrong. */
export const NEGATIVE_CONDITIONS: ReadonlySet<string> = new Set([
  "Deleting",
  "Updating",
  "Paused",
  "RollingOut",
  "ScalingUp",
  "ScalingDown",
  "Remediating",
  "Moving",
]);

/** The condition that sums an object up, if it has one. */
export function summaryOf(node: ObjectNode): Condition | undefined {
  for (const type of SUMMARIES) {
    const found = node.conditions.find((condition) => condition.type === type);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether something is wrong with the object, as far as it says. */
export function isTroubled(node: ObjectNode): boolean {
  const summary = summaryOf(node);
  return node.deleting || (summary === undefined ? firstIssue(node) !== undefined : summary.status !== "True");
}

/**
 * The chain of causes from an object down to the root: at each object the condition at fault, then the part of it that is in trouble,
 * until no part is. Empty when all is well. The last link's message is the root cause and says what to do.
 */
export function why(node: ObjectNode): Cause[] {
  return linksOf(node).map(({ cause }) => cause);
}

/** A link of the chain with the object it is about. */
export interface Link {
  cause: Cause;
  node: ObjectNode;
}

/** The chain with its objects. */
export function linksOf(node: ObjectNode): Link[] {
  if (!isTroubled(node)) {
    const below = node.children.map(linksOf).find((chain) => chain.length > 0);
    return below ?? besideOf(node);
  }
  const cause = causeOf(node);
  // Nothing works below what is paused, so nothing there is a cause.
  if (cause?.condition === "Paused") return [{ cause, node }];
  const chains = node.children.map(linksOf).filter((chain) => chain.length > 0);
  // The longest chain is the one that knows most about the cause.
  const deepest = chains.sort((a, b) => b.length - a.length)[0] ?? [];
  return cause === undefined ? deepest : [{ cause, node }, ...deepest];
}

function causeOf(node: ObjectNode): Cause | undefined {
  const deleting = node.deleting
    ? node.conditions.find((c) => c.type === "Deleting" && c.status === "True")
    : undefined;
  const paused = node.conditions.find((c) => c.type === "Paused" && c.status === "True");
  const condition = deleting ?? paused ?? firstIssue(node) ?? summaryOf(node);
  return condition === undefined ? undefined : faultOf(node, condition);
}

/** What can be wrong with a control plane whose API serves: its scheduler ends again and again, what is wanted of it is refused. */
const BESIDE = ["EtcdClusterHealthy", "ControlPlaneComponentsHealthy", "UpToDate"];

function besideOf(node: ObjectNode): Link[] {
  if (node.kind !== "HostedControlPlane") return [];
  const found = BESIDE.flatMap((type) =>
    node.conditions.filter((each) => each.type === type && each.status === "False"),
  );
  return found.slice(0, 1).map((condition) => ({ cause: faultOf(node, condition), node }));
}

function faultOf(node: ObjectNode, condition: Condition): Cause {
  return {
    kind: node.kind,
    name: node.name,
    condition: condition.type,
    status: condition.status,
    reason: condition.reason,
    message: condition.message,
    since: condition.lastTransitionTime,
  };
}

/** The first condition that is at fault by itself and not only a sum of others. */
function firstIssue(node: ObjectNode): Condition | undefined {
  const plain = node.conditions.filter(
    (condition) => !SUMMARIES.includes(condition.type) && !NEGATIVE_CONDITIONS.has(condition.type),
  );
  return (
    plain.find((condition) => condition.status === "False") ?? plain.find((condition) => condition.status === "Unknown")
  );
}
