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
