import { ApiError, controllerOf, isReason, type KubeObject } from "@capstan/apimachinery";
import { MachineDrainRule, type Node } from "@capstan/capi";
import type { Cache, Client } from "@capstan/runtime";
import type { MachineScope } from "../machine/machine-scope.ts";
import { DaemonSetKind, NamespaceKind, NodeKind, type Pod, PodKind } from "./kinds.ts";
import {
  type DrainRule,
  isUnreachable,
  judgePod,
  type PodContext,
  ruleProblems,
  rulesFor,
  type Verdict,
} from "./pod-rules.ts";

/** Everything that one pass of draining a Node needs. */
export interface DrainInput {
  scope: MachineScope;
  node: Node;
  /** Client of the workload cluster. */
  client: Client;
  /** Cache of the management cluster, for drain rules. */
  cache: Cache;
  nowMs: number;
  signal: AbortSignal;
}

/** Whether a Node is drained, or what it is waiting for. */
export interface DrainOutcome {
  done: boolean;
  message: string;
}

interface Judged {
  pod: Pod;
  verdict: Verdict;
}

/** Performs one pass of draining: cordons the Node and evicts the Pods that are next in order. Call it until it reports done. */
export async function drainNode(input: DrainInput): Promise<DrainOutcome> {
  const { node, client, signal } = input;
  const name = node.metadata.name ?? "";
  if (node.spec?.unschedulable !== true)
    await client.patch({ kind: NodeKind, name }, { spec: { unschedulable: true } }, {}, signal);
  const judged = await judgedPods(input);
  const evictable = judged.filter(({ verdict }) => verdict.do === "evict");
  const waiting = judged.filter(({ verdict }) => verdict.do === "wait");
  if (evictable.length === 0 && waiting.length === 0) return { done: true, message: "" };
  // Only the lowest order present: later ones wait until all earlier ones are deleted or, with WaitCompleted, have completed.
  const lowest = Math.min(...[...evictable, ...waiting].map(({ verdict }) => orderOf(verdict)));
  const now = evictable.filter(({ verdict }) => orderOf(verdict) === lowest);
  const results = await evictAll(
    now.map(({ pod }) => pod),
    input,
  );
  const later = evictable.length - now.length;
  return { done: false, message: drainMessage(results, waiting, warnings(now), later) };
}

/** Pods that are waited for have the order of those without a rule. */
function orderOf(verdict: Verdict): number {
  return verdict.do === "evict" ? verdict.order : 0;
}

/** Rules that may be for the Machine. */
function drainRules({ scope, cache }: Pick<DrainInput, "scope" | "cache">): readonly DrainRule[] {
  return cache.list(MachineDrainRule, { namespace: scope.machine.metadata.namespace ?? "" }) as readonly DrainRule[];
}

/** Describes invalid MachineDrainRules of the Machine's namespace, which would otherwise silently match nothing. */
export function drainRuleProblems(input: Pick<DrainInput, "scope" | "cache">): string[] {
  return ruleProblems(drainRules(input)).sort();
}

/** Returns the Pods of a Node and what draining does with each. */
export async function judgedPods(input: DrainInput): Promise<Judged[]> {
  const { scope, node, client, signal } = input;
  const { items: pods } = await client.list(
    PodKind,
    { fieldSelector: `spec.nodeName=${node.metadata.name ?? ""}` },
    signal,
  );
  const { machine, cluster } = scope;
  const rules = cluster === undefined ? [] : rulesFor(drainRules(input), machine, cluster);
  const context: PodContext = {
    node,
    rules,
    namespaces: await namespacesFor(rules, client, signal),
    daemonSets: await daemonSetsOf(pods, client, signal),
    nowMs: input.nowMs,
  };
  return pods.map((pod) => ({ pod, verdict: judgePod(pod, context) }));
}

async function namespacesFor(
  rules: readonly DrainRule[],
  client: Client,
  signal: AbortSignal,
): Promise<Map<string, KubeObject>> {
  const needed = rules.some(({ spec }) => spec.pods?.some((entry) => entry.namespaceSelector !== undefined) === true);
  if (!needed) return new Map();
  const { items } = await client.list(NamespaceKind, {}, signal);
  return new Map(items.map((item) => [item.metadata.name ?? "", item]));
}

async function daemonSetsOf(pods: readonly Pod[], client: Client, signal: AbortSignal): Promise<Set<string>> {
  const wanted = new Map<string, { namespace: string; name: string }>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner?.kind !== "DaemonSet") continue;
    const namespace = pod.metadata.namespace ?? "";
    wanted.set(`${namespace}/${owner.name}`, { namespace, name: owner.name });
  }
  const existing = new Set<string>();
  for (const [key, ref] of wanted) {
    if ((await client.get(DaemonSetKind, ref, signal)) !== undefined) existing.add(key);
  }
  return existing;
}

interface EvictionResults {
  evicted: string[];
  terminating: string[];
  refused: Map<string, string[]>;
}

const PARALLEL = 10;

async function evictAll(pods: readonly Pod[], input: DrainInput): Promise<EvictionResults> {
  const results: EvictionResults = { evicted: [], terminating: [], refused: new Map() };
  const queue = [...pods];
  const worker = async (): Promise<void> => {
    for (let pod = queue.shift(); pod !== undefined; pod = queue.shift()) await evict(pod, input, results);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, pods.length) }, worker));
  return results;
}

async function evict(pod: Pod, { client, node, signal }: DrainInput, results: EvictionResults): Promise<void> {
  const namespace = pod.metadata.namespace ?? "";
  const name = pod.metadata.name ?? "";
  const text = `${namespace}/${name}`;
  if (pod.metadata.deletionTimestamp !== undefined) {
    results.terminating.push(text);
    return;
  }
  const body = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { namespace, name },
    // An unreachable kubelet would never confirm a longer grace period.
    ...(isUnreachable(node) ? { deleteOptions: { gracePeriodSeconds: 1 } } : {}),
  };
  try {
    await client.createSubresource({ kind: PodKind, namespace, name }, "eviction", body, signal);
    results.evicted.push(text);
  } catch (error) {
    if (isReason(error, "NotFound")) return;
    // A budget that forbids it (429), a terminating namespace or a webhook that rejects it blocks only this Pod.
    if (!(error instanceof ApiError)) throw error;
    const reason = refusalText(error);
    results.refused.set(reason, [...(results.refused.get(reason) ?? []), text]);
  }
}

/** The message of the server, with the budget that it names as the cause. */
function refusalText(error: ApiError): string {
  const causes = (error.status.details?.causes ?? [])
    .map(({ message }) => message)
    .filter((text) => text !== undefined);
  return [error.message, ...causes].join(" ");
}

const MAX_NAMES = 3;

function names(list: readonly string[]): string {
  const more = list.length > MAX_NAMES ? `, ... (${list.length - MAX_NAMES} more)` : "";
  return list.slice(0, MAX_NAMES).join(", ") + more;
}

/** Pods whose eviction loses something, by what is lost. */
function warnings(judged: readonly Judged[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { pod, verdict } of judged) {
    if (verdict.do !== "evict" || verdict.warning === undefined) continue;
    const list = found.get(verdict.warning) ?? [];
    found.set(verdict.warning, [...list, `${pod.metadata.namespace}/${pod.metadata.name}`]);
  }
  return found;
}

function drainMessage(
  results: EvictionResults,
  waiting: readonly Judged[],
  warned: ReadonlyMap<string, string[]>,
  later: number,
): string {
  const lines: string[] = [];
  if (results.terminating.length > 0)
    lines.push(`* Pods ${names(results.terminating)}: deletionTimestamp set, but still not removed from the Node`);
  if (results.evicted.length > 0) lines.push(`* Pods ${names(results.evicted)}: eviction requested`);
  for (const [reason, pods] of results.refused) lines.push(`* Pods ${names(pods)}: ${reason}`);
  if (waiting.length > 0)
    lines.push(
      `* Pods ${names(waiting.map(({ pod }) => `${pod.metadata.namespace}/${pod.metadata.name}`))}: waiting for them to complete`,
    );
  for (const [warning, pods] of warned) lines.push(`* Warning: Pods ${names(pods)}: ${warning}`);
  if (later > 0) lines.push(`* ${later} Pods are evicted after those`);
  return `Drain not completed yet:\n${lines.join("\n")}`;
}
