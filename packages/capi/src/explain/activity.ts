import { type Condition, formatAge } from "@capstan/apimachinery";
import { headline } from "../contract/conditions.ts";
import { countText, withoutCount } from "../contract/progress.ts";
import type { ObjectNode } from "./object-node.ts";

/** How far something has come: `done` of `total`. */
export interface Progress {
  done: number;
  total: number;
}

/** What a control plane does with its Machines: how far it has come, what it does now, and since when. */
export interface Activity {
  kind: string;
  name: string;
  /** What was done with as many Machines as `progress` counts. */
  counts: "replaced" | "joined" | "healthy";
  progress: Progress;
  /** The current step, e.g. `Machine c1-x waits for its Node`. */
  doing: string;
  /** Since when, as a point in time: whoever shows it computes the age. */
  since: string;
}

/** The activities of all control planes on Machines of a tree. */
export function activitiesOf(node: ObjectNode): Activity[] {
  // What is paused does nothing, with all its parts.
  if (node.paused === true) return [];
  return [...(activityOf(node) ?? []), ...node.children.flatMap(activitiesOf)];
}

/** `1 of 3 Machines replaced; Machine c1-x waits for its Node, for 40s`. */
export function activityText({ counts, progress, doing, since }: Activity, nowMs: number): string {
  const age = Date.parse(since);
  const forAge = Number.isNaN(age) ? "" : `, for ${formatAge(Math.max(0, nowMs - age))}`;
  return [countText(progress, counts), ...(doing === "" ? [] : [`${doing}${forAge}`])].join("; ");
}

/** What a control plane on Machines does; none for one that is as its spec wants it, that goes or is paused, and for any other object. */
export function activityOf(node: ObjectNode): [Activity] | undefined {
  const { kind, name, replicas } = node;
  if (!kind.endsWith("ControlPlane") || replicas === undefined || node.deleting || node.paused === true)
    return undefined;
  const machines = node.children.filter((child) => child.kind === "Machine");
  if (machines.length === 0 || replicas.desired === 0) return undefined;
  const counted = countOf(machines, replicas.desired);
  return counted === undefined ? undefined : [{ kind, name, ...counted, ...currentStep(node, machines) }];
}

/** A failed Machine is replaced before anything else; a rollout comes next, since it changes the number of Machines too. */
function countOf(machines: readonly ObjectNode[], desired: number): Pick<Activity, "counts" | "progress"> | undefined {
  const of = (done: number): Progress => ({ done: Math.min(done, desired), total: desired });
  const joined = machines.filter((machine) => !machine.deleting && machine.initialized === true);
  const healthy = joined.filter((machine) => !isFailed(machine));
  if (machines.some(isFailed)) return { counts: "healthy", progress: of(healthy.length) };
  if (machines.some((machine) => has(machine, "UpToDate", "False"))) {
    const current = joined.filter((machine) => has(machine, "UpToDate", "True"));
    return { counts: "replaced", progress: of(current.length) };
  }
  return joined.length < desired ? { counts: "joined", progress: of(joined.length) } : undefined;
}

const isFailed = (machine: ObjectNode): boolean =>
  has(machine, "HealthCheckSucceeded", "False") && has(machine, "OwnerRemediated", "False");

type Step = Pick<Activity, "doing" | "since">;

/** One Machine after the other: the one that goes, then the one that comes, then what the control plane itself waits for. */
function currentStep(node: ObjectNode, machines: readonly ObjectNode[]): Step {
  const byAge = machines.toSorted((a, b) => ((a.created ?? "") < (b.created ?? "") ? -1 : 1));
  const leaving = byAge.find(({ deleting }) => deleting);
  if (leaving !== undefined)
    return {
      doing: `Machine ${leaving.name} is being deleted${said(leaving, "Deleting")}`,
      since: leaving.deletedAt ?? "",
    };
  const joining = byAge.find(({ initialized }) => initialized !== true);
  if (joining !== undefined) return joiningStep(joining);
  const failed = byAge.find(isFailed);
  if (failed !== undefined)
    return {
      doing: `Machine ${failed.name} has failed its health check${said(failed, "OwnerRemediated")}`,
      since: conditionOf(failed, "OwnerRemediated")?.lastTransitionTime ?? "",
    };
  const starting = byAge.findLast((machine) => !has(machine, "Ready", "True"));
  if (starting !== undefined)
    return {
      doing: `Machine ${starting.name} is not ready${said(starting, "Ready")}`,
      since: conditionOf(starting, "Ready")?.lastTransitionTime ?? starting.created ?? "",
    };
  return ownStep(node);
}

/** A Machine that has no Node yet: the step since the one before was complete. */
function joiningStep(machine: ObjectNode): Step {
  const steps = [
    ["BootstrapConfigReady", "its bootstrap data"],
    ["InfrastructureReady", "its infrastructure"],
  ] as const;
  let since = machine.created ?? "";
  for (const [type, what] of steps) {
    const condition = conditionOf(machine, type);
    if (condition?.status !== "True")
      return { doing: `Machine ${machine.name} waits for ${what}${said(machine, type)}`, since };
    if (condition.lastTransitionTime > since) since = condition.lastTransitionTime;
  }
  return { doing: `Machine ${machine.name} waits for its Node`, since };
}

/** What the controller itself reports: the next Machine is not chosen yet, or something holds it. */
function ownStep(node: ObjectNode): Step {
  const moving = ["RollingOut", "ScalingUp", "ScalingDown"]
    .map((type) => conditionOf(node, type))
    .find((condition) => condition?.status === "True");
  const progressing = conditionOf(node, "Progressing");
  const doing = progressing?.reason === "Complete" ? "" : withoutCount(headline(progressing?.message ?? ""));
  return { doing, since: moving?.lastTransitionTime ?? "" };
}

function said(machine: ObjectNode, type: string): string {
  const text = headline(conditionOf(machine, type)?.message ?? "").replace(/^\* /, "");
  return text === "" ? "" : `: ${text}`;
}

function has(node: ObjectNode, type: string, status: Condition["status"]): boolean {
  return conditionOf(node, type)?.status === status;
}

function conditionOf(node: ObjectNode, type: string): Condition | undefined {
  return node.conditions.find((condition) => condition.type === type);
}
