import type { Condition } from "@capstan/apimachinery";
import { PROVIDERS } from "@capstan/manager/providers";
import { expect, test } from "vitest";
import type { ObjectNode } from "./object-node.ts";
import { assess, type ObjectState, stateOf, stateText } from "./state.ts";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const after = (seconds: number): number => T0 + seconds * 1000;

const condition = (type: string, status: Condition["status"], reason = type, message = ""): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

const node = (kind: string, conditions: Condition[], more: Partial<ObjectNode> = {}): ObjectNode => ({
  kind,
  name: kind.toLowerCase(),
  conditions,
  deleting: false,
  children: [],
  created: "2026-01-01T00:00:00Z",
  ...more,
});

const cluster = (...children: ObjectNode[]): ObjectNode =>
  node("Cluster", [condition("Available", "True")], { children });

const at = (root: ObjectNode, seconds: number): string =>
  stateOf(root, { nowMs: after(seconds), providers: PROVIDERS }).state;

test("what waits is progressing for ten minutes without a change, then degraded", () => {
  const waiting = cluster(
    node("Machine", [condition("Ready", "False", "NotReady"), condition("NodeHealthy", "Unknown")]),
  );
  expect(at(waiting, 599)).toBe("Progressing");
  expect(at(waiting, 600)).toBe("Degraded");
  expect(assess(waiting, { nowMs: after(5), providers: PROVIDERS, namespace: "n" }).changesAtMs).toBe(after(600));
});

test("bare metal gets half an hour to become a node", () => {
  const booting = cluster(
    node("Machine", [condition("Ready", "False", "NotReady"), condition("NodeHealthy", "Unknown")], {
      children: [node("Metal3Machine", [condition("Ready", "True")])],
    }),
  );
  expect(at(booting, 1799)).toBe("Progressing");
  expect(at(booting, 1800)).toBe("Degraded");
});

test("a change of any part starts the time again", () => {
  const moved = { ...condition("Ready", "True"), lastTransitionTime: "2026-01-01T00:09:00Z" };
  const waiting = cluster(
    node("Machine", [condition("Ready", "False"), condition("NodeHealthy", "Unknown")], {
      children: [node("ByoMachine", [moved])],
    }),
  );
  expect(at(waiting, 1139)).toBe("Progressing");
  expect(at(waiting, 1140)).toBe("Degraded");
});

test("a control plane that has worked before gets a minute, a new one ten", () => {
  const down = [condition("Available", "False", "ComponentsNotReady", "* kube-apiserver: exited")];
  expect(at(cluster(node("HostedControlPlane", down, { initialized: true })), 61)).toBe("Degraded");
  expect(at(cluster(node("HostedControlPlane", down)), 61)).toBe("Progressing");
});

test("an upgrade of the control plane progresses; one that failed is degraded at once", () => {
  const plane = (reason: string): ObjectNode =>
    cluster(
      node("HostedControlPlane", [condition("Available", "True"), condition("UpToDate", "False", reason, "text")], {
        replicas: { desired: 3, current: 3, available: 3, upToDate: 1 },
        version: "v1.35.4",
      }),
    );
  expect(stateText(stateOf(plane("Upgrading"), { nowMs: after(1), providers: PROVIDERS }))).toBe(
    "Progressing (1 of 3)",
  );
  expect(at(plane("UpgradeFailed"), 1)).toBe("Degraded");
});

test("the worst of several levels is the state, and the message counts the others of that level", () => {
  const machine = (name: string): ObjectNode =>
    node(
      "Machine",
      [condition("Ready", "False"), condition("NodeHealthy", "False", "NodeDeleted", `Node ${name} is deleted`)],
      {
        name,
      },
    );
  const rolling = node("MachineDeployment", [condition("Available", "True")], {
    replicas: { desired: 1, current: 1, available: 1, upToDate: 0 },
    children: [node("Machine", [condition("Ready", "True"), condition("UpToDate", "False", "NotUpToDate", "* x")])],
  });
  const { state, causes } = assess(
    cluster(rolling, node("MachineSet", [], { children: [machine("a")] }), machine("b")),
    {
      nowMs: after(1),
      providers: PROVIDERS,
      namespace: "n",
    },
  );
  expect(causes.map(({ level }) => level)).toEqual(["Degraded", "Progressing"]);
  expect(causes[0]?.alike).toEqual({ names: ["Machine/b"], count: 1 });
  expect(state).toMatchObject({ state: "Degraded", reason: "NodeDeleted" });
});

test("a machine that is being deleted is progress, not a fault", () => {
  const leaving = node("Machine", [condition("Ready", "False"), condition("Deleting", "True", "DrainingNode")], {
    deleting: true,
    deletedAt: "2026-01-01T00:00:00Z",
  });
  expect(at(cluster(leaving), 1)).toBe("Progressing");
});

test("parts of a paused or hibernated cluster rest with it", () => {
  const resting: ObjectState = { state: "Hibernated", reason: "Hibernated", message: "", since: "" };
  const broken = node("Machine", [condition("Ready", "False")]);
  expect(stateOf(broken, { nowMs: after(9999), providers: PROVIDERS }, resting).state).toBe("Hibernated");
  expect(stateOf(broken, { nowMs: after(9999), providers: PROVIDERS }).state).toBe("Degraded");
});

test("a dead host is a fault of a paused cluster too, below that it is paused", () => {
  const host = node("ByoHost", [condition("Ready", "Unknown", "AgentSilent", "silent")]);
  const paused = { ...cluster(node("Machine", [condition("Ready", "True")], { children: [host] })), paused: true };
  const { state, causes } = assess(paused, { nowMs: after(1), providers: PROVIDERS, namespace: "n" });
  expect(state.state).toBe("Paused");
  expect(causes.map(({ level }) => level)).toEqual(["Paused", "Degraded"]);
});

test("machines that wait for a control plane are no cause of their own", () => {
  const plane = node("HostedControlPlane", [condition("Available", "False", "BinariesMissing", "not installed")]);
  const machine = node("Machine", [
    condition("Ready", "False"),
    condition("NodeHealthy", "Unknown", "InspectionFailed", "Waiting for Cluster control plane to be initialized"),
  ]);
  const root = node("Cluster", [condition("Available", "False"), condition("ControlPlaneAvailable", "False")], {
    children: [plane, machine],
  });
  const { causes } = assess(root, { nowMs: after(9999), providers: PROVIDERS, namespace: "n" });
  expect(causes.map(({ chain }) => chain.at(-1)?.reason)).toEqual(["BinariesMissing"]);
});

test("a rollout whose controller still reports progress is not judged by the time", () => {
  const group = (progressing: Condition): ObjectNode =>
    cluster(
      node("MachineDeployment", [condition("Available", "True"), progressing], {
        replicas: { desired: 1, current: 1, available: 1, upToDate: 0 },
        children: [node("Machine", [condition("Ready", "True"), condition("UpToDate", "False", "NotUpToDate", "* x")])],
      }),
    );
  expect(at(group(condition("Progressing", "True")), 99_999)).toBe("Progressing");
  expect(at(group(condition("Progressing", "False", "ProgressDeadlineExceeded")), 1)).toBe("Degraded");
});

test("a control plane that serves does not hide what machines wait for", () => {
  const plane = node("HostedControlPlane", [
    condition("Available", "True"),
    condition("ControlPlaneComponentsHealthy", "False", "NotHealthy", "* kube-scheduler: exited"),
  ]);
  const machine = node("Machine", [
    condition("Ready", "False"),
    condition("NodeHealthy", "Unknown", "InspectionFailed"),
  ]);
  const { causes } = assess(cluster(plane, machine), { nowMs: after(1), providers: PROVIDERS, namespace: "n" });
  expect(causes.map(({ chain }) => chain.at(-1)?.kind)).toEqual(["HostedControlPlane", "Machine"]);
});

test("an upgrade says how far it has come, although its next machine still starts", () => {
  const machine = (name: string, upToDate: "True" | "False", ready: "True" | "False"): ObjectNode =>
    node("Machine", [condition("Ready", ready, "NotReady"), condition("UpToDate", upToDate, "NotUpToDate")], { name });
  const group = node("MachineDeployment", [condition("Available", "True")], {
    replicas: { desired: 2, current: 3, available: 2, upToDate: 1 },
    children: [machine("old-1", "False", "True"), machine("old-2", "False", "True"), machine("new", "True", "False")],
  });
  const { state, causes } = assess(cluster(group), { nowMs: after(1), providers: PROVIDERS, namespace: "n" });
  expect(stateText(state)).toBe("Progressing (1 of 2)");
  expect(causes.map(({ chain }) => chain.at(-1)?.kind)).toEqual(["MachineDeployment", "Machine"]);
});

/** A pool with a Machine whose Node is silent, and one whose host is in error although its Node works. */
function poolWithFaults(...conditions: Condition[]): ObjectNode {
  const silent = [condition("Ready", "Unknown"), condition("NodeHealthy", "Unknown", "NodeHealthyUnknown", SILENT)];
  const host = node("BareMetalHost", [condition("Ready", "False", "registration error", "no answer")]);
  return node("WorkerPool", [condition("Available", "True"), ...conditions], {
    children: [
      node("Machine", silent, { name: "m-dead" }),
      node("Machine", [condition("Ready", "True")], { name: "m-well", children: [host] }),
    ],
  });
}
const SILENT = "* Node.Ready: Kubelet stopped posting node status.";
const roots = (of: ObjectNode, seconds = 1): (string | undefined)[] =>
  assess(of, { nowMs: after(seconds), providers: PROVIDERS, namespace: "n" }).causes.map(
    ({ chain }) => chain.at(-1)?.kind,
  );

test("a host in error whose Machine works comes after a dead Machine, in a pool as in its cluster", () => {
  expect(roots(cluster(poolWithFaults()))).toEqual(["Machine", "BareMetalHost"]);
  expect(roots(poolWithFaults())).toEqual(["Machine", "BareMetalHost"]);
});

test("a rollout without progress is hidden only by the fault that stopped it", () => {
  const stopped = (blocker: string): Condition =>
    condition("Progressing", "False", "ProgressDeadlineExceeded", `no progress for 10m: ${blocker}; see: x`);
  expect(roots(cluster(poolWithFaults(stopped("Machine m-dead has not joined: silent"))))).toEqual([
    "Machine",
    "BareMetalHost",
  ]);
  expect(roots(cluster(poolWithFaults(stopped("Machine m-old: Node runs v1.34.4"))))).toEqual([
    "Machine",
    "BareMetalHost",
    "WorkerPool",
  ]);
});

test("replicas that fit nowhere degrade a pool after a minute, whatever else changes in it", () => {
  const moved = { ...condition("Ready", "True"), lastTransitionTime: "2026-01-01T00:09:00Z" };
  const message = "1 replicas do not fit into any member (own cooling down): run x, add a member";
  const placed = condition("Placed", "False", "NoMemberHasRoom", message);
  const pool = node("WorkerPool", [condition("Available", "True"), placed], { children: [node("Machine", [moved])] });
  expect(at(cluster(pool), 59)).toBe("Progressing");
  expect(at(cluster(pool), 60)).toBe("Degraded");
  const { causes } = assess(cluster(pool), { nowMs: after(60), providers: PROVIDERS, namespace: "default" });
  expect(causes[0]?.cause).toBe(
    "WorkerPool workerpool has no room: 1 replicas do not fit into any member (own cooling down).",
  );
  expect(causes[0]?.steps[0]).toMatch(/: capstan retry workerpool workerpool$/);
});
