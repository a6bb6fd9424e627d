import type { Condition, KubeObject } from "@capstan/apimachinery";
import { assess, type Cluster, type ObjectState, objectNode, parentOf } from "@capstan/capi";
import { PROVIDERS } from "@capstan/manager/providers";
import { expect, test } from "vitest";
import { objectItem } from "./cluster-item.ts";
import { fleetRow } from "./fleet-row.ts";
import { hostRow } from "./host-row.ts";
import { providerName } from "./provider-name.ts";

const condition = (type: string, status: Condition["status"], message = "", reason = "Because"): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

/** An hour after everything in these tests changed last. */
const LATER = Date.parse("2026-01-01T01:00:00Z");
const stateOf = (of: Cluster): ObjectState =>
  assess(objectNode(of, { nowMs: LATER, providers: PROVIDERS }), { nowMs: LATER, namespace: "n", providers: PROVIDERS })
    .state;

const cluster = (conditions: Condition[], more: Partial<Cluster> = {}): Cluster => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "c1", namespace: "n", creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: {},
  status: { conditions, phase: "Provisioned", workers: { availableReplicas: 2, desiredReplicas: 3 } },
  ...more,
});

const template = (kind: string): { apiGroup: string; kind: string; name: string } => ({
  apiGroup: "infrastructure.cluster.x-k8s.io",
  kind,
  name: "t",
});

test("the row of a healthy cluster says so, and names each provider once", () => {
  const healthy = cluster([condition("Available", "True"), condition("WorkersAvailable", "True")]);
  const row = fleetRow({
    cluster: healthy,
    state: stateOf(healthy),
    version: "v1.34.4",
    templates: [template("ByoMachineTemplate"), template("Metal3MachineTemplate"), template("ByoMachineTemplate")],
    providers: PROVIDERS,
  });
  expect(row).toMatchObject({
    version: "v1.34.4",
    workers: [2, 3],
    controlPlane: [0, 0],
    providers: ["byoh", "metal3"],
    chips: [
      ["Available", "True"],
      ["WorkersAvailable", "True"],
    ],
    state: { state: "Healthy", message: "" },
  });
});

test("cuts the message of a state to the length that a table shows", () => {
  const broken = cluster([
    condition("Available", "False", "* WorkersAvailable: …"),
    condition("WorkersAvailable", "False", `${"x".repeat(500)}\nsecond line`, "NoHost"),
  ]);
  const { state } = fleetRow({
    cluster: broken,
    state: stateOf(broken),
    version: undefined,
    templates: [],
    providers: PROVIDERS,
  });
  expect(state).toMatchObject({ state: "Degraded", reason: "NoHost" });
  expect(state.message.length).toBeLessThan(250);
});

test("builds rows of clusters without conditions and of clusters that are being deleted", () => {
  const base = cluster([]);
  const gone = { ...base, metadata: { ...base.metadata, deletionTimestamp: "2026-01-02T00:00:00Z" } };
  const row = fleetRow({
    cluster: gone,
    state: stateOf(gone),
    version: undefined,
    templates: [],
    providers: PROVIDERS,
  });
  expect(row).toMatchObject({ deleting: true });
  const paused = { ...base, spec: { paused: true } };
  expect(
    fleetRow({ cluster: paused, state: stateOf(paused), version: undefined, templates: [], providers: PROVIDERS }).state
      .state,
  ).toBe("Paused");
});

test.each([
  ["ByoMachineTemplate", "byoh"],
  ["Metal3Cluster", "metal3"],
  ["MemoryMachine", "memory"],
  ["ByoHost", "byoh"],
])("%s belongs to %s", (kind, name) => {
  expect(providerName(kind, PROVIDERS)).toBe(name);
});

const object = (kind: string, name: string, owners: [string, string, boolean][] = [], spec: object = {}): KubeObject =>
  ({
    apiVersion: "x/v1",
    kind,
    metadata: {
      name,
      namespace: "n",
      labels: { "cluster.x-k8s.io/cluster-name": "c1" },
      ownerReferences: owners.map(([ownerKind, ownerName, controller]) => ({
        apiVersion: "x/v1",
        kind: ownerKind,
        name: ownerName,
        uid: "u",
        controller,
      })),
    },
    spec,
  }) as KubeObject;

test("determines parents: the controller, skipping MachineSets; the machine that claimed a host; else the cluster", () => {
  const all = [
    object("Cluster", "c1"),
    object("MachineDeployment", "md", [["Cluster", "c1", false]]),
    object("MachineSet", "ms", [["MachineDeployment", "md", true]]),
    object("Machine", "m", [["MachineSet", "ms", true]]),
    object("ByoMachine", "m", [["Machine", "m", true]]),
    object("ByoCluster", "c1", [
      ["Cluster", "c1", false],
      ["MetaCluster", "c1", true],
    ]),
    object("MetaCluster", "c1", [["Cluster", "c1", true]]),
    object("ByoHost", "h", [], { machineRef: { kind: "ByoMachine", name: "m" } }),
    object("WorkerPool", "free"),
  ];
  const lookup = (id: string): KubeObject | undefined => all.find((o) => `${o.kind}/${o.metadata.name}` === id);
  const parents = Object.fromEntries(all.map((o) => [`${o.kind}/${o.metadata.name}`, parentOf(o, lookup, PROVIDERS)]));
  expect(parents).toEqual({
    "Cluster/c1": undefined,
    "MachineDeployment/md": "Cluster/c1",
    "MachineSet/ms": "MachineDeployment/md",
    "Machine/m": "MachineDeployment/md",
    "ByoMachine/m": "Machine/m",
    "ByoCluster/c1": "MetaCluster/c1",
    "MetaCluster/c1": "Cluster/c1",
    "ByoHost/h": "ByoMachine/m",
    "WorkerPool/free": "Cluster/c1",
  });
});

const byo = { group: "infrastructure.cluster.x-k8s.io", version: "v1beta2", kind: "ByoHost", plural: "byohosts" };

/** A host whose agent sent its last heartbeat at midnight. */
const silent = (more: Condition[] = []): KubeObject =>
  ({
    ...object("ByoHost", "h1"),
    status: {
      lastHeartbeatTime: "2026-01-01T00:00:00Z",
      conditions: [condition("Ready", "True"), ...more, condition("MachineIDUnique", "True")],
    },
  }) as KubeObject;

test("a host that stopped reporting is not ready, whatever its agent reported last", () => {
  const host = silent([condition("AgentConnected", "False", "see that the host is on", "HeartbeatTimeout")]);
  expect(hostRow(host, byo, { nowMs: LATER, providers: PROVIDERS })).toMatchObject({
    ready: "Unknown",
    health: { state: "Degraded", reason: "AgentSilent", message: expect.stringContaining("has gone silent") },
  });
  const { conditions } = objectItem(host, byo, undefined, { nowMs: LATER, providers: PROVIDERS });
  expect(conditions).toEqual([
    {
      type: "Ready",
      status: "Unknown",
      reason: "AgentSilent",
      message: "see that the host is on",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
    condition("MachineIDUnique", "True"),
  ]);
});

test("a host is not ready as soon as its heartbeat is overdue, before the manager has noticed", () => {
  const at = (seconds: number): number => Date.parse("2026-01-01T00:00:00Z") + seconds * 1000;
  expect(hostRow(silent(), byo, { nowMs: at(180), providers: PROVIDERS })).toMatchObject({
    ready: "True",
    health: { state: "Healthy" },
  });
  expect(hostRow(silent(), byo, { nowMs: at(181), providers: PROVIDERS })).toMatchObject({
    ready: "Unknown",
    health: { state: "Degraded" },
  });
});

test("a host that could not become a node is not ready, although its agent reports", () => {
  const failed = {
    ...object("ByoHost", "h1"),
    status: {
      conditions: [condition("Ready", "True")],
      bootstrap: { phase: "Failed", message: "kubeadm join: no token" },
    },
  } as KubeObject;
  expect(hostRow(failed, byo, { nowMs: LATER, providers: PROVIDERS })).toMatchObject({
    state: "Failed",
    ready: "False",
    health: {
      state: "Degraded",
      reason: "BootstrapFailed",
      message: expect.stringContaining("kubeadm join: no token"),
    },
  });
});

test("offers to break hosts in memory only", () => {
  const played = { ...object("ByoHost", "h1") };
  played.metadata.annotations = { "memory.capstan.dev/agent": "dead" };
  expect(hostRow(played, byo, { nowMs: LATER, providers: PROVIDERS }).simulated?.health).toBe("broken");
  expect(objectItem(played, byo, undefined, { nowMs: LATER, providers: PROVIDERS }).facts.simulated?.health).toBe(
    "broken",
  );
  const real = object("ByoHost", "h2");
  expect(hostRow(real, byo, { nowMs: LATER, providers: PROVIDERS }).simulated).toBeUndefined();
  expect(objectItem(real, byo, undefined, { nowMs: LATER, providers: PROVIDERS }).facts.simulated).toBeUndefined();
});

test("builds rows for both kinds of hosts", () => {
  const metal = { group: "metal3.io", version: "v1alpha1", kind: "BareMetalHost", plural: "baremetalhosts" };
  const own = {
    ...object("ByoHost", "h1", [], { machineRef: { kind: "ByoMachine", name: "m" } }),
    status: {
      conditions: [condition("Ready", "True")],
      hostinfo: { osimage: "Debian 12", architecture: "amd64", cpus: 4, memoryMiB: 8192 },
      network: [{ networkInterfaceName: "eth0", ipAddrs: ["10.0.0.1"] }],
    },
  } as KubeObject;
  expect(hostRow(own, byo, { nowMs: LATER, providers: PROVIDERS })).toMatchObject({
    provider: "byoh",
    state: "In use",
    ready: "True",
    machine: "m",
    cpus: 4,
    addresses: ["10.0.0.1"],
  });
  const rack = {
    ...object("BareMetalHost", "r1"),
    status: {
      operationalStatus: "error",
      errorType: "registration error",
      errorMessage: "BMC does not answer",
      provisioning: { state: "registering" },
    },
  } as KubeObject;
  expect(hostRow(rack, metal, { nowMs: LATER, providers: PROVIDERS })).toMatchObject({
    provider: "metal3",
    state: "registering",
    ready: "False",
    health: {
      state: "Degraded",
      reason: "registration error",
      message: "Bare-metal host r1 has a problem: BMC does not answer.",
    },
  });
});
