import { deepEqual, findCondition, type LabelSelector, ownerReference, selectorOrProblem } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ClusterKey,
  CONNECTING_MS,
  type ConditionInput,
  conditionsOf,
  isControlPlaneMachine,
  Machine,
  MachineHealthCheck,
  type Node,
  PAUSED_ANNOTATION,
  pausedCondition,
  reach,
  SKIP_REMEDIATION_ANNOTATION,
  type WorkloadClusters,
  type WorkloadConnection,
  withTransitionTimes,
} from "@capstan/capi";
import {
  done,
  ensureStatusIfPresent,
  type ReconcileContext,
  type Request,
  type Result,
  requeueAfter,
} from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";
import { evaluate, type NodeState, type Target, type Verdict } from "./evaluate.ts";
import { externalRemediation } from "./external-remediation.ts";
import type { HealthCheckClock } from "./health-check-clock.ts";
import { writeMachineConditions } from "./machine-conditions.ts";
import { remediationPermission } from "./remediation-limit.ts";

/** Reconciles a MachineHealthCheck: checks its Machines, reports their health and requests remediation of unhealthy ones. */
export async function reconcileMachineHealthCheck(
  request: Request,
  context: ReconcileContext,
  workload: WorkloadClusters,
  clocks: HealthCheckClock,
): Promise<Result> {
  const check = context.cache.get(MachineHealthCheck, request);
  if (check === undefined || check.metadata.deletionTimestamp !== undefined) return done();
  const cluster = context.cache.get(Cluster, { namespace: request.namespace, name: check.spec.clusterName });
  const paused = pausedCondition(check, cluster);
  if (cluster === undefined || paused.status === "True") {
    const conditions = cluster === undefined ? [noCluster(check), paused] : [paused, ...kept(check)];
    await writeStatus(check, conditions, {}, context);
    return done();
  }
  const isCurrent = (): boolean => !context.cache.problems().some(({ kind }) => kind.kind === Machine.kind);
  const awakeSinceMs = clocks.awakeSince(context.clock, isCurrent);
  clocks.keepWatching(context.clock, context.signal, {
    needed: () => context.cache.list(MachineHealthCheck).length > 0,
    isCurrent,
  });
  await ensureOwned(check, cluster, context);

  const selector = selectorOrProblem(check.spec.selector, "spec.selector");
  if (selector.problem !== undefined) {
    await writeStatus(check, [invalidSelector(selector.problem), paused], {}, context);
    return done();
  }
  const workloadKey = { namespace: request.namespace ?? "", name: check.spec.clusterName };
  const connection = workload.get(workloadKey);
  // Results from before a restart hold until the Nodes are visible; a change of them triggers a reconcile.
  const patienceMs = connection.state === "connecting" ? connection.since + CONNECTING_MS - context.clock.now() : 0;
  if (patienceMs > 0 && check.status?.expectedMachines !== undefined) return requeueAfter(patienceMs);
  const targets = targetsOf(check, selector, connectionsFor(workloadKey, workload, context), context);
  const judged = targets.map((target) => ({
    target,
    verdict: evaluate({
      checks: check.spec.checks ?? {},
      cluster,
      target,
      nowMs: context.clock.now(),
      awakeSinceMs,
    }),
  }));
  const healthy = judged.filter(({ verdict }) => verdict.state === "healthy").length;
  const unhealthy = judged.filter(({ verdict }) => verdict.state === "unhealthy").length;
  const permission = remediationPermission(check.spec.remediation?.triggerIf, {
    total: targets.length,
    healthy,
    unhealthy,
  });
  if (!permission.allowed && unhealthy > 0) reportRestriction(check, permission.condition, context);

  for (const { target, verdict } of judged) await settle(check, target.machine, verdict, permission.allowed, context);
  await writeStatus(
    check,
    [permission.condition, paused],
    {
      expectedMachines: targets.length,
      currentHealthy: healthy,
      remediationsAllowed: permission.remaining,
      targets: targets.map(({ machine }) => machine.metadata.name ?? "").sort(),
    },
    context,
  );
  const rechecks = judged.flatMap(({ verdict }) =>
    verdict.state === "undecided" && verdict.recheckMs !== undefined ? [verdict.recheckMs] : [],
  );
  return rechecks.length === 0 ? done() : requeueAfter(Math.min(...rechecks));
}

function noCluster(check: MachineHealthCheck): ConditionInput {
  return {
    type: "RemediationAllowed",
    status: "Unknown",
    reason: "ObjectDoesNotExist",
    message: `Cluster ${check.spec.clusterName} does not exist; create it, or correct spec.clusterName`,
  };
}

function invalidSelector(message: string): ConditionInput {
  return { type: "RemediationAllowed", status: "Unknown", reason: "InvalidSelector", message };
}

/** The last results before pausing stay visible. */
function kept(check: MachineHealthCheck): ConditionInput[] {
  const found = findCondition(conditionsOf(check), "RemediationAllowed");
  return found === undefined
    ? []
    : [{ type: found.type, status: found.status, reason: found.reason, message: found.message }];
}

/** The Cluster owns its checks, so that deleting and moving reach them. */
async function ensureOwned(check: MachineHealthCheck, cluster: Cluster, context: ReconcileContext): Promise<void> {
  const { namespace, name } = check.metadata;
  await context.client.ensure(
    {
      apiVersion: MachineHealthCheck.apiVersion,
      kind: MachineHealthCheck.kind,
      metadata: {
        namespace,
        name,
        labels: { [CLUSTER_NAME_LABEL]: check.spec.clusterName },
        ownerReferences: [ownerReference(cluster)],
      },
    } as unknown as MachineHealthCheck,
    check,
  );
}

function targetsOf(
  check: MachineHealthCheck,
  selector: LabelSelector,
  connectionOf: (machine: Machine) => WorkloadConnection,
  context: ReconcileContext,
): Target[] {
  const namespace = check.metadata.namespace ?? "";
  // An empty selector would select every Machine of the cluster; it is refused at admission, and here it selects none.
  if (selector.empty) return [];
  return context.cache
    .byIndex(Machine, BY_CLUSTER, clusterKey(namespace, check.spec.clusterName))
    .filter((machine) => selector.matches(machine.metadata.labels))
    .filter(({ metadata: { annotations } }) => annotations?.[PAUSED_ANNOTATION] === undefined)
    .filter(({ metadata: { annotations } }) => annotations?.[SKIP_REMEDIATION_ANNOTATION] === undefined)
    .map((machine) => ({ machine, node: nodeState(machine, connectionOf(machine)) }));
}

/**
 * While the endpoint is down, Nodes of the control plane are judged by what the API at the control plane Machines reports, as one of them
 * may be the reason. Other Nodes are not: their kubelets need the endpoint, and replacing them would not help. Neither are any if most
 * Nodes of the control plane are not ready, because then their kubelets need the endpoint too.
 */
function connectionsFor(
  cluster: ClusterKey,
  workload: WorkloadClusters,
  { cache }: ReconcileContext,
): (machine: Machine) => WorkloadConnection {
  const endpoint = workload.get(cluster);
  const controlPlane = cache
    .byIndex(Machine, BY_CLUSTER, clusterKey(cluster.namespace, cluster.name))
    .filter(isControlPlaneMachine);
  if (endpoint.state !== "down" || controlPlane.length === 0) return () => endpoint;
  const atMachines = reach(workload, cluster);
  if (atMachines.state !== "connected") return () => endpoint;
  const ready = controlPlane.filter(({ status }) => isReady(atMachines.nodes.get(status?.nodeRef?.name ?? "")));
  if (ready.length * 2 <= controlPlane.length) return () => endpoint;
  return (machine) => (isControlPlaneMachine(machine) ? atMachines : endpoint);
}

function isReady(node: Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}

/** A Node that cannot be looked up now is unknown, which never counts as deleted. */
function nodeState(machine: Machine, connection: WorkloadConnection): NodeState {
  const name = machine.status?.nodeRef?.name;
  if (name === undefined) return { state: "none" };
  if (connection.state !== "connected") return { state: "unknown" };
  const node = connection.nodes.get(name);
  return node === undefined ? { state: "deleted", name, sinceMs: connection.since } : { state: "found", node };
}

function reportRestriction(check: MachineHealthCheck, condition: ConditionInput, context: ReconcileContext): void {
  const before = findCondition(conditionsOf(check), condition.type);
  if (before?.status === condition.status && before.message === condition.message) return;
  context.recorder.event(check, "Warning", "RemediationRestricted", "Remediate", condition.message);
}

/** Writes the result to the Machine and, if allowed, requests its remediation. */
async function settle(
  check: MachineHealthCheck,
  machine: Machine,
  verdict: Verdict,
  allowed: boolean,
  context: ReconcileContext,
): Promise<void> {
  if (verdict.state === "undecided") return;
  const before = findCondition(conditionsOf(machine), "HealthCheckSucceeded");
  const external = await externalRemediation(check, machine, verdict.state === "unhealthy" && allowed, context);
  const repair =
    external.used || verdict.state !== "unhealthy" || !allowed || machine.metadata.deletionTimestamp !== undefined
      ? undefined
      : ownerRemediation(machine);
  await writeMachineConditions(machine, verdict.condition, external.condition ?? repair, context);
  const news = before?.status !== verdict.condition.status || before.message !== verdict.condition.message;
  if (verdict.state === "unhealthy" && allowed && news)
    context.recorder.event(
      machine,
      "Normal",
      "MachineMarkedUnhealthy",
      "HealthCheck",
      `Machine ${key(machine)} has been marked as unhealthy by ${key(check)}`,
    );
}

/** A repair under way is its owner's to finish: the condition is set when missing or when the last repair is over. */
function ownerRemediation(machine: Machine): ConditionInput | undefined {
  const current = findCondition(conditionsOf(machine), "OwnerRemediated");
  if (current !== undefined && current.status !== "True") return undefined;
  return {
    type: "OwnerRemediated",
    status: "False",
    reason: "WaitingForRemediation",
    message: "Waiting for remediation",
  };
}

function key(object: { metadata: { namespace?: string; name?: string } }): string {
  return `${object.metadata.namespace}/${object.metadata.name}`;
}

async function writeStatus(
  check: MachineHealthCheck,
  conditions: ConditionInput[],
  counts: Partial<NonNullable<MachineHealthCheck["status"]>>,
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name, generation } = check.metadata;
  const { conditions: _, deprecated: _d, ...before } = check.status ?? {};
  const status = {
    ...before,
    ...counts,
    conditions: withTransitionTimes(conditions, conditionsOf(check), context.clock.now(), generation),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  if (deepEqual(check.status, status)) return;
  const desired = {
    apiVersion: MachineHealthCheck.apiVersion,
    kind: MachineHealthCheck.kind,
    metadata: { namespace, name },
    status,
  } as unknown as MachineHealthCheck;
  const live = context.cache.get(MachineHealthCheck, { namespace, name: name ?? "" });
  await ensureStatusIfPresent(context, desired, live);
}
