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
const node = (kind: string, conditions: Condition[], children: ObjectNode[] = []): ObjectNode => ({
  kind,
  name: "m1",
  conditions,
  deleting: false,
  children,
});

/** Right after the condition changed: what needs a person is said at once. */
const NOW = Date.parse("2026-01-01T00:00:10Z");

function explain(reason: string, message: string): Explanation | undefined {
  const infra = node("KubernetesMachine", [condition("Ready", "False", reason, message)]);
  const waiting = condition("InfrastructureReady", "False", reason, message);
  const machine = node("Machine", [waiting], [infra]);
  const root = node("Cluster", [condition("Available", "False", "NotAvailable", "")], [machine]);
  return assess(root, { nowMs: NOW, providers: PROVIDERS, namespace: "default", cluster: "c1" }).causes[0];
}

test("a bootstrap script that failed is a fault, with its command and output", () => {
  const found = explain("BootstrapFailed", 'the node exited with code 1: "kubeadm join" exited with code 1\ntimed out');
  expect(found?.level).toBe("Degraded");
  expect(found?.cause).toContain('"kubeadm join" exited with code 1');
  expect(found?.steps.join()).toContain("MachineHealthCheck");
});

test.each(["PodSecurityForbids", "NetworksOverlap", "HostClusterNotKnown", "PodLost"])(
  "%s is a fault at once",
  (reason) => {
    const found = explain(reason, "what the outer cluster says, and the cure");
    expect(found?.level).toBe("Degraded");
    expect(JSON.stringify(found)).toContain("what the outer cluster says, and the cure");
  },
);

test("a pod that starts is no fault", () => {
  expect(explain("Bootstrapping", "the node has started")?.level).not.toBe("Degraded");
});

test("pods without room have a cure for the outer cluster", () => {
  const found = explain("InsufficientCapacity", "No outer node has room for pod m1: 1 Insufficient memory.");
  expect(found?.steps.join()).toContain("add nodes to the outer cluster");
});
