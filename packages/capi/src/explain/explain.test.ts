import type { Condition } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { explain } from "./explain.ts";
import type { ObjectNode } from "./why.ts";

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
    "Host own-1 has gone silent: it is off, cut off from the network, or its kubelet has stopped.",
  );
  expect(found?.steps).toEqual([
    "see when it was last heard of: capstan host list -n team",
    "switch it on or reconnect it: it comes back by itself",
    "or give it up, and the machine is replaced on another host: kubectl delete machine m1 -n team",
  ]);
});

test("a bare-metal host is looked at with kubectl, in its namespace: it is none of the own hosts", () => {
  const silent = machineSays("X", "Kubelet stopped posting node status.", node("BareMetalHost", "metal-1", [well]));
  expect(explain(silent, "team")?.steps[0]).toBe("see whether it is on: kubectl get baremetalhost metal-1 -n team");
  const troubled = node("BareMetalHost", "metal-1", [condition("Ready", "False", "power management error", "refused")]);
  expect(explain(troubled, "team", "c1")?.steps).toEqual([
    "see that its management controller answers and the credentials are right: kubectl describe baremetalhost metal-1 -n team",
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

test("hosts in error are to be looked at before others are registered", () => {
  const message = "of 1 matching BareMetalHosts none is available (1 in error): register another, or wait";
  const found = explain(machineSays("AssociateBareMetalHostFailed", message), "edge");
  expect(found?.steps[0]).toBe("see what is wrong with a host in error: capstan why baremetalhost/NAME -n edge");
});

test("paused is paused, and how to go on", () => {
  const found = explain(
    node("Cluster", "c1", [condition("Available", "Unknown", "X", ""), condition("Paused", "True", "Paused", "")]),
    "default",
  );
  expect(found?.cause).toContain("is paused");
  expect(found?.steps).toEqual(["go on: capstan resume c1"]);
});
