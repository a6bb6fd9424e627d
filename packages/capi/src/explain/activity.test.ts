import type { Condition } from "@capstan/apimachinery";
import { PROVIDERS } from "@capstan/manager/providers";
import { expect, test } from "vitest";
import { activitiesOf, activityOf, activityText } from "./activity.ts";
import type { ObjectNode } from "./object-node.ts";
import { assess, stateText } from "./state.ts";

const NOW_MS = Date.parse("2026-01-01T01:00:00Z");
const AT = { early: "2026-01-01T00:10:00Z", later: "2026-01-01T00:58:00Z", last: "2026-01-01T00:59:20Z" };

const condition = (
  type: string,
  status: Condition["status"] = "True",
  lastTransitionTime = AT.early,
  message = "",
  reason = type,
): Condition => ({ type, status, reason, message, lastTransitionTime });

function machine(name: string, conditions: Condition[], more: Partial<ObjectNode> = {}): ObjectNode {
  return {
    kind: "Machine",
    name,
    conditions,
    deleting: false,
    children: [],
    created: AT.early,
    initialized: true,
    ...more,
  };
}

const current = (name: string): ObjectNode => machine(name, [condition("Ready"), condition("UpToDate")]);
const outdated = (name: string): ObjectNode =>
  machine(name, [condition("Ready"), condition("UpToDate", "False", AT.early, "* Version v1, v2 required")]);

function plane(children: ObjectNode[], conditions: Condition[] = [], more: Partial<ObjectNode> = {}): ObjectNode {
  return {
    kind: "KubeadmControlPlane",
    name: "cp",
    conditions: [condition("Available"), ...conditions],
    deleting: false,
    children,
    created: AT.early,
    replicas: { desired: 3, current: children.length, available: 3 },
    ...more,
  };
}

const shown = (node: ObjectNode): string[] => (activityOf(node) ?? []).map((each) => activityText(each, NOW_MS));

test("a control plane that is as its spec wants it does nothing", () => {
  expect(shown(plane([current("a"), current("b"), current("c")]))).toEqual([]);
});

test("a rollout counts Machines that have joined, and names the one that starts and its step", () => {
  const starting = machine(
    "new-2",
    [
      condition("UpToDate"),
      condition("BootstrapConfigReady", "True", AT.later),
      condition("InfrastructureReady", "True", AT.last),
    ],
    { initialized: false, created: AT.later },
  );
  const rolling = plane([current("new-1"), starting, outdated("old-1"), outdated("old-2")]);
  expect(shown(rolling)).toEqual(["1 of 3 Machines replaced; Machine new-2 waits for its Node, for 40s"]);
  const { state } = assess(rolling, { nowMs: NOW_MS, namespace: "n", providers: PROVIDERS });
  expect(stateText(state)).toBe("Progressing (1 of 3)");
});

test("a Machine that is deleted comes first, since its deletion was requested", () => {
  const leaving = { ...outdated("old-1"), deleting: true, deletedAt: AT.later };
  leaving.conditions = [...leaving.conditions, condition("Deleting", "True", AT.later, "Drain not completed yet:")];
  expect(shown(plane([current("a"), current("b"), current("c"), leaving]))).toEqual([
    "3 of 3 Machines replaced; Machine old-1 is being deleted: Drain not completed yet:, for 2m",
  ]);
});

test("between two Machines the controller says what it waits for, since the rollout began", () => {
  const said = condition("Progressing", "True", AT.early, "Deleting Machine old-1 (1 of 3 Machines replaced)");
  const rolling = condition("RollingOut", "True", AT.later);
  expect(shown(plane([current("a"), outdated("b"), outdated("c")], [said, rolling]))).toEqual([
    "1 of 3 Machines replaced; Deleting Machine old-1, for 2m",
  ]);
});

test("a scale-up counts Machines that have joined, and names what the next one waits for", () => {
  const waiting = machine(
    "b",
    [
      condition("UpToDate"),
      condition("BootstrapConfigReady"),
      condition("InfrastructureReady", "False", AT.later, "no free host"),
    ],
    { initialized: false },
  );
  expect(shown(plane([current("a"), waiting]))).toEqual([
    "1 of 3 Machines joined; Machine b waits for its infrastructure: no free host, for 50m",
  ]);
});

test("a remediation counts healthy Machines, and says why the failed one is not replaced yet", () => {
  const failed = machine("b", [
    condition("UpToDate"),
    condition("HealthCheckSucceeded", "False", AT.early),
    condition("OwnerRemediated", "False", AT.later, "etcd would lose its quorum"),
  ]);
  expect(shown(plane([current("a"), failed, current("c")]))).toEqual([
    "2 of 3 Machines healthy; Machine b has failed its health check: etcd would lose its quorum, for 2m",
  ]);
});

test("nothing is said of what is paused or deleted, nor without Machines", () => {
  const busy = plane([outdated("a")]);
  expect(activitiesOf({ ...busy, paused: true })).toEqual([]);
  expect(activitiesOf({ ...busy, deleting: true })).toEqual([]);
  expect(activitiesOf(plane([]))).toEqual([]);
  const cluster = machine("c", [], { kind: "Cluster", children: [busy] });
  expect(activitiesOf(cluster)).toHaveLength(1);
  expect(activitiesOf({ ...cluster, paused: true })).toEqual([]);
});
