import { expect, test } from "vitest";
import { progressLine } from "./follow-cluster.ts";

const long = "No host is free for machine general-own-kfjq7-gvggj: of 2 matching ByoHosts none is free (2 in use).";
const state = { state: "Progressing", reason: "InsufficientCapacity", message: long, since: "" } as const;

test("a line of progress begins with the reason and fits 80 columns", () => {
  const line = progressLine("MachineDeployment/general-own", "1/2", state);
  expect(line).toMatch(/^InsufficientCapacity \(Progressing\): MachineDeployment\/general-own 1\/2: No host/);
  expect(line).toHaveLength(80);
  expect(line.endsWith("…")).toBe(true);
});

test("shows a healthy object as one word and its counters", () => {
  const healthy = { state: "Healthy", reason: "Available", message: "", since: "" } as const;
  expect(progressLine("Cluster/demo", "5/5", healthy)).toBe("Healthy: Cluster/demo 5/5");
});

test("shows the first line of a message that is not empty", () => {
  const message = "* WorkersAvailable:\n  * MachineDeployment a: 0 of 1";
  expect(progressLine("Cluster/c", undefined, { ...state, message })).toBe(
    "InsufficientCapacity (Progressing): Cluster/c: * WorkersAvailable: * MachineDep…",
  );
});

test("shows the progress of a rollout before the message", () => {
  const rolling = { ...state, reason: "RollingOut", progress: { done: 3, total: 7 } };
  expect(progressLine("WorkerPool/general", "8/7", rolling)).toMatch(
    /^RollingOut \(Progressing, 3 of 7\): WorkerPool\/general: No host/,
  );
});

test.each([
  ["Machine m-1: host own-1 runs its bootstrap data", "host own-1 runs its bootstrap data"],
  ["ByoMachine m-1: Waiting for bootstrap data", "Waiting for bootstrap data"],
  ["Machine m-12: Waiting", "Machine m-12: Waiting"],
  ["Host own-1 is silent. Machine m-1: Waiting", "Host own-1 is silent. Machine m-1: Waiting"],
])("does not name the object of the line twice: %s", (message, shown) => {
  const line = progressLine("Machine/m-1", undefined, { ...state, reason: "R", message });
  expect(line).toBe(`R (Progressing): Machine/m-1: ${shown}`);
});
