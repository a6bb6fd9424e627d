import type { Condition } from "@capstan/apimachinery";
import { PROVIDERS } from "@capstan/manager/providers";
import { expect, test } from "vitest";
import type { Explanation } from "./explain.ts";
import type { ObjectNode } from "./object-node.ts";
import { assess } from "./state.ts";

const condition = (type: string, status: Condition["status"], reason: string, message: string): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

const node = (kind: string, name: string, conditions: Condition[], children: ObjectNode[] = []): ObjectNode => ({
  kind,
  name,
  conditions,
  deleting: false,
  children,
});

/** An hour after everything in these tests changed last. */
const LATER = Date.parse("2026-01-01T01:00:00Z");
const all = (root: ObjectNode, namespace: string, cluster?: string): Explanation[] =>
  assess(root, { nowMs: LATER, providers: PROVIDERS, namespace, cluster }).causes;
const explain = (root: ObjectNode, namespace: string, cluster?: string): Explanation | undefined =>
  all(root, namespace, cluster)[0];

const well = condition("Ready", "True", "Ready", "");

/** A cluster whose one machine says this, on a host. */
function machineSays(reason: string, message: string, host = node("ByoHost", "own-1", [well])): ObjectNode {
  const infra = node(host.kind === "ByoHost" ? "ByoMachine" : "Metal3Machine", "m1", [well], [host]);
  const machine = node("Machine", "m1", [condition("NodeHealthy", "False", reason, message)], [infra]);
  return node("Cluster", "c1", [condition("Available", "False", "NotAvailable", "")], [machine]);
}

test("nothing to explain", () => {
  expect(explain(node("Cluster", "c1", [condition("Available", "True", "Available", "")]), "default")).toBeUndefined();
});

test("a silent kubelet is a host that is off, and the host is named", () => {
  const found = explain(machineSays("NodeNotHealthy", "* Node.Ready: Kubelet stopped posting node status."), "team");
  expect(found?.cause).toBe(
    "Host own-1 has gone silent: it is powered off, cut off from the network, or its kubelet has stopped.",
  );
  expect(found?.steps).toEqual([
    "see when it last reported: capstan host list -n team",
    "power it on or reconnect it; it recovers by itself",
    "or replace the machine on another host: kubectl delete machine m1 -n team",
  ]);
});

test("a bare-metal host is inspected with kubectl, in its namespace", () => {
  const silent = machineSays("X", "Kubelet stopped posting node status.", node("BareMetalHost", "metal-1", [well]));
  expect(explain(silent, "team")?.steps[0]).toBe(
    "check whether it is powered on: kubectl get baremetalhost metal-1 -n team",
  );
  const troubled = node("BareMetalHost", "metal-1", [condition("Ready", "False", "power management error", "refused")]);
  expect(explain(troubled, "team", "c1")?.steps).toEqual([
    "check that its management controller answers and the credentials are right: kubectl describe baremetalhost metal-1 -n team",
  ]);
});

test.each([
  [
    "NodeNotHealthy",
    "container runtime network not ready: cni plugin not initialized",
    /^The nodes have no pod network/,
  ],
  [
    "InsufficientCapacity",
    "there are no hosts: enrol one with: capstan host add NAME",
    /^No host is free for machine m1: there are no hosts\.$/,
  ],
  [
    "AssociateBareMetalHostFailed",
    "of 2 matching BareMetalHosts none is available (2 in use): register another, or wait",
    /^No host is free for machine m1: of 2 matching BareMetalHosts none is available \(2 in use\)\.$/,
  ],
  ["Strange", "* first line\n  * second line", /^Machine m1: first line; second line$/],
  ["Strange", "", /^Machine m1 reports Strange\.$/],
])("%s, %s", (reason, message, cause) => {
  const found = explain(machineSays(reason, message), "default");
  expect(found?.cause).toMatch(cause);
  expect(found?.steps.length).toBeGreaterThan(0);
  expect(found?.steps.join(" ")).not.toContain("-n default");
});

test("a host in error is the first thing to look at when no host is free", () => {
  const message = "of 1 matching BareMetalHosts none is available (1 in error): register another, or wait";
  const found = explain(machineSays("AssociateBareMetalHostFailed", message), "edge");
  expect(found?.steps[0]).toBe("see what is wrong with a host in error: capstan why baremetalhost/NAME -n edge");
});

test("a paused cluster says so, and how to resume it", () => {
  const found = explain(
    node("Cluster", "c1", [condition("Available", "Unknown", "X", ""), condition("Paused", "True", "Paused", "")]),
    "default",
  );
  expect(found?.cause).toContain("is paused");
  expect(found?.steps).toEqual(["resume it: capstan resume c1"]);
});

test("machines with the same cause are one cause, with the others named", () => {
  const network = "container runtime network not ready: cni plugin not initialized";
  const machines = Array.from({ length: 12 }, (_, i) =>
    node("Machine", `m${i}`, [
      condition("Ready", "False", "NotReady", ""),
      condition("NodeHealthy", "False", "NodeNotHealthy", network),
    ]),
  );
  const causes = all(node("Cluster", "c1", [condition("Available", "True", "Available", "")], machines), "default");
  expect(causes).toHaveLength(1);
  expect(causes[0]?.alike).toMatchObject({ count: 11 });
  expect(causes[0]?.alike?.names).toHaveLength(10);
});
