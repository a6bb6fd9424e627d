import { createMachines, type Machine, newMachineName, planProblem } from "@capstan/capi";
import { inParallel, releaseFinalizer } from "@capstan/runtime";
import { CLEANUP_HOOK, FINALIZER, REMEDIATION_FOR, REMEDIATION_IN_PROGRESS, STARTS_CLUSTER } from "./annotations.ts";
import { type Findings, recheckAt } from "./findings.ts";
import type { Step } from "./plan/step.ts";
import type { ControlPlaneView, RemediationRecord } from "./plan/view.ts";
import { formatRecord } from "./remediation-record.ts";
import { type OwnedScope, planOfNew, targetOf } from "./scope.ts";

const PARALLEL = 10;
const DEFAULT_NAMING = "{{ .kubeadmControlPlane.name }}-{{ .random }}";
/** What follows the removal of a member is seen in etcd, which is read again then. */
const MEMBER_REMOVED_MS = 1_000;

/** What a step is carried out on. */
export interface ActInput {
  readonly scope: OwnedScope;
  readonly machines: readonly Machine[];
  readonly view: ControlPlaneView;
}

/** Carries out one step of a plan. Each write leaves a state from which the same plan follows again. */
export async function act(input: ActInput, step: Step, findings: Findings): Promise<void> {
  const { scope, view } = input;
  const { context } = scope;
  switch (step.type) {
    case "none":
      return await settle(input, findings);
    case "wait":
      recheckAt(findings, context.clock.now() + step.recheckMs);
      return;
    case "create":
      return await create(input, step);
    case "delete":
      return await remove(input, step);
    case "removeMember": {
      await scope.side.removeMember(targetOf(scope, input.machines), step.memberId, otherMembers(view, step.memberId));
      recheckAt(findings, context.clock.now() + MEMBER_REMOVED_MS);
      return;
    }
    case "releaseHook":
      return await release(input, step);
    case "deleteAll":
      return await removeAll(input, step.machines);
    case "finished":
      await releaseFinalizer(context.client, scope.object, FINALIZER);
      scope.side.forget(scope.key);
      findings.finished = true;
  }
}

/** Nothing is pending: what runs in the cluster follows the version. */
async function settle({ scope, machines, view }: ActInput, findings: Findings): Promise<void> {
  if (!view.initialized || findings.observation?.unreachable !== undefined) return;
  const problem = await scope.side.updateAddons(targetOf(scope, machines), scope.context);
  if (problem === undefined) return;
  findings.addons = problem;
  recheckAt(findings, scope.context.clock.now() + ADDONS_RETRY_MS);
}

const ADDONS_RETRY_MS = 30_000;

async function create(
  { scope, machines, view }: ActInput,
  { mode, failureDomain }: Extract<Step, { type: "create" }>,
): Promise<void> {
  const { object, context, key } = scope;
  const plan = planOfNew(scope, mode);
  // A condition of the control plane reports it.
  if (planProblem(plan) !== undefined) return;
  if (mode === "join") await scope.side.prepareRollout(targetOf(scope, machines), context);
  const template = object.spec.machineNaming?.template ?? DEFAULT_NAMING;
  const values = { cluster: { name: key.name }, kubeadmControlPlane: { name: object.metadata.name ?? "" } };
  const { inProgress } = view.remediation;
  try {
    const name = newMachineName(context, object.metadata.namespace, template, values);
    const annotations = {
      [CLEANUP_HOOK]: "",
      ...(mode === "init" ? { [STARTS_CLUSTER]: "" } : {}),
      ...(inProgress === undefined ? {} : { [REMEDIATION_FOR]: formatRecord(inProgress) }),
    };
    await createMachines(plan, [{ name, failureDomain, annotations }], context);
  } catch (error) {
    const [reason, what] =
      mode === "init"
        ? ["FailedInitialization", "Failed to create initial control plane Machine"]
        : ["FailedScaleUp", "Failed to create additional control plane Machine"];
    context.recorder.event(object, "Warning", reason, "CreateMachine", `${what}: ${messageOf(error)}`);
    throw error;
  }
  if (inProgress !== undefined) await recordRemediation(scope, undefined);
}

async function remove(
  { scope, machines }: ActInput,
  { machine: name, why, moveLeaderTo, record }: Extract<Step, { type: "delete" }>,
): Promise<void> {
  const { object, context, side } = scope;
  const machine = machines.find(({ metadata }) => metadata.name === name);
  if (machine === undefined) return;
  const target = targetOf(scope, machines);
  try {
    if (why === "rollout") await side.prepareRollout(target, context);
    if (moveLeaderTo.length > 0) await side.moveLeader(target, moveLeaderTo);
    // Before the deletion, so that the replacement counts as a retry even if the manager stops in between.
    if (record !== undefined) await recordRemediation(scope, record);
    await context.client.delete(machine);
  } catch (error) {
    const note = `Failed to delete control plane Machine ${name}: ${messageOf(error)}`;
    context.recorder.event(object, "Warning", "FailedScaleDown", "DeleteMachine", note);
    throw error;
  }
  context.recorder.event(
    object,
    "Normal",
    "SuccessfulDelete",
    "DeleteMachine",
    `Deleted Machine ${name}: ${TEXT[why]}`,
  );
}

const TEXT = { rollout: "rollout", scaleDown: "scale down", remediation: "unhealthy" } as const;

/** Workers are gone, and nobody reads the data any more: all Machines go at the same time. */
async function removeAll(input: ActInput, names: readonly string[]): Promise<void> {
  const { object, context } = input.scope;
  try {
    await inParallel(machinesOf(input, names), PARALLEL, async (machine) => {
      await dropHook(input.scope, machine);
      if (machine.metadata.deletionTimestamp === undefined) await context.client.delete(machine);
    });
  } catch (error) {
    const note = `Failed to delete control plane Machines: ${messageOf(error)}`;
    context.recorder.event(object, "Warning", "FailedDelete", "DeleteMachine", note);
    throw error;
  }
}

async function release(
  input: ActInput,
  { machine: name, removeMember, moveLeaderTo }: Extract<Step, { type: "releaseHook" }>,
): Promise<void> {
  const { scope, machines } = input;
  if (removeMember !== undefined) await scope.side.removeMember(targetOf(scope, machines), removeMember, moveLeaderTo);
  for (const machine of machinesOf(input, [name])) await dropHook(scope, machine);
}

async function dropHook({ context }: OwnedScope, machine: Machine): Promise<void> {
  if (machine.metadata.annotations?.[CLEANUP_HOOK] === undefined) return;
  await context.client.patch(machine, { metadata: { annotations: { [CLEANUP_HOOK]: null } } });
}

/** Sets or removes the record of the remediation whose replacement has yet to be created. */
export async function recordRemediation(
  { object, context }: OwnedScope,
  record: RemediationRecord | undefined,
): Promise<void> {
  const value = record === undefined ? null : formatRecord(record);
  if (value === (object.metadata.annotations?.[REMEDIATION_IN_PROGRESS] ?? null)) return;
  await context.client.patch(object, { metadata: { annotations: { [REMEDIATION_IN_PROGRESS]: value } } });
}

function machinesOf({ machines }: ActInput, names: readonly string[]): Machine[] {
  return machines.filter(({ metadata }) => names.includes(metadata.name ?? ""));
}

function otherMembers({ members }: ControlPlaneView, memberId: string): string[] {
  if ("unknown" in members) return [];
  return members.filter(({ id, learner, name }) => id !== memberId && !learner && name !== "").map(({ id }) => id);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
