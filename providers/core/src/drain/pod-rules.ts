import { controllerOf, type KubeObject, type LabelSelectorObject, selectorOrProblem } from "@capstan/apimachinery";
import type { Cluster, Machine, Node } from "@capstan/capi";
import type { Pod } from "./kinds.ts";

/** What draining does with a Pod. */
export type Verdict =
  | { do: "skip"; reason: string }
  | { do: "wait"; reason: string }
  | { do: "evict"; order: number; warning?: string };

/** The fields of a MachineDrainRule that draining reads. */
export interface DrainRule {
  metadata: { name?: string; namespace?: string };
  spec: {
    drain: { behavior: string; order?: number };
    machines?: { selector?: LabelSelectorObject; clusterSelector?: LabelSelectorObject }[];
    pods?: { selector?: LabelSelectorObject; namespaceSelector?: LabelSelectorObject }[];
  };
}

/** What the decision about a Pod depends on. */
export interface PodContext {
  node: Node;
  /** Rules that apply to the Machine, in order of precedence. */
  rules: readonly DrainRule[];
  namespaces: ReadonlyMap<string, KubeObject>;
  /** Whether a DaemonSet exists, by `namespace/name`. */
  daemonSets: ReadonlySet<string>;
  nowMs: number;
}

const DRAIN_LABEL = "cluster.x-k8s.io/drain";
const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";
/** On an unreachable Node no kubelet confirms deletions: Pods deleted for longer than this count as removed. */
const UNREACHABLE_GRACE_MS = 1000;

/** Reports whether the Node has the unreachable taint of the node lifecycle controller. */
export function isUnreachable(node: Node): boolean {
  return node.spec?.taints?.some((taint) => taint.key === "node.kubernetes.io/unreachable") === true;
}

/** Returns the rules that apply to a Machine, sorted by name; a rule without `machines` applies to all. */
export function rulesFor(rules: readonly DrainRule[], machine: Machine, cluster: Cluster): DrainRule[] {
  return rules
    .filter(({ spec }) => {
      if (spec.machines === undefined || spec.machines.length === 0) return true;
      return spec.machines.some(
        ({ selector, clusterSelector }) =>
          matches(selector, machine.metadata.labels) && matches(clusterSelector, cluster.metadata.labels),
      );
    })
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
}

/** An absent selector matches everything, an invalid one nothing, so that no deletion waits for a rule to be corrected. */
function matches(selector: LabelSelectorObject | undefined, labels: Record<string, string> | undefined): boolean {
  return selector === undefined || selectorOrProblem(selector, "").matches(labels);
}

/** Describes invalid selectors of rules, one sentence each. */
export function ruleProblems(rules: readonly DrainRule[]): string[] {
  return rules.flatMap(({ metadata, spec }) => {
    const entries = [
      ...(spec.machines ?? []).flatMap(({ selector, clusterSelector }, index) => [
        { field: `spec.machines[${index}].selector`, selector },
        { field: `spec.machines[${index}].clusterSelector`, selector: clusterSelector },
      ]),
      ...(spec.pods ?? []).flatMap(({ selector, namespaceSelector }, index) => [
        { field: `spec.pods[${index}].selector`, selector },
        { field: `spec.pods[${index}].namespaceSelector`, selector: namespaceSelector },
      ]),
    ];
    return entries.flatMap(({ field, selector }) => {
      const problem = selector === undefined ? undefined : selectorOrProblem(selector, field).problem;
      return problem === undefined ? [] : [`MachineDrainRule ${metadata.name} matches nothing there: ${problem}`];
    });
  });
}

/** Decides what draining does with a Pod; the first rule that applies decides, in upstream's order. */
export function judgePod(pod: Pod, context: PodContext): Verdict {
  return (
    deletedOnUnreachable(pod, context) ??
    daemonSetPod(pod, context) ??
    mirrorPod(pod) ??
    labelled(pod) ??
    byRule(pod, context) ??
    byDefault(pod)
  );
}

function deletedOnUnreachable(pod: Pod, { node, nowMs }: PodContext): Verdict | undefined {
  const since = pod.metadata.deletionTimestamp;
  if (since === undefined || !isUnreachable(node)) return undefined;
  return nowMs - Date.parse(since) > UNREACHABLE_GRACE_MS
    ? { do: "skip", reason: "deleted on an unreachable Node" }
    : undefined;
}

function isFinished(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** DaemonSet Pods come back at once wherever they are, so evicting them is pointless; finished and orphaned ones go. */
function daemonSetPod(pod: Pod, { daemonSets }: PodContext): Verdict | undefined {
  const owner = controllerOf(pod);
  if (owner?.kind !== "DaemonSet" || isFinished(pod)) return undefined;
  return daemonSets.has(`${pod.metadata.namespace ?? ""}/${owner.name}`)
    ? { do: "skip", reason: "belongs to a DaemonSet" }
    : undefined;
}

/** Static Pods exist in the kubelet's files only. */
function mirrorPod(pod: Pod): Verdict | undefined {
  return pod.metadata.annotations?.[MIRROR_ANNOTATION] === undefined
    ? undefined
    : { do: "skip", reason: "is a static Pod" };
}

function labelled(pod: Pod): Verdict | undefined {
  const value = pod.metadata.labels?.[DRAIN_LABEL]?.toLowerCase();
  if (value === "skip") return { do: "skip", reason: `has the label ${DRAIN_LABEL}: skip` };
  if (value === "wait-completed" || value === "waitcompleted")
    return waitCompleted(pod, `has the label ${DRAIN_LABEL}: wait-completed`);
  return undefined;
}

function waitCompleted(pod: Pod, reason: string): Verdict {
  return isFinished(pod) ? { do: "skip", reason } : { do: "wait", reason };
}

function byRule(pod: Pod, context: PodContext): Verdict | undefined {
  const namespace = context.namespaces.get(pod.metadata.namespace ?? "");
  const rule = context.rules.find(({ spec }) => {
    if (spec.pods === undefined || spec.pods.length === 0) return true;
    return spec.pods.some(
      ({ selector, namespaceSelector }) =>
        matches(selector, pod.metadata.labels) &&
        (namespaceSelector === undefined || matches(namespaceSelector, namespace?.metadata.labels)),
    );
  });
  if (rule === undefined) return undefined;
  const reason = `MachineDrainRule ${rule.metadata.name}`;
  if (rule.spec.drain.behavior === "Skip") return { do: "skip", reason };
  if (rule.spec.drain.behavior === "WaitCompleted") return waitCompleted(pod, reason);
  return { do: "evict", order: rule.spec.drain.order ?? 0 };
}

function byDefault(pod: Pod): Verdict {
  if (controllerOf(pod) === undefined && !isFinished(pod))
    return { do: "evict", order: 0, warning: "no controller brings them back" };
  if (pod.spec?.volumes?.some((volume) => volume.emptyDir !== undefined) === true)
    return { do: "evict", order: 0, warning: "what is in their emptyDir volumes is lost" };
  return { do: "evict", order: 0 };
}
