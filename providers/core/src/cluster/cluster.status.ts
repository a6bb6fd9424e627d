import { findCondition } from "@capstan/apimachinery";
import {
  aggregate,
  type Cluster,
  type ConditionInput,
  conditionsOf,
  failureDomainsOf,
  field,
  mirror,
  summarize,
  validEndpoint,
  type WorkloadConnection,
  withTransitionTimes,
} from "@capstan/capi";
import type { ClusterScope, Referenced } from "./cluster-scope.ts";
import { deprecatedConditions } from "./deprecated-conditions.ts";
import { secondaryCondition } from "./secondary-infrastructure.ts";

export interface Initialization {
  infrastructureProvisioned: boolean;
  controlPlaneInitialized: boolean;
}

export interface ClusterStatusInput {
  scope: ClusterScope;
  initialization: Initialization;
  paused: ConditionInput;
  connection: WorkloadConnection;
  /** Set while the Cluster is being deleted. */
  deleting: { reason: string; message: string } | undefined;
  nowMs: number;
}

/** The whole status, computed from what was read. */
export function clusterStatus(input: ClusterStatusInput): NonNullable<Cluster["status"]> {
  const { scope, initialization } = input;
  const computed = clusterConditions(input);
  const failureDomains = scope.infrastructure.state === "found" ? failureDomainsOf(scope.infrastructure.object) : [];
  const flags = {
    ...(initialization.infrastructureProvisioned ? { infrastructureProvisioned: true } : {}),
    ...(initialization.controlPlaneInitialized ? { controlPlaneInitialized: true } : {}),
  };
  const controlPlane = controlPlaneCounters(scope.controlPlane);
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
    ...(controlPlane === undefined ? {} : { controlPlane }),
    workers: workerCounters(scope),
    ...(failureDomains.length > 0 ? { failureDomains } : {}),
    phase: phaseOf(input),
    ...(scope.cluster.metadata.generation === undefined
      ? {}
      : { observedGeneration: scope.cluster.metadata.generation }),
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

/** Every condition of a Cluster; Available sums up the others. */
export function clusterConditions(input: ClusterStatusInput): ConditionInput[] {
  const { scope } = input;
  const deleting: ConditionInput =
    input.deleting === undefined
      ? { type: "Deleting", status: "False", reason: "NotDeleting", message: "" }
      : { type: "Deleting", status: "True", ...input.deleting };
  const probe = remoteConnection(input);
  const infrastructure = infrastructureReady(input);
  const controlPlane = controlPlaneAvailable(input);
  const workers = aggregateOf(scope, "Available", "WorkersAvailable", "NoWorkers", "There are no workers");
  const available = summarize(
    "Available",
    [
      { condition: deleting, negative: true },
      { condition: probe },
      { condition: infrastructure },
      { condition: controlPlane },
      { condition: workers },
      ...(scope.cluster.spec?.topology === undefined
        ? []
        : [gateInput(scope, { conditionType: "TopologyReconciled" })]),
      ...(scope.cluster.spec?.availabilityGates ?? []).map((gate) => gateInput(scope, gate)),
    ],
    { good: "Available", bad: "NotAvailable", unknown: "AvailableUnknown" },
  );
  const machines = machineAggregates(scope);
  return [
    available,
    probe,
    infrastructure,
    controlPlaneInitializedCondition(input),
    controlPlane,
    workers,
    ...machines,
    deleting,
    input.paused,
  ];
}

function gateInput(
  scope: ClusterScope,
  gate: { conditionType: string; polarity?: string },
): { condition: ConditionInput; negative: boolean } {
  const found = findCondition(conditionsOf(scope.cluster), gate.conditionType);
  const missing: ConditionInput = {
    type: gate.conditionType,
    status: "Unknown",
    reason: "NotYetReported",
    message: `Condition ${gate.conditionType} not yet reported`,
  };
  return { condition: found ?? missing, negative: gate.polarity === "Negative" };
}

function remoteConnection({ connection, initialization }: ClusterStatusInput): ConditionInput {
  if (connection.state === "connected")
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
    : { type: "", status: "Unknown", reason: "ObjectDoesNotExist", message: `${what} does not exist; create it` };
}

/** The infrastructure the Cluster refers to, and all that is adopted beside it. */
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

function primaryReady({ scope, initialization }: ClusterStatusInput): ConditionInput {
  const { infrastructure } = scope;
  const type = "InfrastructureReady";
  if (infrastructure.state === "none")
    return { type, status: "True", reason: "Ready", message: "The cluster has no infrastructure object" };
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

/** One condition over the MachineDeployments of the cluster. */
function aggregateOf(
  scope: ClusterScope,
  source: string,
  type: string,
  noneReason: string,
  noneMessage: string,
): ConditionInput {
  if (scope.machineDeployments.length === 0 && scope.machinePools.length === 0 && scope.machines.length === 0)
    return { type, status: "True", reason: noneReason, message: noneMessage };
  const items = [...scope.machineDeployments, ...scope.machinePools].map((group) => ({
    name: `${group.kind} ${group.metadata.name}`,
    condition: findCondition(conditionsOf(group), source),
  }));
  return aggregate(type, items, "MachineDeployments", {
    good: "Available",
    bad: "NotAvailable",
    unknown: "AvailableUnknown",
  });
}

function machineAggregates(scope: ClusterScope): ConditionInput[] {
  const workers = scope.machines.filter(
    (machine) => machine.metadata.labels?.["cluster.x-k8s.io/control-plane"] === undefined,
  );
  const over = (type: string, source: string, good: string, bad: string, unknown: string): ConditionInput => {
    if (workers.length === 0) return { type, status: "True", reason: "NoReplicas", message: "" };
    const items = workers.map((machine) => ({
      name: `Machine ${machine.metadata.name}`,
      condition: findCondition(conditionsOf(machine), source),
    }));
    return aggregate(type, items, "Machines", { good, bad, unknown });
  };
  return [
    over("WorkerMachinesReady", "Ready", "Ready", "NotReady", "ReadyUnknown"),
    over("WorkerMachinesUpToDate", "UpToDate", "UpToDate", "NotUpToDate", "UpToDateUnknown"),
  ];
}

type Counters = NonNullable<NonNullable<Cluster["status"]>["workers"]>;

function controlPlaneCounters(controlPlane: Referenced): Counters | undefined {
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
    (machine) => machine.metadata.ownerReferences?.some((o) => o.controller === true) !== true,
  );
  const counting = (type: string): number =>
    standalone.filter((m) => findCondition(conditionsOf(m), type)?.status === "True").length;
  return {
    desiredReplicas: sum((set) => set.spec.replicas) + standalone.length,
    replicas: sum((set) => set.status?.replicas) + standalone.length,
    readyReplicas: sum((set) => set.status?.readyReplicas) + counting("Ready"),
    availableReplicas: sum((set) => set.status?.availableReplicas) + counting("Available"),
    upToDateReplicas: sum((set) => set.status?.upToDateReplicas) + counting("UpToDate"),
  };
}
