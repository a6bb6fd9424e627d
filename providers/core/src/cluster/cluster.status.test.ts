import { findCondition } from "@capstan/apimachinery";
import { CONNECTING_MS, type WorkloadConnection } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { type ClusterStatusInput, clusterStatus } from "./cluster.status.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const ENDPOINT = { controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 } };
const REFERENCE = { apiGroup: "x.cluster.x-k8s.io", kind: "FooCluster", name: "f" };

interface Given {
  spec?: object;
  status?: object;
  metadata?: object;
  scope?: object;
  infrastructureProvisioned?: boolean;
  controlPlaneInitialized?: boolean;
  connection?: object;
  deleting?: { reason: string; message: string };
}

function statusOf({ spec = {}, status, metadata = {}, scope = {}, ...input }: Given = {}) {
  const { infrastructureProvisioned = false, controlPlaneInitialized = false, connection, deleting } = input;
  return clusterStatus({
    scope: {
      cluster: { kind: "Cluster", metadata: { name: "c1", namespace: "ns", ...metadata }, spec, status },
      infrastructure: { state: "none" },
      controlPlane: { state: "none" },
      secondaries: [],
      machineDeployments: [],
      machinePools: [],
      workerPools: [],
      machineSets: [],
      machines: [],
      ...scope,
    },
    initialization: { infrastructureProvisioned, controlPlaneInitialized },
    paused: { type: "Paused", status: "False", reason: "NotPaused", message: "" },
    connection: connection ?? { state: "connected" },
    deleting,
    nowMs: NOW,
  } as unknown as ClusterStatusInput);
}

const conditionOf = (given: Given, type: string): string => {
  const { status, reason, message } = findCondition(statusOf(given).conditions ?? [], type) ?? {};
  return `${status} ${reason}${message === "" ? "" : `: ${message}`}`;
};
const found = (object: object, contract = "v1beta2") => ({
  state: "found",
  reference: REFERENCE,
  contract,
  object: { kind: "FooCluster", metadata: { name: "f" }, ...object },
});
const missing = { state: "missing", reference: REFERENCE };
const being = { deletionTimestamp: "2025-12-31T23:00:00Z" };
const initialized = (flag: string) => ({ initialization: { [flag]: true } });

test.each([
  ["Pending", {}],
  ["Provisioning", { spec: { infrastructureRef: REFERENCE } }],
  ["Provisioning", { spec: { controlPlaneRef: REFERENCE } }],
  ["Provisioning", { spec: { infrastructureRef: REFERENCE }, infrastructureProvisioned: true }],
  ["Provisioning", { spec: { infrastructureRef: REFERENCE, ...ENDPOINT } }],
  ["Provisioned", { spec: ENDPOINT, infrastructureProvisioned: true }],
  ["Deleting", { spec: ENDPOINT, infrastructureProvisioned: true, metadata: being }],
])("phase %s: %j", (phase, given) => {
  expect(statusOf(given).phase).toBe(phase);
});

test("flags of the initialization are only there once they are true", () => {
  expect(statusOf()).not.toHaveProperty("initialization");
  expect(statusOf({ infrastructureProvisioned: true }).initialization).toEqual({ infrastructureProvisioned: true });
  expect(statusOf({ controlPlaneInitialized: true }).initialization).toEqual({ controlPlaneInitialized: true });
});

describe("RemoteConnectionProbe", () => {
  const lost = (state: string, since: number) => ({
    connection: { state, since, error: "no route" } as unknown as WorkloadConnection,
  });
  const believed = { status: { conditions: [{ type: "RemoteConnectionProbe", status: "True" }] } };
  const ready = { controlPlaneInitialized: true };
  test.each<[string, Given]>([
    ["True ProbeSucceeded", {}],
    ["False ProbeFailed: Waiting for the control plane to be initialized", lost("disconnected", NOW)],
    [
      "False ProbeFailed: Cannot reach the workload cluster's API: no route",
      { ...lost("disconnected", NOW), ...ready },
    ],
    ["False ProbeFailed: Cannot reach the workload cluster's API: no route", { ...lost("connecting", NOW), ...ready }],
    ["True ProbeSucceeded", { ...lost("connecting", NOW - CONNECTING_MS + 1), ...ready, ...believed }],
    [
      "False ProbeFailed: Cannot reach the workload cluster's API: no route",
      { ...lost("connecting", NOW - CONNECTING_MS), ...ready, ...believed },
    ],
    [
      "False ProbeFailed: Cannot reach the workload cluster's API: no route",
      { ...lost("disconnected", NOW), ...ready, ...believed },
    ],
  ])("%s", (expected, given) => {
    expect(conditionOf(given, "RemoteConnectionProbe")).toBe(expected);
  });
});

describe.each([
  [
    "InfrastructureReady",
    "infrastructure",
    "infrastructureProvisioned",
    "Ready",
    "NotReady",
    "FooCluster f is not provisioned yet",
  ],
  [
    "ControlPlaneAvailable",
    "controlPlane",
    "controlPlaneInitialized",
    "Available",
    "NotAvailable",
    "Control plane not yet initialized",
  ],
])("%s", (type, part, flag, good, bad, waiting) => {
  const mirrored = (status: string, reason: string, message: string) =>
    found({ status: { conditions: [{ type: good, status, reason, message }] } });
  test.each<[string, Given]>([
    [`False ${bad}: ${waiting}`, { scope: { [part]: found({}) } }],
    [`True ${good}`, { scope: { [part]: found({}) }, [flag]: true }],
    ["False Broken: of its own", { scope: { [part]: mirrored("False", "Broken", "of its own") }, [flag]: true }],
    ["False ObjectDoesNotExist: FooCluster f does not exist; create it", { scope: { [part]: missing } }],
    [
      "False ObjectDeleted: FooCluster f has been deleted while the Cluster still exists",
      { scope: { [part]: missing }, status: initialized(flag) },
    ],
    [
      "Unknown InvalidConditionReported: no such kind",
      { scope: { [part]: { state: "unresolved", reference: REFERENCE, message: "no such kind" } } },
    ],
    ["False ObjectDoesNotExist: Waiting for cluster topology to be reconciled", { spec: { topology: {} } }],
    ["False ObjectDoesNotExist", { spec: { topology: {} }, metadata: being }],
  ])("%s", (expected, given) => {
    expect(conditionOf(given, type)).toBe(expected);
  });
});

test("a Cluster without an infrastructure object needs none; without a control plane object the flag decides", () => {
  expect(conditionOf({}, "InfrastructureReady")).toBe("True Ready: The cluster has no infrastructure object");
  expect(conditionOf({}, "ControlPlaneAvailable")).toBe("False NotAvailable: Control plane not yet initialized");
  expect(conditionOf({ controlPlaneInitialized: true }, "ControlPlaneAvailable")).toBe("True Available");
  expect(conditionOf({}, "ControlPlaneInitialized")).toBe("False NotInitialized: Control plane not yet initialized");
  expect(conditionOf({ controlPlaneInitialized: true }, "ControlPlaneInitialized")).toBe("True Initialized");
});

describe("Available", () => {
  const good = { infrastructureProvisioned: true, controlPlaneInitialized: true };
  const withCondition = (type: string, status: string, reason: string) => ({
    status: { conditions: [{ type, status, reason, message: "why" }] },
  });
  const topology = { spec: { topology: {} }, scope: { infrastructure: found({}), controlPlane: found({}) } };
  const gate = (polarity?: string) => ({ spec: { availabilityGates: [{ conditionType: "Gate", polarity }] } });
  test.each<[string, Given]>([
    ["True Available", good],
    ["False NotAvailable", {}],
    ["False NotAvailable", { ...good, deleting: { reason: "Waiting", message: "workers" }, metadata: being }],
    // A topology in progress leaves a cluster available, one that cannot be reconciled does not.
    ["Unknown AvailableUnknown", { ...good, ...topology }],
    ["True Available", { ...good, ...topology, ...withCondition("TopologyReconciled", "True", "ReconcileSucceeded") }],
    [
      "True Available",
      { ...good, ...topology, ...withCondition("TopologyReconciled", "False", "ControlPlaneUpgrading") },
    ],
    [
      "False NotAvailable",
      { ...good, ...topology, ...withCondition("TopologyReconciled", "False", "ReconcileFailed") },
    ],
    [
      "False NotAvailable",
      { ...good, ...topology, ...withCondition("TopologyReconciled", "False", "ClusterClassNotReconciled") },
    ],
    ["Unknown AvailableUnknown", { ...good, ...gate() }],
    ["False NotAvailable", { ...good, ...gate(), ...withCondition("Gate", "False", "Closed") }],
    ["True Available", { ...good, ...gate(), ...withCondition("Gate", "True", "Open") }],
    ["True Available", { ...good, ...gate("Negative"), ...withCondition("Gate", "False", "Closed") }],
    ["False NotAvailable", { ...good, ...gate("Negative"), ...withCondition("Gate", "True", "Open") }],
  ])("%s", (expected, given) => {
    expect(conditionOf(given, "Available").split(":")[0]).toBe(expected);
  });

  test("does not blame missing objects of a Cluster that is being deleted", () => {
    const scope = { infrastructure: missing, controlPlane: missing };
    const deleting = { metadata: being, deleting: { reason: "Waiting", message: "for workers" }, scope };
    expect(conditionOf({ scope }, "Available")).toMatch(/InfrastructureReady[\s\S]*ControlPlaneAvailable/);
    expect(conditionOf(deleting, "Available")).toBe("False NotAvailable: * Deleting: for workers");
  });
});

describe("counts", () => {
  const machine = (types: string[], metadata: object = {}) => ({
    metadata,
    spec: {},
    status: { conditions: types.map((type) => ({ type, status: "True", reason: "x", message: "" })) },
  });
  const labelled = { labels: { "cluster.x-k8s.io/control-plane": "" } };
  const group = (replicas: number | undefined, counted: number, metadata: object = {}) => ({
    metadata,
    spec: { replicas },
    status: {
      replicas: counted,
      readyReplicas: counted + 1,
      availableReplicas: counted + 2,
      upToDateReplicas: counted + 3,
    },
  });

  test("of the control plane are those of its object", () => {
    const object = {
      spec: { replicas: 3 },
      status: { replicas: 2, readyReplicas: 1, availableReplicas: 0, upToDateReplicas: 4 },
    };
    expect(statusOf({ scope: { controlPlane: found(object) } }).controlPlane).toEqual({
      desiredReplicas: 3,
      replicas: 2,
      readyReplicas: 1,
      availableReplicas: 0,
      upToDateReplicas: 4,
    });
    const old = { spec: {}, status: { replicas: "2", updatedReplicas: 5 } };
    expect(statusOf({ scope: { controlPlane: found(old) } }).controlPlane).toStrictEqual({ upToDateReplicas: 5 });
    expect(statusOf({ scope: { controlPlane: missing } }).controlPlane).toBeUndefined();
  });

  test("of a control plane without an object are those of labelled Machines", () => {
    const machines = [
      machine(["Ready", "Available", "UpToDate"], labelled),
      machine(["Ready", "UpToDate"], labelled),
      machine(["Ready"], labelled),
      machine(["Ready", "Available"]),
    ];
    expect(statusOf({ scope: { machines } }).controlPlane).toEqual({
      desiredReplicas: 3,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 1,
      upToDateReplicas: 2,
    });
    expect(statusOf({ scope: { machines: machines.slice(3) } }).controlPlane).toBeUndefined();
  });

  test("of workers are the sums of all groups and of Machines without a controller", () => {
    const machines = [
      machine(["Ready", "Available", "UpToDate"]),
      machine(["Ready"], { ownerReferences: [{ controller: false }] }),
      machine(["Ready", "Available", "UpToDate"], { ownerReferences: [{ controller: true }] }),
      machine(["Ready", "Available", "UpToDate"], labelled),
    ];
    const scope = {
      machines,
      machineDeployments: [group(1, 10), { metadata: {}, spec: {} }],
      machinePools: [group(2, 20)],
      machineSets: [group(3, 30)],
    };
    expect(statusOf({ scope }).workers).toEqual({
      desiredReplicas: 1 + 2 + 3 + 2,
      replicas: 60 + 2,
      readyReplicas: 63 + 2,
      availableReplicas: 66 + 1,
      upToDateReplicas: 69 + 1,
    });
  });

  test("of desired workers take those of a WorkerPool from its own spec, until it is deleted", () => {
    const owned = { ownerReferences: [{ uid: "pool" }] };
    const scope = (pool: object, replicas?: number) => ({
      machineDeployments: [group(4, 0, owned), group(5, 0, owned), group(1, 0)],
      workerPools: [{ metadata: { uid: "pool", ...pool }, spec: { replicas } }],
    });
    expect(statusOf({ scope: scope({}, 7) }).workers?.desiredReplicas).toBe(8);
    expect(statusOf({ scope: scope({}) }).workers?.desiredReplicas).toBe(2);
    expect(statusOf({ scope: scope(being, 7) }).workers?.desiredReplicas).toBe(10);
  });
});
