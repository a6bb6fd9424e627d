import type { Node } from "@capstan/capi";
import { expect, test } from "vitest";
import type { MachineConditionsInput } from "./machine.conditions.ts";
import { nodeConditions } from "./machine.node-conditions.ts";

const ready = (status: string, message: string) => {
  const node = { status: { conditions: [{ type: "Ready", status, reason: "KubeletNotReady", message }] } };
  return nodeConditions({ scope: { node: node as unknown as Node } } as unknown as MachineConditionsInput).ready;
};

test("a Node NotReady for lack of a pod network has a reason of its own, with the cure", () => {
  const kubelet =
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized";
  expect(ready("False", kubelet)).toMatchObject({ status: "False", reason: "PodNetworkMissing" });
  expect(ready("False", kubelet).message).toMatch(/cni plugin not initialized[\s\S]*apply one.*ClusterResourceSet/);
});

test("any other Node NotReady says what the kubelet says", () => {
  expect(ready("False", "PLEG is not healthy")).toMatchObject({
    reason: "NodeNotReady",
    message: "* Node.Ready: PLEG is not healthy",
  });
  expect(ready("True", "")).toMatchObject({ status: "True", reason: "NodeReady" });
});

const initialized = { infrastructureProvisioned: true, controlPlaneInitialized: true };
const reference = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "FooMachine", name: "m" };
test.each([
  [
    "infrastructure of the cluster",
    {},
    {},
    {},
    "Unknown InspectionFailed: Waiting for Cluster status.initialization.infra",
  ],
  [
    "control plane",
    { infrastructureProvisioned: true },
    {},
    {},
    "Unknown InspectionFailed: Waiting for Cluster control plane to be initialized",
  ],
  ["provider ID", initialized, {}, {}, "Unknown InspectionFailed: Waiting for FooMachine m to report spec.providerID"],
  ["Node", initialized, { providerID: "x" }, {}, "Unknown InspectionFailed: Waiting for a Node with spec.providerID x"],
  [
    "nothing",
    initialized,
    {},
    { deletionTimestamp: "2026-01-01T00:00:00Z" },
    "Unknown NodeDoesNotExist: Node does not",
  ],
])("without a Node a Machine says what it waits for: %s", (_, initialization, spec, metadata, expected) => {
  const scope = {
    machine: { metadata, spec: { infrastructureRef: reference, ...spec } },
    cluster: { status: { initialization } },
    connection: { state: "connected" },
  };
  const { healthy, ready: isReady } = nodeConditions({ scope, nowMs: 0 } as unknown as MachineConditionsInput);
  expect(`${healthy.status} ${healthy.reason}: ${healthy.message}`).toContain(expected);
  expect(isReady).toEqual({ ...healthy, type: "NodeReady" });
});
