import { type Condition, findCondition } from "@capstan/apimachinery";
import { countText, headline, type KubeadmControlPlane, type Machine, type OpenWork, withCount } from "@capstan/capi";
import type { Findings } from "../findings.ts";

/** Returns what a control plane still has to do; undefined if it is as its spec wants it. */
export function openWork(
  object: KubeadmControlPlane,
  findings: Findings,
  conditions: readonly Condition[],
  machines: readonly Machine[],
): OpenWork | undefined {
  const doing = currentWork(object, findings, conditions);
  if (doing === undefined) return undefined;
  const { namespace = "default", name } = object.metadata;
  const cluster = object.metadata.ownerReferences?.find(({ kind }) => kind === "Cluster")?.name;
  return {
    doing: withCount(doing, howFar(object, findings, machines)),
    progressAtMs: progressAtMs(object, conditions),
    blocker: doing,
    nextStep: `see: ${cluster === undefined ? `kubectl describe kubeadmcontrolplane ${name}` : `capstan why ${cluster}`} -n ${namespace}`,
  };
}

/** How many Machines are replaced while some are outdated, else how many have joined while some are missing. */
function howFar(
  { spec }: KubeadmControlPlane,
  { outdated }: Findings,
  machines: readonly Machine[],
): string | undefined {
  const total = spec.replicas ?? 1;
  const joined = machines.filter(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.nodeRef !== undefined,
  );
  const current = joined.filter(({ metadata }) => outdated?.has(metadata.name ?? "") !== true);
  const done = Math.min(current.length, total);
  if ((outdated?.size ?? 0) > 0) return countText({ done, total }, "replaced");
  return machines.length > 0 && done < total ? countText({ done, total }, "joined") : undefined;
}

function currentWork(
  { spec }: KubeadmControlPlane,
  { blocker, plan, templateProblem, outdated, error }: Findings,
  conditions: readonly Condition[],
): string | undefined {
  if (blocker !== undefined) return blocker.message;
  if (plan?.step.type === "wait") return plan.step.message;
  if (plan?.deferral !== undefined) return plan.deferral.message;
  if (plan?.step.type === "create") return templateProblem ?? "Creating a control plane Machine";
  if (plan?.step.type === "delete") return `Deleting Machine ${plan.step.machine}`;
  if (plan?.step.type === "releaseHook") return `Removing Machine ${plan.step.machine} from etcd`;
  if (plan?.step.type === "removeMember") return plan.step.message;
  if (error !== undefined) return error.cause instanceof Error ? error.cause.message : String(error.cause);
  if ((outdated?.size ?? 0) > 0) return `Changing to ${spec.version}`;
  const open = ["Initialized", "Available", "MachinesReady", "MachinesUpToDate"]
    .map((type) => findCondition(conditions, type))
    .find((condition) => condition?.status !== "True");
  if (open === undefined) return undefined;
  if (open.type === "Initialized") return waitForInit(conditions);
  return headline(open.message).replace(/^\* /, "") || open.reason;
}

/** The Machine says best what the start of the control plane waits for. */
function waitForInit(conditions: readonly Condition[]): string {
  const machines = findCondition(conditions, "MachinesReady");
  const detail =
    machines === undefined || machines.status === "True" ? "" : headline(machines.message).replace(/^\* /, "");
  return `Waiting for kubeadm init on the first Machine${detail === "" ? "" : `: ${detail}`}`;
}

/** A change of any condition is progress, but not that of Progressing itself. */
function progressAtMs({ metadata }: KubeadmControlPlane, conditions: readonly Condition[]): number {
  const times = conditions
    .filter(({ type }) => type !== "Progressing" && type !== "Paused")
    .map(({ lastTransitionTime }) => Date.parse(lastTransitionTime));
  return Math.max(Date.parse(metadata.creationTimestamp ?? ""), ...times);
}
