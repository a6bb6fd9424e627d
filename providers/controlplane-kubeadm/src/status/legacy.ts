import { type Condition, findCondition, formatTime } from "@capstan/apimachinery";
import { conditionsOf, type KubeadmControlPlane, type Machine } from "@capstan/capi";
import type { Findings } from "../findings.ts";
import { COMPONENT_CONDITIONS } from "../plan/preflight.ts";
import type { PlaneScope } from "../scope.ts";

/** What the fields of v1beta1 are computed from. */
export interface LegacyInput {
  readonly scope: PlaneScope;
  readonly findings: Findings;
  readonly machines: readonly Machine[];
  readonly initialized: boolean;
  readonly conditions: readonly Condition[];
  /** The object with what was reported before. */
  readonly before: KubeadmControlPlane;
  readonly nowMs: number;
}

type Legacy = NonNullable<NonNullable<NonNullable<KubeadmControlPlane["status"]>["deprecated"]>["v1beta1"]>;
type LegacyCondition = NonNullable<Legacy["conditions"]>[number];
type Severity = "Info" | "Warning" | "Error";

/** Returns the counters and conditions that clients of v1beta1 read, as upstream computes them. */
export function legacyStatus(input: LegacyInput): Legacy {
  const { machines, conditions, before } = input;
  const ready = machines.filter((machine) => isTrue(machine, "NodeReady")).length;
  const old = before.status?.deprecated?.v1beta1?.conditions ?? [];
  const computed = [
    ...mirrored(conditions, "CertificatesAvailable", "CertificatesGenerationFailed", "Error"),
    ...(input.initialized ? health(input) : []),
    availableCondition(input),
    machinesCreated(input),
    machinesReady(conditions),
    ...resized(input, old),
    ...specUpToDate(input, old),
  ];
  const all = [summary(computed), ...computed].map((condition) => timed(condition, old, input.nowMs));
  return {
    conditions: all.sort((a, b) => rank(a) - rank(b) || (a.type < b.type ? -1 : 1)),
    updatedReplicas: machines.length - (input.findings.outdated?.size ?? 0),
    readyReplicas: ready,
    unavailableReplicas: machines.length - ready,
  };
}

type Untimed = Omit<LegacyCondition, "lastTransitionTime">;

const yes = (type: string): Untimed => ({ type, status: "True" });
const no = (type: string, severity: Severity, reason: string, message: string): Untimed => ({
  type,
  status: "False",
  severity,
  reason,
  ...(message === "" ? {} : { message }),
});

function mirrored(conditions: readonly Condition[], type: string, reason: string, severity: Severity): Untimed[] {
  const found = findCondition(conditions, type);
  if (found === undefined) return [];
  if (found.status === "True") return [yes(type)];
  if (found.status === "False") return [no(type, severity, reason, found.message)];
  return [
    { type, status: "Unknown", reason: found.reason, ...(found.message === "" ? {} : { message: found.message }) },
  ];
}

/** Before there is a cluster to look at they are not reported. */
function health({ conditions, machines, findings }: LegacyInput): Untimed[] {
  const { apiServer, controllerManager, scheduler, etcdPod, etcdMember } = COMPONENT_CONDITIONS;
  const strays = (findings.observation?.strayNodes.length ?? 0) > 0;
  const severity = (types: readonly string[], always: boolean): Severity =>
    always || machines.some((machine) => types.some((type) => hasFailed(machine, type))) ? "Error" : "Info";
  const pods = severity([apiServer, controllerManager, scheduler, etcdPod], strays);
  const member = severity(
    [etcdMember],
    machines.every((machine) => !isFalse(machine, etcdMember)),
  );
  return [
    ...mirrored(conditions, "EtcdClusterHealthy", "EtcdClusterUnhealthy", member),
    ...mirrored(conditions, "ControlPlaneComponentsHealthy", "ControlPlaneComponentsUnhealthy", pods),
  ];
}

/** What starts or ends is no failure. */
function hasFailed(machine: Machine, type: string): boolean {
  const found = findCondition(conditionsOf(machine), type);
  return found?.status === "False" && found.reason !== "Provisioning" && found.reason !== "Deleting";
}

function isFalse(machine: Machine, type: string): boolean {
  return findCondition(conditionsOf(machine), type)?.status === "False";
}

function availableCondition({ initialized }: LegacyInput): Untimed {
  return initialized ? yes("Available") : no("Available", "Info", "WaitingForKubeadmInit", "");
}

function machinesCreated({ findings }: LegacyInput): Untimed {
  const { templateProblem, error, plan } = findings;
  if (templateProblem !== undefined)
    return no("MachinesCreated", "Error", "InfrastructureTemplateCloningFailed", templateProblem);
  if (error !== undefined && plan?.step.type === "create")
    return no("MachinesCreated", "Error", "MachineGenerationFailed", messageOf(error.cause));
  return yes("MachinesCreated");
}

function machinesReady(conditions: readonly Condition[]): Untimed {
  const found = findCondition(conditions, "MachinesReady");
  if (found === undefined || found.status === "True") return yes("MachinesReady");
  return no("MachinesReady", "Info", found.reason, found.message);
}

function resized({ scope, machines }: LegacyInput, old: readonly LegacyCondition[]): Untimed[] {
  const { object, deleting } = scope;
  const type = "Resized";
  if (deleting) return [no(type, "Info", "Deleting", "")];
  const desired = object.spec.replicas ?? 1;
  const count = machines.length;
  const text = (direction: string): string =>
    `Scaling ${direction} control plane to ${desired} replicas (actual ${count})`;
  if (count < desired) return [no(type, "Warning", "ScalingUp", text("up"))];
  if (count > desired) return [no(type, "Warning", "ScalingDown", text("down"))];
  if (machines.every((machine) => isTrue(machine, "Ready"))) return [yes(type)];
  return old.filter((condition) => condition.type === type);
}

/** Appears with the first rollout, and stays. */
function specUpToDate({ findings, machines }: LegacyInput, old: readonly LegacyCondition[]): Untimed[] {
  const type = "MachinesSpecUpToDate";
  const count = findings.outdated?.size ?? 0;
  if (count > 0) {
    const text = `Rolling ${count} replicas with outdated spec (${machines.length - count} replicas up to date)`;
    return [no(type, "Warning", "RollingUpdateInProgress", text)];
  }
  return old.some((condition) => condition.type === type) ? [yes(type)] : [];
}

const SUMMARIZED = [
  "MachinesCreated",
  "MachinesSpecUpToDate",
  "Resized",
  "MachinesReady",
  "Available",
  "CertificatesAvailable",
];
const SEVERITIES: readonly unknown[] = ["Error", "Warning", "Info"];

/** The first condition of the highest severity counts. */
function summary(conditions: readonly Untimed[]): Untimed {
  const parts = SUMMARIZED.flatMap((type) => conditions.find((condition) => condition.type === type) ?? []);
  const issues = parts.filter(({ status }) => status === "False");
  const worst = issues.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))[0];
  return worst === undefined ? yes("Ready") : { ...worst, type: "Ready" };
}

function timed(condition: Untimed, old: readonly LegacyCondition[], nowMs: number): LegacyCondition {
  const before = old.find(({ type }) => type === condition.type);
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : formatTime(nowMs);
  return { ...condition, lastTransitionTime } as LegacyCondition;
}

function rank({ type }: Untimed): number {
  return type === "Ready" ? 0 : 1;
}

function isTrue(machine: Machine, type: string): boolean {
  return findCondition(conditionsOf(machine), type)?.status === "True";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
