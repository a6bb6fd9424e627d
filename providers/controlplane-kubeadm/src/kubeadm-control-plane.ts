import {
  isControlPlaneMachine,
  KubeadmControlPlane,
  type Machine,
  type MachineSync,
  planProblem,
  RECOVERY_ANNOTATION,
  validEndpoint,
} from "@capstan/capi";
import {
  done,
  ensureFinalizer,
  hasFinalizer,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requeueAfter,
} from "@capstan/runtime";
import { act, recordRemediation } from "./act.ts";
import { FINALIZER } from "./annotations.ts";
import { type Blocker, type Findings, recheckAt } from "./findings.ts";
import { controlPlaneOf, machinesOfCluster, poolsOfCluster } from "./indexes.ts";
import { isInitialized, mayBeInitialized, recordInitialization } from "./initialized.ts";
import { ControlPlaneRecovery } from "./kinds/control-plane-recovery.ts";
import { REASONS } from "./own-reasons.ts";
import { planControlPlane } from "./plan/plan.ts";
import type { Plan, Step } from "./plan/step.ts";
import type { ControlPlaneView } from "./plan/view.ts";
import { planeView } from "./plane-view.ts";
import { effectiveConfig } from "./preconditions/effective.ts";
import { type PreconditionDeps, stepProblem } from "./preconditions/step-problem.ts";
import { type BuiltMachine, rolloutDueMs, rolloutReasons } from "./rollout/up-to-date.ts";
import { configOf, type OwnedScope, type PlaneScope, readMachines, readOwned, readScope, targetOf } from "./scope.ts";
import { reportMachines, reportPlane } from "./status/report.ts";
import { adoptMachines } from "./steps/adopt.ts";
import { ensureCertificates } from "./steps/ensure-certificates.ts";
import { ensureKubeconfig } from "./steps/ensure-kubeconfig.ts";
import { ownTemplate } from "./steps/own-template.ts";
import { recordExpiries } from "./steps/record-expiries.ts";
import { syncMachines } from "./steps/sync-machines.ts";
import { nothingObserved } from "./unobserved.ts";
import type { ObserveOptions, WorkloadObservation, WorkloadSide } from "./workload/workload-side.ts";

/** Dependencies of the controller. */
export interface KubeadmControlPlaneDeps extends PreconditionDeps {
  readonly side: WorkloadSide;
  readonly sync: MachineSync;
}

/** Reconciles a KubeadmControlPlane: prepares what Machines need, takes one step of the plan, and then writes its status. */
export async function reconcileKubeadmControlPlane(
  request: Request,
  context: ReconcileContext,
  deps: KubeadmControlPlaneDeps,
): Promise<Result> {
  const object = context.cache.get(KubeadmControlPlane, request);
  if (object === undefined) return done();
  const scope = readScope(object, context, deps.side);
  const findings: Findings = { recheckAtMs: Infinity };
  const owned = await advance(scope, deps, findings);
  if (findings.finished === true) return done();
  await reportPlane(owned ?? scope, findings);
  if (findings.error !== undefined) throw findings.error.cause;
  const ms = findings.recheckAtMs - context.clock.now();
  return Number.isFinite(ms) ? requeueAfter(Math.max(ms, 0)) : done();
}

async function advance(
  scope: PlaneScope,
  deps: KubeadmControlPlaneDeps,
  findings: Findings,
): Promise<OwnedScope | undefined> {
  const { object, cluster, context, deleting } = scope;
  if (cluster === undefined) {
    if (deleting) return await removeOrphan(scope, findings);
    findings.blocker = {
      reason: REASONS.waitingForCluster,
      message: "Waiting for a Cluster to name this control plane in spec.controlPlaneRef",
    };
    return undefined;
  }
  const reference = cluster.spec?.controlPlaneRef;
  if (
    !deleting &&
    reference !== undefined &&
    !controlPlaneOf(cluster).some(({ name }) => name === object.metadata.name)
  ) {
    // An owner reference that a person wrote: two control planes would each start a cluster.
    findings.blocker = {
      reason: REASONS.waitingForCluster,
      message: `Cluster ${cluster.metadata.name} names another control plane in spec.controlPlaneRef, ${reference.kind} ${reference.name}: delete this one`,
    };
    return undefined;
  }
  const owned = await readOwned(scope, cluster);
  if (scope.paused.status === "True") return owned;
  if (!deleting) await ensureFinalizer(context.client, object, FINALIZER);
  else if (!hasFinalizer(object, FINALIZER)) return owned;
  try {
    await (deleting ? removePlane(owned, deps, findings) : runPlane(owned, deps, findings));
  } catch (error) {
    findings.error = { cause: error };
  }
  return owned;
}

/** Without a Cluster there is nothing to wait for, and no Machine belongs to it. */
async function removeOrphan({ object, context }: PlaneScope, findings: Findings): Promise<undefined> {
  await releaseFinalizer(context.client, object, FINALIZER);
  findings.finished = true;
  return undefined;
}

/** The steps in order; each that has to wait ends them. */
async function runPlane(scope: OwnedScope, deps: KubeadmControlPlaneDeps, findings: Findings): Promise<void> {
  const { cluster, object } = scope;
  await ownTemplate(scope);
  const recovery = object.metadata.annotations?.[RECOVERY_ANNOTATION];
  // Members, and what is written on them, are the recovery's business until its first Machine runs.
  if (recovery !== undefined) {
    recheckAt(findings, scope.context.clock.now() + RECOVERY_RECHECK_MS);
    return block(findings, { reason: REASONS.recovering, message: recoveryMessage(scope, recovery) });
  }
  const problem = planProblem(scope.plan);
  if (problem !== undefined) findings.templateProblem = problem;
  const machines = readMachines(scope);
  if (cluster.status?.initialization?.infrastructureProvisioned !== true)
    return block(findings, {
      reason: REASONS.waitingForInfrastructure,
      message: "Waiting for Cluster status.infrastructureReady to be true",
    });
  const certificates = await ensureCertificates(scope);
  findings.certificates = certificates.condition;
  // A Secret that a user brings is watched only once it has the Cluster's label.
  if (certificates.authorities === undefined) recheckAt(findings, scope.context.clock.now() + SECRETS_RECHECK_MS);
  const endpoint = validEndpoint(cluster.spec?.controlPlaneEndpoint);
  if (endpoint === undefined)
    return block(findings, {
      reason: REASONS.waitingForEndpoint,
      message:
        "Waiting for Cluster spec.controlPlaneEndpoint to be set: by the infrastructure cluster, or set it to the address of a load balancer or virtual IP",
    });
  if (certificates.authorities !== undefined)
    recheckAt(findings, await ensureKubeconfig(scope, endpoint, certificates.authorities));
  else if (!scope.initialized)
    return block(findings, { reason: REASONS.certificatesNotAvailable, message: certificates.condition.message });
  if (machines.standalone.length > 0) return block(findings, await adoptMachines(scope, machines.standalone));
  if (machines.foreign.length > 0) return block(findings, foreignMachines(machines.foreign));
  if (problem !== undefined && machines.owned.length === 0)
    return block(findings, { reason: REASONS.templateNotFound, message: problem });
  await syncMachines(scope, machines.owned, deps.sync);
  await takeStep(scope, deps, findings, []);
}

/** A recovery that is deleted before etcd has a leader leaves Machines that only another one can complete. */
function recoveryMessage({ context, key }: OwnedScope, name: string): string {
  const known = context.cache.synced(ControlPlaneRecovery);
  return known && context.cache.get(ControlPlaneRecovery, { namespace: key.namespace, name }) === undefined
    ? `ControlPlaneRecovery ${name} was deleted before it had replaced the control plane Machines. The control plane continues by itself once etcd has a leader. Without one, complete the recovery with another one: capstan recover ${key.name} -n ${key.namespace}`
    : `ControlPlaneRecovery ${name} replaces the control plane Machines: kubectl describe controlplanerecovery ${name} -n ${key.namespace}`;
}

function block(findings: Findings, blocker: Blocker | undefined): void {
  if (blocker !== undefined) findings.blocker = blocker;
}

function foreignMachines(machines: readonly Machine[]): Blocker {
  const names = machines.map(({ metadata }) => metadata.name ?? "").sort();
  return {
    reason: REASONS.foreignMachines,
    message: `Not all control plane Machines of the Cluster belong to this KubeadmControlPlane, which does not change any of them then: ${names.join(", ")}. Delete those of the other owner, or remove their label cluster.x-k8s.io/control-plane`,
  };
}

async function removePlane(scope: OwnedScope, deps: KubeadmControlPlaneDeps, findings: Findings): Promise<void> {
  await takeStep(scope, deps, findings, workersLeft(scope));
  const step = findings.plan?.step;
  const count = readMachines(scope).owned.length;
  findings.deleting =
    step?.type === "wait"
      ? { reason: "WaitingForWorkersDeletion", message: step.message }
      : { reason: "WaitingForMachineDeletion", message: `Deleting ${count} Machine${count === 1 ? "" : "s"}` };
}

/** Observes the cluster, reports it on the Machines, and carries out the step that follows. */
async function takeStep(
  scope: OwnedScope,
  deps: PreconditionDeps,
  findings: Findings,
  left: readonly string[],
): Promise<void> {
  const { desired, context } = scope;
  const machines = readMachines(scope).owned;
  const nowMs = context.clock.now();
  const outdated = new Map(
    machines.flatMap((machine) => {
      const reasons = rolloutReasons(desired, builtMachine(scope, machine), nowMs);
      return reasons.length === 0 ? [] : [[machine.metadata.name ?? "", reasons] as const];
    }),
  );
  findings.outdated = outdated;
  recheckAt(findings, rolloutDueMs(desired, machines, nowMs));
  const certificatesAvailable = findings.certificates?.status === "True";
  const look = async (options: ObserveOptions): Promise<Seen> => {
    const observation = await observe(scope, machines, options);
    const initialized = mayBeInitialized(scope, machines, observation);
    const view = planeView(scope, {
      machines,
      observation,
      outdated,
      certificatesAvailable,
      initialized,
      workersLeft: left,
    });
    return { observation, view, plan: planControlPlane(view) };
  };
  let seen = await look({});
  if (changesMembers(seen.plan.step)) seen = await look({ fresh: true });
  const { observation, view, plan } = seen;
  findings.observation = observation;
  findings.plan = plan;
  recheckAt(findings, nowMs + observation.recheckMs);
  // Before a step that would be wrong if it was forgotten.
  if (isInitialized(scope, machines, observation)) await recordInitialization(scope);
  await reportMachines(scope, machines, findings);
  await recordExpiries(scope, machines, observation);
  if (plan.remediationCompleted) await recordRemediation(scope, undefined);
  // A limit of time may be what defers a remediation.
  if (plan.deferral !== undefined) recheckAt(findings, nowMs + DEFERRAL_RECHECK_MS);
  const provisioning = machines.some(({ status }) => status?.nodeRef === undefined);
  if (plan.step.type === "wait" && plan.step.reason === "NotHealthy" && !provisioning)
    context.recorder.event(scope.object, "Warning", "ControlPlaneUnhealthy", "CheckControlPlane", plan.step.message);
  if (plan.step.type === "none" || plan.step.type === "wait") await scope.side.keepSpace(targetOf(scope, machines));
  const remediating = view.remediation.inProgress !== undefined;
  const problem = stepProblem(scope, machines, plan.step, deps, { outdated: outdated.size, remediating });
  if (problem !== undefined) return block(findings, problem);
  await act({ scope, machines, view }, plan.step, findings);
}

const RECOVERY_RECHECK_MS = 30_000;
const DEFERRAL_RECHECK_MS = 30_000;
const SECRETS_RECHECK_MS = 15_000;

/** The workload cluster at one moment, and what follows from it. */
interface Seen {
  readonly observation: WorkloadObservation;
  readonly view: ControlPlaneView;
  readonly plan: Plan;
}

/** Whether a step adds or removes a member of etcd: an answer of etcd from a minute ago may hide that another one has failed since. */
function changesMembers({ type }: Step): boolean {
  return type === "create" || type === "delete" || type === "removeMember" || type === "releaseHook";
}

async function observe(
  scope: OwnedScope,
  machines: readonly Machine[],
  options: ObserveOptions,
): Promise<WorkloadObservation> {
  if (machines.length === 0) return nothingObserved(machines, "there are no control plane Machines");
  return await scope.side.observe(targetOf(scope, machines), scope.context, options);
}

function builtMachine(scope: OwnedScope, machine: Machine): BuiltMachine {
  const config = configOf(scope, machine);
  return {
    machine,
    config: config === undefined ? undefined : effectiveConfig(config.spec ?? {}, scope.object, scope.cluster),
    // While all is deleted the template may be deleted first.
    infrastructure:
      scope.deleting && scope.infrastructure.template.state === "missing"
        ? undefined
        : scope.infrastructure.existing(machine.spec.infrastructureRef.name),
  };
}

/** Names what has to be deleted before the control plane, as upstream's message does. */
function workersLeft({ context, key }: OwnedScope): string[] {
  const list = (label: string, names: string[]): string[] =>
    names.length === 0 ? [] : [`${label}: ${names.sort().join(", ")}`];
  const workers = machinesOfCluster(context.cache, key).filter((machine) => !isControlPlaneMachine(machine));
  const nameOf = ({ metadata }: { metadata: { name?: string } }): string => metadata.name ?? "";
  return [
    ...list("MachinePools", poolsOfCluster(context.cache, key).map(nameOf)),
    ...list("Machines", workers.map(nameOf)),
  ];
}
