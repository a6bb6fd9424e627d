import type { Condition, KubeObject } from "@capstan/apimachinery";
import type { Cluster } from "@capstan/capi";
import { expect, test } from "vitest";
import { objectItem, parentOf } from "./cluster-item.ts";
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

test("a healthy cluster's row has no problem; providers are named once", () => {
  const row = fleetRow({
    cluster: cluster([condition("Available", "True"), condition("WorkersAvailable", "True")]),
    version: "v1.34.4",
    templates: [template("ByoMachineTemplate"), template("Metal3MachineTemplate"), template("ByoMachineTemplate")],
  });
  expect(row).toMatchObject({
    version: "v1.34.4",
    workers: [2, 3],
    controlPlane: [0, 0],
    providers: ["byo", "metal3"],
    chips: [
      ["Available", "True"],
      ["WorkersAvailable", "True"],
    ],
  });
  expect(row.problem).toBeUndefined();
});

test("a problem is the condition at fault, not the sum, and short", () => {
  const { problem } = fleetRow({
    cluster: cluster([
      condition("Available", "False", "* WorkersAvailable: …"),
      condition("WorkersAvailable", "False", `${"x".repeat(500)}\nsecond line`, "NoHost"),
    ]),
    version: undefined,
    templates: [],
  });
  expect(problem?.reason).toBe("NoHost");
  expect(problem?.message.length).toBeLessThan(250);
});

test("a cluster that has said nothing, is paused or is deleted has a row too", () => {
  const base = cluster([]);
  const row = fleetRow({
    cluster: {
      ...base,
      metadata: { ...base.metadata, deletionTimestamp: "2026-01-02T00:00:00Z" },
      spec: { paused: true },
    },
    version: undefined,
    templates: [],
  });
  expect(row).toMatchObject({ paused: true, deleting: true });
});

test.each([
  ["ByoMachineTemplate", "byo"],
  ["Metal3Cluster", "metal3"],
  ["MemoryMachine", "memory"],
  ["ByoHost", "byo"],
])("%s belongs to %s", (kind, name) => {
  expect(providerName(kind)).toBe(name);
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

test("parents: the controller, past machine sets; the machine that claimed a host; else the cluster", () => {
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
  const parents = Object.fromEntries(all.map((o) => [`${o.kind}/${o.metadata.name}`, parentOf(o, lookup)]));
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

test("an own host that went silent is not well, whatever its agent said last", () => {
  const dead = {
    ...object("ByoHost", "h1"),
    status: {
      lastHeartbeatTime: "2026-01-01T00:00:00Z",
      conditions: [
        condition("Ready", "True"),
        condition("AgentConnected", "False", "see that the host is on", "HeartbeatTimeout"),
        condition("MachineIDUnique", "True"),
      ],
    },
  } as KubeObject;
  const problem = { reason: "AgentSilent", message: "see that the host is on" };
  expect(hostRow(dead, byo)).toMatchObject({ ready: "Unknown", problem });
  const { conditions } = objectItem(dead, byo, undefined);
  expect(conditions).toEqual([
    { type: "Ready", status: "Unknown", ...problem, lastTransitionTime: "2026-01-01T00:00:00Z" },
    condition("MachineIDUnique", "True"),
  ]);
});

test("an own host that could not become a node is not well, though its agent is", () => {
  const failed = {
    ...object("ByoHost", "h1"),
    status: {
      conditions: [condition("Ready", "True")],
      bootstrap: { phase: "Failed", message: "kubeadm join: no token" },
    },
  } as KubeObject;
  const problem = { reason: "BootstrapFailed", message: "kubeadm join: no token" };
  expect(hostRow(failed, byo)).toMatchObject({ state: "Failed", ready: "False", problem });
});

test("only a host in memory can be broken on request", () => {
  const played = { ...object("ByoHost", "h1") };
  played.metadata.annotations = { "memory.capstan.dev/agent": "dead" };
  expect(hostRow(played, byo).simulated).toBe("broken");
  expect(objectItem(played, byo, undefined).facts.simulated).toBe("broken");
  const real = object("ByoHost", "h2");
  expect(hostRow(real, byo)).not.toHaveProperty("simulated");
  expect(objectItem(real, byo, undefined).facts).not.toHaveProperty("simulated");
});

test("hosts of both kinds become rows", () => {
  const metal = { group: "metal3.io", version: "v1alpha1", kind: "BareMetalHost", plural: "baremetalhosts" };
  const own = {
    ...object("ByoHost", "h1", [], { machineRef: { kind: "ByoMachine", name: "m" } }),
    status: {
      conditions: [condition("Ready", "True")],
      hostinfo: { osimage: "Debian 12", architecture: "amd64", cpus: 4, memoryMiB: 8192 },
      network: [{ networkInterfaceName: "eth0", ipAddrs: ["10.0.0.1"] }],
    },
  } as KubeObject;
  expect(hostRow(own, byo)).toMatchObject({
    provider: "byo",
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
  expect(hostRow(rack, metal)).toMatchObject({
    provider: "metal3",
    state: "registering",
    ready: "False",
    problem: { reason: "registration error", message: "BMC does not answer" },
  });
});
