import type { Condition } from "@capstan/apimachinery";
import { isHostKind } from "./host-kinds.ts";
import type { ObjectNode } from "./object-node.ts";

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

/** A link of a chain with the object it is about. */
export interface Link {
  cause: Cause;
  node: ObjectNode;
}

/** Conditions that sum an object up, best first. */
const SUMMARIES = ["Available", "Ready"];
/** For these True is the bad state; they explain, but are never a cause by themselves while nothing else is wrong. */
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
/** These are about rollouts, which `rolloutFindings` judges: a pending upgrade must not hide why an object is not available. */
const ROLLOUT = /^(Progressing|.*UpToDate)$/;

/** The condition that sums an object up, if it has one. */
export function summaryOf(node: ObjectNode): Condition | undefined {
  for (const type of SUMMARIES) {
    const found = node.conditions.find((condition) => condition.type === type);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether the object's own conditions report a problem. */
export function isTroubled(node: ObjectNode): boolean {
  const summary = summaryOf(node);
  return node.deleting || (summary === undefined ? issuesOf(node).length > 0 : summary.status !== "True");
}

/**
 * Every chain of causes from an object down to a root cause: at each object the condition at fault, then the part that causes it. Two
 * chains have different roots. Empty when nothing is wrong.
 */
export function chainsOf(node: ObjectNode): Link[][] {
  const flag = flagOf(node);
  const chains = node.children.flatMap(chainsOf).filter((chain) => !waitsForStart(node, chain));
  if (flag !== undefined)
    return flag.type === "Paused" || chains.length === 0
      ? [[linkOf(node, flag)]]
      : chains.map((chain) => [linkOf(node, flag), ...chain]);
  if (!isTroubled(node)) return [...chains, ...besideOf(node)];
  const faults = faultsOf(node);
  const firsts = chains.flatMap(([first]) => first ?? []);
  const alone = faults.filter((fault) => !firsts.some((first) => explains(node, fault, first.node)));
  return [
    ...chains.map((chain) => withSymptom(node, faults, chain)),
    ...ownFaults(node, alone, chains.length > 0).map((fault) => [linkOf(node, fault)]),
  ];
}

/** Conditions of a control plane Machine that nobody can observe before the control plane has started. */
const COMPONENT = /(PodHealthy|EtcdMemberHealthy|LabelsAndTaintsSet)$/;

/** Whether a Machine only waits for the control plane that it starts: the control plane itself says best what is wrong. */
function waitsForStart(node: ObjectNode, chain: readonly Link[]): boolean {
  const cause = chain.at(-1)?.cause;
  if (cause?.kind !== "Machine" || !isNotInitialized(node)) return false;
  return MACHINE_TOPICS[cause.condition] === "node" || COMPONENT.test(cause.condition);
}

function isNotInitialized({ kind, conditions }: ObjectNode): boolean {
  return (
    kind.endsWith("ControlPlane") && conditions.some(({ type, status }) => type === "Initialized" && status === "False")
  );
}

/** A chain of a part, led by the condition of the whole that shows it. */
function withSymptom(node: ObjectNode, faults: readonly Condition[], chain: Link[]): Link[] {
  const [first] = chain;
  const symptom = first === undefined ? undefined : symptomOf(node, faults, first.node);
  return symptom === undefined ? chain : [linkOf(node, symptom), ...chain];
}

/** What is wrong with a troubled object. A host is judged by its summary, which `hostTrouble` decides. */
function faultsOf(node: ObjectNode): Condition[] {
  const issues = issuesOf(node);
  const summary = summaryOf(node);
  if (summary === undefined) return issues;
  // Nothing else can be inspected before.
  if (isNotInitialized(node)) return [summary];
  if (isHostKind(node.kind)) return [summary, ...issues.filter(({ type }) => OWN.has(type))];
  return issues.length > 0 ? issues : [summary];
}

/** Deletion and pausing come before everything else an object says. */
function flagOf(node: ObjectNode): Condition | undefined {
  const on = (type: string): Condition | undefined =>
    node.conditions.find((condition) => condition.type === type && condition.status === "True");
  if (node.deleting) return on("Deleting");
  return isTroubled(node) ? on("Paused") : undefined;
}

/** Topic of a condition of an object. */
type Topic = "infrastructure" | "controlPlane" | "workers" | "bootstrap" | "node" | "any" | "own";

const CLUSTER_TOPICS: Readonly<Record<string, Topic>> = {
  InfrastructureReady: "infrastructure",
  RemoteConnectionProbe: "controlPlane",
  ControlPlaneInitialized: "controlPlane",
  ControlPlaneAvailable: "controlPlane",
  ControlPlaneMachinesReady: "controlPlane",
  WorkersAvailable: "workers",
  WorkerMachinesReady: "workers",
  Available: "any",
};
const MACHINE_TOPICS: Readonly<Record<string, Topic>> = {
  BootstrapConfigReady: "bootstrap",
  InfrastructureReady: "infrastructure",
  NodeHealthy: "node",
  NodeReady: "node",
  HealthCheckSucceeded: "node",
  OwnerRemediated: "node",
};
/** Own faults of other kinds that their parts never explain. */
const OWN = new Set(["Placed", "MachineIDUnique", "ClockInSync", "ChangesPossible", "EtcdStable", "AddonsUpToDate"]);

function topicOf(node: ObjectNode, { type }: Condition): Topic {
  if (node.kind === "Cluster") return CLUSTER_TOPICS[type] ?? "own";
  if (node.kind === "Machine") return MACHINE_TOPICS[type] ?? "any";
  return OWN.has(type) ? "own" : "any";
}

/** The condition of a whole that shows the trouble of a part: the one that is about that part, best its availability. */
function symptomOf(node: ObjectNode, faults: readonly Condition[], part: ObjectNode): Condition | undefined {
  const found = faults.filter((fault) => explains(node, fault, part));
  const exact = found.filter((fault) => topicOf(node, fault) === partOf(part));
  return exact.find(({ type }) => type.endsWith("Available")) ?? exact[0] ?? found[0];
}

const GROUP = /^(MachineDeployment|MachinePool|MachineSet|WorkerPool)$/;

/** Whether trouble of a part, which may be far below, explains a condition of the whole. */
function explains(node: ObjectNode, fault: Condition, part: ObjectNode): boolean {
  const topic = topicOf(node, fault);
  if (topic === "own") return false;
  // A host in error whose Machine works costs no group a machine, nor a cluster its infrastructure.
  if (GROUP.test(node.kind)) return partOf(part) === "workers";
  if (node.kind === "Cluster" && topic === "infrastructure") return part.kind.endsWith("Cluster");
  // A Node cannot be healthy while anything its Machine is made of is not.
  if (topic === "any" || topic === "node") return true;
  return topic === partOf(part);
}

function partOf({ kind }: ObjectNode): Topic {
  if (kind.endsWith("ControlPlane")) return "controlPlane";
  if (kind.endsWith("Config")) return "bootstrap";
  return kind === "Machine" || GROUP.test(kind) ? "workers" : "infrastructure";
}

/** Of the faults that no part explains, one per topic. What a Machine says of its Node counts only when nothing else is wrong with it. */
function ownFaults(node: ObjectNode, faults: readonly Condition[], hasChains: boolean): Condition[] {
  const seen = new Set<Topic>();
  const out = faults.filter((fault) => {
    const topic = topicOf(node, fault);
    if (topic !== "own" && seen.has(topic)) return false;
    seen.add(topic);
    return true;
  });
  const others = out.filter((fault) => topicOf(node, fault) !== "node");
  return node.kind === "Machine" && (others.length > 0 || hasChains) ? others : out;
}

/** Conditions that can be False although the API of a control plane serves. */
const ADDITIONAL = [
  "EtcdClusterHealthy",
  "ControlPlaneComponentsHealthy",
  "ChangesPossible",
  "EtcdStable",
  "AddonsUpToDate",
];

function besideOf(node: ObjectNode): Link[][] {
  const types = node.kind.endsWith("ControlPlane") ? ADDITIONAL : isHostKind(node.kind) ? [...OWN] : ["Placed"];
  return node.conditions
    .filter(({ type, status }) => types.includes(type) && status === "False")
    .map((condition) => [linkOf(node, condition)]);
}

/** The link of a condition. */
export function linkOf(node: ObjectNode, condition: Condition): Link {
  const { type, status, reason, message, lastTransitionTime: since } = condition;
  return { node, cause: { kind: node.kind, name: node.name, condition: type, status, reason, message, since } };
}

/** Conditions at fault by themselves, not only as a sum of others: False ones first. */
function issuesOf(node: ObjectNode): Condition[] {
  const plain = node.conditions.filter(
    ({ type }) => !SUMMARIES.includes(type) && !NEGATIVE_CONDITIONS.has(type) && !ROLLOUT.test(type),
  );
  const having = (status: Condition["status"]): Condition[] => plain.filter((condition) => condition.status === status);
  return [...having("False"), ...having("Unknown")];
}
