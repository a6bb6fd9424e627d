import { formatTime } from "@capstan/apimachinery";
import type { Cluster, Machine, Node } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { type EvaluationInput, evaluate, type NodeState } from "./evaluate.ts";
import { remediationPermission } from "./remediation-limit.ts";
import { HEARTBEAT_MS, look } from "./sleep-detection.ts";

const NOW = Date.UTC(2026, 0, 2);
const ago = (seconds: number): string => formatTime(NOW - seconds * 1000);
const condition = (type: string, status: string, seconds: number, reason = "R"): object => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: ago(seconds),
});

function input(over: {
  checks?: EvaluationInput["checks"];
  node?: NodeState;
  machine?: object;
  machineConditions?: object[];
  clusterConditions?: object[];
  awakeFor?: number;
}): EvaluationInput {
  return {
    checks: over.checks ?? {},
    cluster: {
      metadata: { name: "c" },
      status: {
        conditions: over.clusterConditions ?? [
          condition("ControlPlaneInitialized", "True", 3600),
          condition("InfrastructureReady", "True", 3600),
        ],
      },
    } as unknown as Cluster,
    target: {
      machine: {
        metadata: { name: "m", creationTimestamp: ago(1000), ...over.machine },
        status: { conditions: over.machineConditions ?? [] },
      } as unknown as Machine,
      node: over.node ?? { state: "none" },
    },
    nowMs: NOW,
    awakeSinceMs: NOW - (over.awakeFor ?? 100_000) * 1000,
  };
}

const node = (...conditions: object[]): NodeState => ({
  state: "found",
  node: { metadata: { name: "n" }, status: { conditions } } as unknown as Node,
});
const notReady = { unhealthyNodeConditions: [{ type: "Ready", status: "False", timeoutSeconds: 300 }] };

describe("one Machine is", () => {
  const cases: [string, Parameters<typeof input>[0], object][] = [
    [
      "unhealthy when marked for remediation, whatever else",
      { machine: { annotations: { "cluster.x-k8s.io/remediate-machine": "" } }, clusterConditions: [] },
      { state: "unhealthy", condition: { reason: "HasRemediateAnnotation" } },
    ],
    ["not judged before the control plane is initialized", { clusterConditions: [] }, { state: "undecided" }],
    [
      "judged before that if it is of the control plane",
      {
        clusterConditions: [condition("InfrastructureReady", "True", 3600)],
        machine: { labels: { "cluster.x-k8s.io/control-plane": "" } },
      },
      { state: "unhealthy", condition: { reason: "NodeStartupTimeout" } },
    ],
    [
      "not judged without cluster infrastructure",
      { clusterConditions: [condition("ControlPlaneInitialized", "True", 3600)] },
      { state: "undecided" },
    ],
    [
      "unhealthy when its Node is gone",
      { node: { state: "deleted", name: "n", sinceMs: 0 } },
      {
        state: "unhealthy",
        condition: { reason: "NodeDeleted", message: "Health check failed:\n  * Node n has been deleted" },
      },
    ],
    ["not judged when its Node cannot be looked up", { node: { state: "unknown" } }, { state: "undecided" }],
    [
      "unhealthy when no Node appeared in time",
      {},
      {
        state: "unhealthy",
        condition: {
          reason: "NodeStartupTimeout",
          message: "Health check failed:\n  * Node failed to report startup in 10m0s",
        },
      },
    ],
    [
      "given time from when its infrastructure was ready",
      { machineConditions: [condition("InfrastructureReady", "True", 100)] },
      { state: "undecided", recheckMs: 501_000 },
    ],
    ["given all time when the timeout is 0", { checks: { nodeStartupTimeoutSeconds: 0 } }, { state: "undecided" }],
    [
      "healthy with a Node and nothing against it",
      { node: node(condition("Ready", "True", 5)), checks: notReady },
      { state: "healthy" },
    ],
    [
      "tolerated for a while",
      { node: node(condition("Ready", "False", 100)), checks: notReady },
      { state: "undecided", recheckMs: 201_000 },
    ],
    [
      "tolerated to the very end of the timeout",
      { node: node(condition("Ready", "False", 300)), checks: notReady },
      { state: "undecided", recheckMs: 1000 },
    ],
    [
      "unhealthy when its Node was bad too long",
      { node: node(condition("Ready", "False", 301, "Kubelet")), checks: notReady },
      {
        state: "unhealthy",
        condition: {
          reason: "UnhealthyNode",
          message:
            "Health check failed:\n  * Condition Ready on Node is reporting status False with reason Kubelet for more than 5m0s",
        },
      },
    ],
    [
      "unhealthy by its own condition first, with all messages",
      {
        node: { state: "deleted", name: "n", sinceMs: 0 },
        machineConditions: [condition("DiskOk", "False", 20)],
        checks: { unhealthyMachineConditions: [{ type: "DiskOk", status: "False", timeoutSeconds: 10 }] },
      },
      {
        state: "unhealthy",
        condition: {
          reason: "UnhealthyMachine",
          message:
            "Health check failed:\n  * Condition DiskOk on Machine is reporting status False with reason R for more than 10s\n  * Node n has been deleted",
        },
      },
    ],
    [
      "given a fresh period after waking, for its Node's conditions",
      { node: node(condition("Ready", "False", 30_000)), checks: notReady, awakeFor: 60 },
      { state: "undecided", recheckMs: 241_000 },
    ],
    ["given a fresh period after waking, for its start", { awakeFor: 0 }, { state: "undecided", recheckMs: 601_000 }],
    [
      "not judged while it is being deleted, though its Node is gone: that is how a Machine goes",
      {
        node: { state: "deleted", name: "n", sinceMs: 0 },
        machine: { deletionTimestamp: "2026-01-01T00:00:00Z" },
      },
      { state: "undecided" },
    ],
    [
      "not healthy while it is being deleted",
      { node: node(), machine: { deletionTimestamp: ago(1) } },
      { state: "undecided" },
    ],
  ];
  test.each(cases)("%s", (_name, over, expected) => {
    const verdict = evaluate(input(over));
    expect(verdict).toMatchObject(expected);
    if (!("recheckMs" in expected)) expect(verdict).not.toHaveProperty("recheckMs");
  });
});

describe("repairing is", () => {
  const counts = (total: number, healthy: number): { total: number; healthy: number; unhealthy: number } => ({
    total,
    healthy,
    unhealthy: total - healthy,
  });
  const cases: [string, Parameters<typeof remediationPermission>[0], [number, number], boolean, number][] = [
    ["allowed without limit", undefined, [3, 0], true, 0],
    ["allowed up to a number", { unhealthyLessThanOrEqualTo: 2 }, [5, 3], true, 0],
    ["refused above it", { unhealthyLessThanOrEqualTo: 2 }, [5, 2], false, 0],
    ["allowed up to a percentage, rounded down", { unhealthyLessThanOrEqualTo: "50%" }, [5, 3], true, 0],
    ["refused above the percentage", { unhealthyLessThanOrEqualTo: "50%" }, [5, 2], false, 0],
    [
      "allowed inside a range, which wins",
      { unhealthyInRange: "[2-4]", unhealthyLessThanOrEqualTo: 0 },
      [6, 4],
      true,
      2,
    ],
    ["refused below the range", { unhealthyInRange: "[2-4]" }, [6, 5], false, 0],
    ["refused above the range", { unhealthyInRange: "[2-4]" }, [6, 1], false, 0],
    ["refused for nonsense", { unhealthyInRange: "[4-2]" }, [6, 3], false, 0],
    ["refused for text", { unhealthyLessThanOrEqualTo: "many" }, [6, 6], false, 0],
  ];
  test.each(cases)("%s", (_name, trigger, [total, healthy], allowed, remaining) => {
    expect(remediationPermission(trigger, counts(total, healthy))).toMatchObject({ allowed, remaining });
  });

  test("said in numbers", () => {
    expect(remediationPermission({ unhealthyLessThanOrEqualTo: "40%" }, counts(4, 1)).condition.message).toBe(
      "Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (total: 4, unhealthy: 3, maxUnhealthy: 40%)",
    );
  });
});

describe("sleep detection", () => {
  const first = look(undefined, 1000, 5);
  const cases: [string, number, number, boolean][] = [
    ["continues over a heartbeat", HEARTBEAT_MS, HEARTBEAT_MS, false],
    ["continues over a late heartbeat", 2 * HEARTBEAT_MS, 2 * HEARTBEAT_MS, false],
    ["begins again after a gap", 4 * HEARTBEAT_MS, 4 * HEARTBEAT_MS, true],
    ["begins again when only the wall clock moved", 3_600_000, 10, true],
    ["continues over small corrections", 5000, 10, false],
    ["begins again when the clock was set back", -5000, 10, true],
  ];
  test.each(cases)("%s", (_name, passed, ran, anew) => {
    expect(look(first, 1000 + passed, 5 + ran).awakeSinceMs).toBe(anew ? 1000 + passed : 1000);
  });
});
