import { type Condition, findCondition } from "@capstan/apimachinery";
import {
  type ConditionInput,
  type Machine,
  machineAggregates,
  scalingDown,
  scalingUp,
  staleDeletions,
} from "@capstan/capi";
import { hostPort } from "@capstan/controlplane";
import type { Findings } from "../findings.ts";
import { REASONS } from "../own-reasons.ts";
import { COMPONENT_CONDITIONS } from "../plan/preflight.ts";
import type { WaitReason } from "../plan/step.ts";
import type { PlaneScope } from "../scope.ts";
import type { WorkloadProblem } from "../workload/workload-side.ts";
import { available } from "./available.ts";
import { componentHealth } from "./component-health.ts";
import { membersMatch } from "./members-match.ts";
import { remediating, rollingOut } from "./rollout-conditions.ts";

/** What the conditions of a control plane are computed from. */
export interface PlaneStatusInput {
  readonly scope: PlaneScope;
  /** What was reported before. */
  readonly before: readonly Condition[];
  readonly findings: Findings;
  /** As this reconcile has left them. */
  readonly machines: readonly Machine[];
  readonly initialized: boolean;
  readonly initializedAtMs: number;
  readonly nowMs: number;
}

/** Computes all conditions of a control plane that is not paused, and when one changes without an event. */
export function planeConditions(input: PlaneStatusInput): { conditions: ConditionInput[]; recheckAtMs: number } {
  const { scope, findings, machines, initialized } = input;
  const { condition, recheckAtMs } = availability(input);
  const certificates = certificatesOf(input);
  const conditions: ConditionInput[] = [
    condition,
    ...(certificates === undefined ? [] : [certificates]),
    initialized
      ? { type: "Initialized", status: "True", reason: "Initialized", message: "" }
      : { type: "Initialized", status: "False", reason: "NotInitialized", message: "" },
    ...health(input),
    ...machineAggregates(machines),
    rollingOut(machines),
    ...scaling(input),
    remediating(machines),
    ...problemCondition("AddonsUpToDate", findings.addons),
    ...problemCondition("EtcdStable", findings.observation?.etcdTrouble),
    ...problemCondition("ChangesPossible", changeProblem(input)),
    findings.deleting === undefined
      ? { type: "Deleting", status: "False", reason: "NotDeleting", message: "" }
      : { type: "Deleting", status: "True", ...findings.deleting },
    scope.paused,
  ];
  return { conditions, recheckAtMs };
}

/** A control plane that is being deleted keeps what was found out about its certificates. */
function certificatesOf({ findings, before }: PlaneStatusInput): ConditionInput | undefined {
  if (findings.certificates !== undefined) return findings.certificates;
  const { type, status, reason, message } = findCondition(before, "CertificatesAvailable") ?? {};
  return type === undefined ? undefined : ({ type, status, reason, message } as ConditionInput);
}

/** What connections report about a certificate that the cluster's authority has not signed. */
const FOREIGN = /its certificate is that of /;

/** The API answers at its endpoint at the latest when the first Machine runs. */
function notInitialized({ scope, findings, machines }: PlaneStatusInput): string {
  const text = "Control plane not yet initialized";
  const first = machines.find(({ status }) => status?.initialization?.infrastructureProvisioned === true);
  const unreachable = findings.observation?.unreachable;
  const endpoint = scope.cluster?.spec?.controlPlaneEndpoint;
  if (first === undefined || unreachable === undefined || endpoint === undefined) return text;
  const address = hostPort(endpoint.host ?? "", endpoint.port ?? 0);
  const lead = FOREIGN.test(unreachable)
    ? `Another server answers there: remove ${address} from it, or let the load balancer forward it to this Machine`
    : `Check that ${address} leads to this Machine`;
  const cure = `${lead}; for the next step, run: capstan why ${namesOf(scope)}`;
  return `${text}: Machine ${first.metadata.name} is provisioned, but the API does not answer at ${address} (${unreachable}). ${cure}`;
}

/** What keeps a control plane that serves from changing; a Machine that just starts or drains is no problem. */
function changeProblem({ findings, initialized }: PlaneStatusInput): WorkloadProblem | undefined {
  if (!initialized) return undefined;
  if (findings.blocker !== undefined) return findings.blocker;
  const step = findings.plan?.step;
  return step?.type === "wait" && HELD.has(step.reason) ? step : undefined;
}

const HELD: ReadonlySet<WaitReason> = new Set([
  "QuorumWouldBeLost",
  "NoHealthyControlPlane",
  "LeaderUnknown",
  "OrphanedMember",
  "MembersUnknown",
]);

/** Conditions of our own appear only with a problem. */
function problemCondition(type: string, problem: WorkloadProblem | undefined): ConditionInput[] {
  return problem === undefined ? [] : [{ type, status: "False", reason: problem.reason, message: problem.message }];
}

function endpointDownMessage(scope: PlaneScope, why: string): string {
  const { host = "", port = 0 } = scope.cluster?.spec?.controlPlaneEndpoint ?? {};
  const cure = `Repair the load balancer or the static pod that holds the virtual IP; for what the Machines report, run: capstan describe cluster ${namesOf(scope)}`;
  return `The API answers at the Machines of the control plane, but not at the endpoint ${hostPort(host, port)}: ${why}. ${cure}`;
}

/** The Cluster as arguments of a command. */
function namesOf({ cluster, object }: PlaneScope): string {
  return `${cluster?.metadata.name ?? ""} -n ${object.metadata.namespace ?? "default"}`;
}

function availability(input: PlaneStatusInput): { condition: ConditionInput; recheckAtMs: number } {
  const { scope, findings, machines, initialized, initializedAtMs, nowMs } = input;
  const { blocker, observation } = findings;
  const not = (reason: string, message: string) => ({
    condition: { type: "Available", status: "False" as const, reason, message },
    recheckAtMs: Infinity,
  });
  if (blocker !== undefined && !initialized) return not(blocker.reason, blocker.message);
  if (!initialized) return not("NotAvailable", notInitialized(input));
  if (observation === undefined)
    return not(blocker?.reason ?? "NotAvailable", blocker?.message ?? "The control plane could not be inspected");
  // Machines that serve are of no use to anybody else.
  if (observation.endpointDown !== undefined && !scope.deleting)
    return not(REASONS.endpointDown, endpointDownMessage(scope, observation.endpointDown));
  return available({
    machines,
    members: observation.members,
    membersMatch: membersMatch(observation, machines).matching,
    etcdManaged: scope.etcdManaged,
    certificatesAvailable: certificatesOf(input)?.status === "True",
    deleting: scope.deleting,
    initializedAtMs,
    nowMs,
  });
}

function health({ scope, findings, machines, initialized }: PlaneStatusInput): ConditionInput[] {
  const { blocker, observation } = findings;
  const types = [
    ...(scope.etcdManaged ? (["EtcdClusterHealthy"] as const) : []),
    "ControlPlaneComponentsHealthy",
  ] as const;
  if (!initialized || observation === undefined) {
    const message = blocker?.message ?? "Waiting for Cluster control plane to be initialized";
    return types.map((type) => ({ type, status: "Unknown", reason: "InspectionFailed", message }));
  }
  const { apiServer, controllerManager, scheduler, etcdPod, etcdMember } = COMPONENT_CONDITIONS;
  const pods = [apiServer, controllerManager, scheduler, ...(scope.etcdManaged ? [etcdPod] : [])];
  const { problems } = membersMatch(observation, machines);
  return [
    ...(scope.etcdManaged
      ? [
          componentHealth({
            type: "EtcdClusterHealthy",
            machines,
            sources: [etcdMember],
            problems,
            subject: "etcd member",
          }),
        ]
      : []),
    componentHealth({
      type: "ControlPlaneComponentsHealthy",
      machines,
      sources: pods,
      problems: observation.strayNodes.map(
        (node) => `Control plane Node ${node} does not have a corresponding Machine`,
      ),
      subject: "control plane",
    }),
  ];
}

function scaling({ scope, findings, machines, nowMs }: PlaneStatusInput): ConditionInput[] {
  const { deleting, object } = scope;
  const desired = deleting ? 0 : object.spec.replicas;
  const current = machines.length;
  const missing = findings.templateProblem;
  const waits = preflightLines(findings, scope.etcdManaged);
  const stale = staleDeletions(machines, nowMs);
  return [
    scalingUp({
      desired,
      current,
      deleting,
      // What a Machine waits for would block it only now.
      blocked: [...(current < (desired ?? 0) ? waits : []), ...(missing === undefined ? [] : [missing])],
    }),
    scalingDown({ desired, current, deleting, blocked: waits, stale }),
  ];
}

/** What keeps the control plane from scaling, in upstream's words where it has some. */
function preflightLines({ plan }: Findings, etcdManaged: boolean): string[] {
  if (plan?.step.type !== "wait") return [];
  const { reason, message } = plan.step;
  switch (reason) {
    case "TopologyVersion":
      return [message.charAt(0).toLowerCase() + message.slice(1)];
    case "MachineDeleting":
      return ["waiting for a control plane Machine to complete deletion"];
    case "CertificatesMissing":
      return ["cluster certificates are missing or unknown"];
    case "NotHealthy":
      return [
        ...(COMPONENTS.test(message) ? ["waiting for control plane components to become healthy"] : []),
        ...(ETCD.test(message) || (etcdManaged && NO_NODE.test(message))
          ? ["waiting for etcd cluster to become healthy"]
          : []),
      ];
    // The condition Deleting names them.
    case "WorkersLeft":
      return [];
    default:
      return [message];
  }
}

const ETCD = /EtcdMemberHealthy/;
const NO_NODE = /nodeRef/;
const COMPONENTS = /(APIServer|ControllerManager|Scheduler|Etcd)PodHealthy|nodeRef/;
