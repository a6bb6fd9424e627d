import { type Condition, findCondition, formatDuration } from "@capstan/apimachinery";
import {
  type Cluster,
  CONTROL_PLANE_LABEL,
  type ConditionInput,
  conditionsOf,
  type Machine,
  type Node,
  REMEDIATE_MACHINE_ANNOTATION,
} from "@capstan/capi";

const DEFAULT_NODE_STARTUP_SECONDS = 600;
/** A Node counts as deleted when it has been missing for as long as Nodes have been followed without a gap, and for this long at least. */
const NODE_GONE_MS = 60_000;

/** A condition status that makes a Machine or Node unhealthy after a timeout. */
export interface UnhealthyCondition {
  type: string;
  status: string;
  timeoutSeconds?: number;
}

/** The checks that a MachineHealthCheck performs. */
export interface HealthChecks {
  nodeStartupTimeoutSeconds?: number;
  unhealthyNodeConditions?: readonly UnhealthyCondition[];
  unhealthyMachineConditions?: readonly UnhealthyCondition[];
}

/** The Node of a Machine as far as it is known. */
export type NodeState =
  | { state: "none" }
  /** `sinceMs` is when the cluster's Nodes began to be observed. */
  | { state: "deleted"; name: string; sinceMs: number }
  | { state: "found"; node: Node }
  | { state: "unknown" };

/** A Machine with its Node, as the subject of a check. */
export interface Target {
  machine: Machine;
  node: NodeState;
}

/** Result of checking one Machine. */
export type Verdict =
  | { state: "unhealthy"; condition: ConditionInput }
  /** The Machine has a Node and passes all checks. */
  | { state: "healthy"; condition: ConditionInput }
  /** Not decided yet; after `recheckMs` time alone may change that. */
  | { state: "undecided"; recheckMs?: number };

/** Everything that the check of one Machine depends on. */
export interface EvaluationInput {
  checks: HealthChecks;
  cluster: Cluster;
  target: Target;
  nowMs: number;
  /** Time before this was not observed: timeouts start here at the earliest. */
  awakeSinceMs: number;
}

/** Checks one Machine, in upstream's order. Pure: the time is an input. */
export function evaluate(input: EvaluationInput): Verdict {
  const { cluster, target } = input;
  const { machine } = target;
  if (machine.metadata.annotations?.[REMEDIATE_MACHINE_ANNOTATION] !== undefined)
    return unhealthy(
      "HasRemediateAnnotation",
      `Health check failed: marked for remediation via ${REMEDIATE_MACHINE_ANNOTATION} annotation`,
    );
  // Its Node is deleted with it, which does not make it unhealthy.
  if (machine.metadata.deletionTimestamp !== undefined) return { state: "undecided" };
  const clusterConditions = conditionsOf(cluster);
  const isControlPlane = machine.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined;
  if (findCondition(clusterConditions, "ControlPlaneInitialized")?.status !== "True" && !isControlPlane)
    return { state: "undecided" };
  if (findCondition(clusterConditions, "InfrastructureReady")?.status !== "True") return { state: "undecided" };

  const onMachine = conditionFindings(input, input.checks.unhealthyMachineConditions, conditionsOf(machine), "Machine");
  const onNode = nodeFindings(input);
  const messages = [...onMachine.messages, ...onNode.messages];
  if (messages.length > 0) {
    const reason = onMachine.messages.length > 0 ? "UnhealthyMachine" : onNode.reason;
    return unhealthy(reason, `Health check failed:\n${messages.map((text) => `  * ${text}`).join("\n")}`);
  }
  const rechecks = [...onMachine.rechecks, ...onNode.rechecks];
  if (rechecks.length > 0) return { state: "undecided", recheckMs: Math.min(...rechecks) };
  if (target.node.state !== "found") return { state: "undecided" };
  return {
    state: "healthy",
    condition: { type: "HealthCheckSucceeded", status: "True", reason: "HealthCheckSucceeded", message: "" },
  };
}

interface Findings {
  messages: string[];
  /** When conditions that are bad but still tolerated run out of time. */
  rechecks: number[];
}

function unhealthy(reason: string, message: string): Verdict {
  return { state: "unhealthy", condition: { type: "HealthCheckSucceeded", status: "False", reason, message } };
}

function conditionFindings(
  { nowMs, awakeSinceMs }: EvaluationInput,
  checks: readonly UnhealthyCondition[] | undefined,
  conditions: readonly Pick<Condition, "type" | "status" | "reason" | "lastTransitionTime">[],
  what: "Machine" | "Node",
): Findings {
  const findings: Findings = { messages: [], rechecks: [] };
  for (const check of checks ?? []) {
    const found = conditions.find((condition) => condition.type === check.type);
    if (found === undefined || found.status !== check.status) continue;
    const timeoutMs = (check.timeoutSeconds ?? 0) * 1000;
    const left = remaining(timeOf(found.lastTransitionTime), timeoutMs, nowMs, awakeSinceMs);
    if (left < 0)
      findings.messages.push(
        `Condition ${check.type} on ${what} is reporting status ${check.status} with reason ${found.reason} for more than ${formatDuration(timeoutMs)}`,
      );
    else findings.rechecks.push(left + 1000);
  }
  return findings;
}

function nodeFindings(input: EvaluationInput): Findings & { reason: string } {
  const { node, machine } = input.target;
  const none = { messages: [], rechecks: [], reason: "" };
  if (node.state === "unknown") return none;
  if (node.state === "deleted") {
    const left = remaining(node.sinceMs, NODE_GONE_MS, input.nowMs, input.awakeSinceMs);
    if (left > 0) return { ...none, rechecks: [left] };
    return { ...none, messages: [`Node ${node.name} has been deleted`], reason: "NodeDeleted" };
  }
  if (node.state === "found") {
    const conditions = (node.node.status?.conditions ?? []).map((condition) => ({
      type: condition.type,
      status: condition.status as Condition["status"],
      reason: condition.reason ?? "",
      lastTransitionTime: condition.lastTransitionTime ?? "",
    }));
    return {
      ...conditionFindings(input, input.checks.unhealthyNodeConditions, conditions, "Node"),
      reason: "UnhealthyNode",
    };
  }
  const timeoutMs = (input.checks.nodeStartupTimeoutSeconds ?? DEFAULT_NODE_STARTUP_SECONDS) * 1000;
  if (timeoutMs === 0) return none;
  const left = remaining(startedAt(input.cluster, machine), timeoutMs, input.nowMs, input.awakeSinceMs);
  return left < 0
    ? {
        ...none,
        messages: [`Node failed to report startup in ${formatDuration(timeoutMs)}`],
        reason: "NodeStartupTimeout",
      }
    : { ...none, rechecks: [left + 1000] };
}

/** When a Machine could begin to start: everything it stands on was there. */
function startedAt(cluster: Cluster, machine: Machine): number {
  const since = (object: { status?: unknown }, type: string): number => {
    const found = findCondition(conditionsOf(object), type);
    return found?.status === "True" ? timeOf(found.lastTransitionTime) : 0;
  };
  return Math.max(
    timeOf(machine.metadata.creationTimestamp),
    since(cluster, "ControlPlaneInitialized"),
    since(cluster, "InfrastructureReady"),
    since(machine, "InfrastructureReady"),
  );
}

/** Milliseconds until a state that began at `sinceMs` has lasted too long; negative when it has. */
function remaining(sinceMs: number, timeoutMs: number, nowMs: number, awakeSinceMs: number): number {
  return Math.max(sinceMs, awakeSinceMs) + timeoutMs - nowMs;
}

/** A time that cannot be read counts as long ago; the grace period after waking still holds. */
function timeOf(text: string | undefined): number {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}
