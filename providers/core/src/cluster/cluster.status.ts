import { findCondition } from "@capstan/apimachinery";
import {
  type Cluster,
  CONNECTING_MS,
  type ConditionInput,
  conditionsOf,
  failureDomainsOf,
  field,
  isControlPlaneMachine,
  type Machine,
  mirror,
  type Referenced,
  type SummaryInput,
  summarize,
  validEndpoint,
  type WorkloadConnection,
  withTransitionTimes,
} from "@capstan/capi";
import { clusterMachineConditions, movementConditions, workersAvailable } from "./cluster.aggregates.ts";
import type { ClusterScope } from "./cluster-scope.ts";
import { deprecatedConditions } from "./deprecated-conditions.ts";
import { secondaryCondition } from "./secondary-infrastructure.ts";

/** Initialization flags of the contract; once true, they stay true. */
export interface Initialization {
  infrastructureProvisioned: boolean;
  controlPlaneInitialized: boolean;
}

/** Everything that the status of a Cluster is computed from. */
export interface ClusterStatusInput {
  scope: ClusterScope;
  initialization: Initialization;
  paused: ConditionInput;
  connection: WorkloadConnection;
  /** Set while the Cluster is being deleted. */
  deleting: { reason: string; message: string } | undefined;
  nowMs: number;
}

/** Computes the complete status of a Cluster. */
export function clusterStatus(input: ClusterStatusInput): NonNullable<Cluster["status"]> {
  const { scope, initialization } = input;
  const computed = clusterConditions(input);
  const failureDomains = scope.infrastructure.state === "found" ? failureDomainsOf(scope.infrastructure.object) : [];
  const flags = {
    ...(initialization.infrastructureProvisioned ? { infrastructureProvisioned: true } : {}),
    ...(initialization.controlPlaneInitialized ? { controlPlaneInitialized: true } : {}),
  };
  const controlPlane = controlPlaneCounters(scope);
  const conditions = withTransitionTimes(
    computed,
    conditionsOf(scope.cluster),
    input.nowMs,
    scope.cluster.metadata.generation,
  );
  return {
    conditions,
    deprecated: { v1beta1: { conditions: deprecatedConditions(conditions) } },
    ...(Object.keys(flags).length > 0 ? { initialization: flags } : {}),
    controlPlane,
    workers: workerCounters(scope),
    ...(failureDomains.length > 0 ? { failureDomains } : {}),
    phase: phaseOf(input),
    observedGeneration: scope.cluster.metadata.generation,
  };
}

function phaseOf({
  scope,
  initialization,
}: ClusterStatusInput): "Pending" | "Provisioning" | "Provisioned" | "Deleting" {
  const { cluster } = scope;
  if (cluster.metadata.deletionTimestamp !== undefined) return "Deleting";
  if (initialization.infrastructureProvisioned && validEndpoint(cluster.spec?.controlPlaneEndpoint) !== undefined)
    return "Provisioned";
  return cluster.spec?.infrastructureRef !== undefined || cluster.spec?.controlPlaneRef !== undefined
    ? "Provisioning"
    : "Pending";
}

/** Computes all conditions of a Cluster; Available summarizes the others. */
export function clusterConditions(input: ClusterStatusInput): ConditionInput[] {
  const { scope } = input;
  const deleting: ConditionInput =
    input.deleting === undefined
      ? { type: "Deleting", status: "False", reason: "NotDeleting", message: "" }
      : { type: "Deleting", status: "True", ...input.deleting };
  const probe = remoteConnection(input);
  const infrastructure = infrastructureReady(input);
  const controlPlane = controlPlaneAvailable(input);
  const workers = workersAvailable(scope);
  const available = summarize(
    "Available",
    [
      { condition: deleting, negative: true },
      { condition: probe },
      { condition: infrastructure, info: isGoneOnPurpose(scope, infrastructure) },
      { condition: controlPlane, info: isGoneOnPurpose(scope, controlPlane) },
      { condition: workers },
      ...topologyInput(scope),
      ...(scope.cluster.spec?.availabilityGates ?? []).map((gate) => gateInput(scope, gate)),
    ],
    { good: "Available", bad: "NotAvailable", unknown: "AvailableUnknown" },
  );
  return [
    available,
    probe,
    infrastructure,
    controlPlaneInitializedCondition(input),
    controlPlane,
    workers,
    ...movementConditions(scope),
    ...clusterMachineConditions(scope),
    deleting,
    input.paused,
  ];
}

/** Missing objects of a Cluster that is being deleted are not errors. */
function isGoneOnPurpose({ cluster }: ClusterScope, { reason }: ConditionInput): boolean {
  return (
    cluster.metadata.deletionTimestamp !== undefined && (reason === "ObjectDeleted" || reason === "ObjectDoesNotExist")
  );
}

const TOPOLOGY_FAULTS = ["ReconcileFailed", "ClusterClassNotReconciled"];

/** A topology in progress leaves a cluster available; one that cannot be reconciled does not. */
function topologyInput(scope: ClusterScope): SummaryInput[] {
  if (scope.cluster.spec?.topology === undefined) return [];
  const input = gateInput(scope, { conditionType: "TopologyReconciled" });
  const { status, reason } = input.condition;
  return [{ ...input, info: status === "False" && !TOPOLOGY_FAULTS.includes(reason) }];
}

function gateInput(scope: ClusterScope, gate: { conditionType: string; polarity?: string }): SummaryInput {
  const found = findCondition(conditionsOf(scope.cluster), gate.conditionType);
  const missing: ConditionInput = {
    type: gate.conditionType,
    status: "Unknown",
    reason: "NotYetReported",
    message: `Condition ${gate.conditionType} not yet reported`,
  };
  return { condition: found ?? missing, negative: gate.polarity === "Negative" };
}

function remoteConnection({ scope, connection, initialization, nowMs }: ClusterStatusInput): ConditionInput {
  const before = findCondition(conditionsOf(scope.cluster), "RemoteConnectionProbe");
  // A manager that has just started keeps the status of its predecessor until it has observed the cluster.
  const believed =
    connection.state === "connecting" && nowMs - connection.since < CONNECTING_MS && before?.status === "True";
  if (connection.state === "connected" || believed)
    return { type: "RemoteConnectionProbe", status: "True", reason: "ProbeSucceeded", message: "" };
  const message = initialization.controlPlaneInitialized
    ? `Cannot reach the workload cluster's API: ${connection.error}`
    : "Waiting for the control plane to be initialized";
  return { type: "RemoteConnectionProbe", status: "False", reason: "ProbeFailed", message };
}

/** A sentence for a reference that leads nowhere, or undefined when it leads somewhere. */
function referenceProblem(referenced: Referenced, wasThere: boolean): ConditionInput | undefined {
  if (referenced.state === "unresolved")
    return { type: "", status: "Unknown", reason: "InvalidConditionReported", message: referenced.message };
  if (referenced.state !== "missing") return undefined;
  const what = `${referenced.reference.kind} ${referenced.reference.name}`;
  return wasThere
    ? {
        type: "",
        status: "False",
        reason: "ObjectDeleted",
        message: `${what} has been deleted while the Cluster still exists`,
      }
    : { type: "", status: "False", reason: "ObjectDoesNotExist", message: `${what} does not exist; create it` };
}

/** The infrastructure that the Cluster refers to, and all that is adopted in addition. */
function infrastructureReady(input: ClusterStatusInput): ConditionInput {
  const primary = primaryReady(input);
  const { infrastructure, secondaries } = input.scope;
  if (secondaries.length === 0) return primary;
  const name =
    infrastructure.state === "none"
      ? "infrastructureRef"
      : `${infrastructure.reference.kind} ${infrastructure.reference.name}`;
  const parts = [{ ...primary, type: name }, ...secondaries.map(secondaryCondition)];
  return summarize(
    "InfrastructureReady",
    parts.map((condition) => ({ condition })),
    { good: "Ready", bad: "NotReady", unknown: "ReadyUnknown" },
  );
}

/** The topology creates the objects that the Cluster refers to. */
function waitingForTopology({ cluster }: ClusterScope, type: string): ConditionInput | undefined {
  if (cluster.spec?.topology === undefined) return undefined;
  const message =
    cluster.metadata.deletionTimestamp === undefined ? "Waiting for cluster topology to be reconciled" : "";
  return { type, status: "False", reason: "ObjectDoesNotExist", message };
}

function primaryReady({ scope, initialization }: ClusterStatusInput): ConditionInput {
  const { infrastructure } = scope;
  const type = "InfrastructureReady";
  if (infrastructure.state === "none")
    return (
      waitingForTopology(scope, type) ?? {
        type,
        status: "True",
        reason: "Ready",
        message: "The cluster has no infrastructure object",
      }
    );
  const problem = referenceProblem(
    infrastructure,
    scope.cluster.status?.initialization?.infrastructureProvisioned === true,
  );
  if (problem !== undefined) return { ...problem, type };
  const name = `${infrastructure.reference.kind} ${infrastructure.reference.name}`;
  const fallback: ConditionInput = initialization.infrastructureProvisioned
    ? { type, status: "True", reason: "Ready", message: "" }
    : { type, status: "False", reason: "NotReady", message: `${name} is not provisioned yet` };
  return infrastructure.state === "found"
    ? mirror(findCondition(conditionsOf(infrastructure.object), "Ready"), type, fallback)
    : fallback;
}

function controlPlaneAvailable({ scope, initialization }: ClusterStatusInput): ConditionInput {
  const { controlPlane } = scope;
  const type = "ControlPlaneAvailable";
  const waiting = controlPlane.state === "none" ? waitingForTopology(scope, type) : undefined;
  if (waiting !== undefined) return waiting;
  const problem = referenceProblem(
    controlPlane,
    scope.cluster.status?.initialization?.controlPlaneInitialized === true,
  );
  if (problem !== undefined) return { ...problem, type };
  const fallback: ConditionInput = initialization.controlPlaneInitialized
    ? { type, status: "True", reason: "Available", message: "" }
    : { type, status: "False", reason: "NotAvailable", message: "Control plane not yet initialized" };
  return controlPlane.state === "found"
    ? mirror(findCondition(conditionsOf(controlPlane.object), "Available"), type, fallback)
    : fallback;
}

function controlPlaneInitializedCondition({ initialization }: ClusterStatusInput): ConditionInput {
  return initialization.controlPlaneInitialized
    ? { type: "ControlPlaneInitialized", status: "True", reason: "Initialized", message: "" }
    : {
        type: "ControlPlaneInitialized",
        status: "False",
        reason: "NotInitialized",
        message: "Control plane not yet initialized",
      };
}

type Counters = NonNullable<NonNullable<Cluster["status"]>["workers"]>;

/** As the control plane object counts; without one, the Machines that are labelled as control plane. */
function controlPlaneCounters({ controlPlane, machines }: ClusterScope): Counters | undefined {
  if (controlPlane.state === "none") {
    const own = machines.filter(isControlPlaneMachine);
    if (own.length === 0) return undefined;
    return {
      desiredReplicas: own.length,
      replicas: own.length,
      readyReplicas: countTrue(own, "Ready"),
      availableReplicas: countTrue(own, "Available"),
      upToDateReplicas: countTrue(own, "UpToDate"),
    };
  }
  if (controlPlane.state !== "found") return undefined;
  const number = (...path: string[]): number | undefined => {
    const value = field(controlPlane.object, ...path);
    return typeof value === "number" ? value : undefined;
  };
  const values = {
    desiredReplicas: number("spec", "replicas"),
    replicas: number("status", "replicas"),
    readyReplicas: number("status", "readyReplicas"),
    availableReplicas: number("status", "availableReplicas"),
    upToDateReplicas: number("status", "upToDateReplicas") ?? number("status", "updatedReplicas"),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Counters;
}

function workerCounters(scope: ClusterScope): Counters {
  const sets = [...scope.machineDeployments, ...scope.machinePools, ...scope.machineSets];
  const sum = (pick: (set: (typeof sets)[number]) => number | undefined): number =>
    sets.reduce((total, set) => total + (pick(set) ?? 0), 0);
  const standalone = scope.machines.filter(
    (machine) =>
      !isControlPlaneMachine(machine) && machine.metadata.ownerReferences?.some((o) => o.controller === true) !== true,
  );
  const counting = (type: string): number => countTrue(standalone, type);
  return {
    desiredReplicas: desiredWorkers(scope) + standalone.length,
    replicas: sum((set) => set.status?.replicas) + standalone.length,
    readyReplicas: sum((set) => set.status?.readyReplicas) + counting("Ready"),
    availableReplicas: sum((set) => set.status?.availableReplicas) + counting("Available"),
    upToDateReplicas: sum((set) => set.status?.upToDateReplicas) + counting("UpToDate"),
  };
}

/** A pool's own spec has its desired replicas: its deployments have fewer while some fit nowhere, and more while machines move. */
function desiredWorkers({ machineDeployments, machinePools, machineSets, workerPools }: ClusterScope): number {
  const pools = workerPools.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const uids = new Set(pools.map(({ metadata }) => metadata.uid));
  const apart = machineDeployments.filter(
    ({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uids.has(uid)) !== true,
  );
  const groups = [...apart, ...machinePools, ...machineSets];
  return (
    groups.reduce((total, { spec }) => total + (spec.replicas ?? 0), 0) +
    pools.reduce((total, { spec }) => total + (spec.replicas ?? 1), 0)
  );
}

function countTrue(machines: readonly Machine[], type: string): number {
  return machines.filter((machine) => findCondition(conditionsOf(machine), type)?.status === "True").length;
}
