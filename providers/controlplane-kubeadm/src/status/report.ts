import { findCondition } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  CONTROL_PLANE_LABEL,
  type ConditionInput,
  conditionsOf,
  countMachines,
  countVersions,
  KubeadmControlPlane,
  Machine,
  progressing,
  withTransitionTimes,
} from "@capstan/capi";
import { inParallel } from "@capstan/runtime";
import { type Findings, recheckAt } from "../findings.ts";
import { isInitialized } from "../initialized.ts";
import { type OwnedScope, type PlaneScope, readMachines } from "../scope.ts";
import { unobserved } from "../unobserved.ts";
import { lastRemediation } from "./last-remediation.ts";
import { legacyStatus } from "./legacy.ts";
import { machineConditions } from "./machine-conditions.ts";
import { openWork } from "./open-work.ts";
import { planeConditions } from "./plane-conditions.ts";

const PARALLEL = 10;

/** Writes the conditions of each Machine that the control plane is responsible for. */
export async function reportMachines(
  scope: OwnedScope,
  machines: readonly Machine[],
  { observation, outdated, plan }: Findings,
): Promise<void> {
  if (observation === undefined || plan === undefined) return;
  const { context, etcdManaged } = scope;
  const known = isInitialized(scope, machines, observation);
  await inParallel(machines, PARALLEL, async (machine) => {
    const { namespace = "", name = "" } = machine.metadata;
    const seen = known ? observation.machines.get(name) : undefined;
    const computed = machineConditions({
      machine,
      observation: seen ?? unobserved(),
      outdated: outdated?.get(name),
      etcdManaged,
      plan,
    });
    const conditions = withTransitionTimes(
      computed,
      conditionsOf(machine),
      context.clock.now(),
      machine.metadata.generation,
    );
    const desired = {
      apiVersion: Machine.apiVersion,
      kind: Machine.kind,
      metadata: { namespace, name },
      status: { conditions },
    };
    const live = context.cache.get(Machine, { namespace, name });
    if (live !== undefined) await context.client.ensure(desired as Machine, live, { subresource: "status" });
  });
}

/** Writes the status of the control plane. */
export async function reportPlane(scope: PlaneScope | OwnedScope, findings: Findings): Promise<void> {
  const { context } = scope;
  const { namespace = "", name = "" } = scope.object.metadata;
  const object = context.cache.get(KubeadmControlPlane, { namespace, name });
  if (object === undefined) return;
  const status = scope.paused.status === "True" ? pausedStatus(object, scope) : runningStatus(object, scope, findings);
  const desired = {
    apiVersion: KubeadmControlPlane.apiVersion,
    kind: KubeadmControlPlane.kind,
    metadata: { namespace, name },
    status,
  };
  await context.ensureStatus(desired as KubeadmControlPlane, object);
}

type Status = NonNullable<KubeadmControlPlane["status"]>;

/** A paused control plane keeps what was last reported. */
function pausedStatus(object: KubeadmControlPlane, { paused, context }: PlaneScope): Status {
  const known = conditionsOf(object);
  const kept = known
    .filter(({ type }) => type !== paused.type)
    .map(({ type, status, reason, message }) => ({ type, status, reason, message }) as ConditionInput);
  const conditions = withTransitionTimes([...kept, paused], known, context.clock.now(), object.metadata.generation);
  return { ...object.status, conditions };
}

function runningStatus(object: KubeadmControlPlane, scope: PlaneScope | OwnedScope, findings: Findings): Status {
  const nowMs = scope.context.clock.now();
  const machines = "key" in scope ? readMachines(scope).owned : [];
  const { observation } = findings;
  const initialized = observation === undefined ? scope.initialized : isInitialized(scope, machines, observation);
  const before = conditionsOf(object);
  const since = findCondition(before, "Initialized");
  const initializedAtMs = since?.status === "True" ? Date.parse(since.lastTransitionTime) : nowMs;
  const { conditions: computed, recheckAtMs } = planeConditions({
    scope,
    findings,
    before,
    machines,
    initialized,
    initializedAtMs,
    nowMs,
  });
  recheckAt(findings, recheckAtMs);
  const timed = withTransitionTimes(computed, before, nowMs, object.metadata.generation);
  const advance = progressing(object, openWork(object, findings, timed, machines), nowMs);
  if (advance.dueMs !== undefined) recheckAt(findings, nowMs + advance.dueMs);
  const all = scope.deleting ? computed : [...computed, advance.condition];
  const conditions = withTransitionTimes(all, before, nowMs, object.metadata.generation);
  const versions = countVersions(machines);
  const remediation = lastRemediation(object, machines);
  return {
    ...("key" in scope ? { selector: `${CLUSTER_NAME_LABEL}=${scope.key.name},${CONTROL_PLANE_LABEL}` } : {}),
    ...countMachines(machines),
    ...(versions.length === 0 ? {} : { versions }),
    ...((versions[0]?.version ?? object.status?.version) === undefined
      ? {}
      : { version: versions[0]?.version ?? object.status?.version }),
    ...(initialized ? { initialization: { controlPlaneInitialized: true } } : {}),
    ...(remediation === undefined ? {} : { lastRemediation: remediation }),
    conditions,
    deprecated: {
      v1beta1: legacyStatus({ scope, findings, machines, initialized, conditions, before: object, nowMs }),
    },
    ...(findings.error === undefined && object.metadata.generation !== undefined
      ? { observedGeneration: object.metadata.generation }
      : object.status?.observedGeneration === undefined
        ? {}
        : { observedGeneration: object.status.observedGeneration }),
  } as Status;
}
