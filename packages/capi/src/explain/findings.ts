import type { ProviderDescription } from "../sdk/description.ts";
import type { Progress } from "./activity.ts";
import { hostKinds, isHostKind } from "./host-kinds.ts";
import type { ObjectNode } from "./object-node.ts";
import { isCapacity, type Verdict, verdictOn } from "./patience.ts";
import { type RolloutFinding, rolloutFindings, shortGroups } from "./rollouts.ts";
import { chainsOf, type Link, summaryOf } from "./why.ts";

/** One independent cause: the chain that leads to it, and its current severity. */
export interface Finding extends Verdict {
  chain: Link[];
  /** The last link of the chain. */
  root: Link;
  progress?: Progress;
}

/** Moves a cause behind those that have taken a machine from the cluster, and before rollouts. */
const HARMLESS = 1.5;

/** Every independent cause of an object's state, most severe first. */
export function findingsOf(node: ObjectNode, nowMs: number, providers: readonly ProviderDescription[]): Finding[] {
  const judge = (chain: Link[], root: Link, progress?: Progress): Finding => {
    const verdict = verdictOn(root, nowMs, providers);
    // A failed host whose Machine works is less severe than one whose Machine failed too.
    const harmless = isHostKind(root.cause.kind) && !chain.some(({ cause }) => cause.kind === "Machine");
    const severity = verdict.severity + (harmless ? HARMLESS : 0);
    return { chain, root, ...verdict, severity, ...(progress === undefined ? {} : { progress }) };
  };
  const fromRollout = ({ link, progress }: RolloutFinding): Finding => judge([link], link, progress);
  const asleep = hibernated(node);
  if (asleep !== undefined) return [judge([asleep], asleep)];
  const faults = chainsOf(node).flatMap((chain) => {
    const root = chain.at(-1);
    return root === undefined ? [] : [judge(chain, root)];
  });
  const broken = faults.filter(({ level }) => level === "Degraded");
  const rollouts = rolloutFindings(node)
    .map(fromRollout)
    .filter((rollout) => !broken.some((fault) => stoppedBy(rollout, fault)));
  const covered = new Set([...faults, ...rollouts].flatMap(({ chain }) => chain.map((link) => link.node)));
  const short = shortGroups(node)
    .filter(({ link }) => !containsAny(link.node, covered))
    .map(fromRollout);
  const all = [...unreported(node, nowMs, providers), ...faults, ...rollouts, ...short];
  const paused = pausedFinding(node);
  const told = paused === undefined ? all : [paused, ...all.filter(({ level }) => level === "Degraded")];
  return withoutConsequences(told, providers).sort((a, b) => a.severity - b.severity || byName(a, b));
}

/**
 * Whether a rollout stopped because of a fault: the group itself has it, or the rollout's message names an object of the fault's chain.
 * Any other fault of the group is independent and hides nothing.
 */
function stoppedBy({ root: { cause, node } }: Finding, fault: Finding): boolean {
  if (cause.reason !== "ProgressDeadlineExceeded") return false;
  if (fault.root.node === node) return true;
  const names = fault.chain.flatMap((link) => (link.node.kind === "Machine" ? [link.node.name] : []));
  return [...names, fault.root.node.name].some((name) => cause.message.split(/[\s:;,]+/).includes(name));
}

/** Orders causes of equal severity, so that the order does not depend on the order of the tree. */
function byName(a: Finding, b: Finding): number {
  const [left, right] = [a, b].map(({ root: { cause } }) => `${cause.kind}/${cause.name}/${cause.condition}`);
  return left === right ? 0 : (left ?? "") < (right ?? "") ? -1 : 1;
}

/** A cluster that is paused as a whole says so in its spec before any controller has written it into the status. */
function pausedFinding(node: ObjectNode): Finding | undefined {
  const condition = node.conditions.find(({ type, status }) => type === "Paused" && status === "True");
  if (node.paused !== true && condition === undefined) return undefined;
  const since = condition?.lastTransitionTime ?? summaryOf(node)?.lastTransitionTime ?? node.created ?? "";
  const { kind, name } = node;
  const message = condition?.message ?? "";
  const root: Link = {
    node,
    cause: { kind, name, condition: "Paused", status: "True", reason: "Paused", message, since },
  };
  return { chain: [root], root, level: "Paused", severity: 0 };
}

/** The control plane that was scaled to zero on purpose. */
function hibernated(node: ObjectNode): Link | undefined {
  if (node.deleting) return undefined;
  if (node.kind.endsWith("ControlPlane")) {
    const condition = summaryOf(node);
    if (condition?.status !== "False" || condition.reason !== "Hibernated") return undefined;
    const { type, status, reason, message, lastTransitionTime: since } = condition;
    return { node, cause: { kind: node.kind, name: node.name, condition: type, status, reason, message, since } };
  }
  if (node.kind !== "Cluster") return undefined;
  for (const child of node.children) {
    const found = hibernated(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A Cluster, Machine or host with an agent without any status yet. */
function unreported(node: ObjectNode, nowMs: number, providers: readonly ProviderDescription[]): Finding[] {
  const hasAgent = hostKinds(providers).some(({ kind, reports }) => kind === node.kind && reports !== undefined);
  if (node.kind !== "Cluster" && node.kind !== "Machine" && !hasAgent) return [];
  if (summaryOf(node) !== undefined || node.deleting) return [];
  const cause = {
    kind: node.kind,
    name: node.name,
    condition: node.kind === "Cluster" ? "Available" : "Ready",
    status: "Unknown" as const,
    reason: "NotYetReported",
    message: "",
    since: node.created ?? "",
  };
  const root: Link = { node, cause };
  return [{ chain: [root], root, ...verdictOn(root, nowMs, providers) }];
}

/**
 * Leaves out what follows from something else in the list: machines wait while the cluster's infrastructure or control plane is not
 * ready, Nodes are unknown while the workload API cannot be reached, and a pool without room is explained by the missing hosts.
 */
function withoutConsequences(findings: readonly Finding[], providers: readonly ProviderDescription[]): Finding[] {
  const blocked = findings.some(blocks);
  const capacity = findings.some(({ root }) => isCapacity(root.cause, providers) && root.cause.condition !== "Placed");
  return findings.filter((finding) => {
    const { root, level } = finding;
    if (capacity && root.cause.condition === "Placed") return false;
    if (!blocked || blocks(finding) || root.cause.condition === "Paused") return true;
    return level === "Degraded" && !followsFromConnection(finding);
  });
}

const FOUNDATIONS = /^(Available|InfrastructureReady|RemoteConnectionProbe|ControlPlane(Available|Initialized))$/;

/** Whether machines cannot become ready before this is solved. A control plane that serves does not stop them. */
function blocks({ root: { cause, node } }: Finding): boolean {
  if (cause.condition === "UpToDate" || cause.reason === "NotAllAvailable") return false;
  if (cause.kind === "Cluster") return FOUNDATIONS.test(cause.condition);
  if (node.kind.endsWith("ControlPlane")) return summaryOf(node)?.status !== "True";
  return isInfrastructure(node);
}

/** An infrastructure cluster: by the contract its kind has the suffix Cluster. */
function isInfrastructure({ kind }: ObjectNode): boolean {
  return kind !== "Cluster" && kind.endsWith("Cluster");
}

/** A Machine whose Node is unreachable, or that waits for something missing. */
function followsFromConnection({ root: { cause } }: Finding): boolean {
  return /^(ConnectionDown|InspectionFailed|NotAllAvailable|WaitingFor.*)$/.test(cause.reason);
}

function containsAny(node: ObjectNode, others: ReadonlySet<ObjectNode>): boolean {
  return others.has(node) || node.children.some((child) => containsAny(child, others));
}

/** The earliest moment at which the findings can change without an event. */
export function changesAtMs(node: ObjectNode, findings: readonly Finding[]): number | undefined {
  const times = [...findings.flatMap((finding) => finding.changesAtMs ?? []), ...agingOf(node)];
  return times.length === 0 ? undefined : Math.min(...times);
}

function agingOf(node: ObjectNode): number[] {
  return [...(node.changesAtMs === undefined ? [] : [node.changesAtMs]), ...node.children.flatMap(agingOf)];
}
