import { Machine } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NodeKind } from "../drain/kinds.ts";
import { addCluster, corePlane, existing } from "../testing/core-plane.ts";
import { addMachine } from "../testing/machines.ts";
import { NAMESPACE } from "../testing/objects.ts";
import type { Plane } from "../testing/plane.ts";

const HOOK = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/test";
const W1 = { kind: Machine, namespace: NAMESPACE, name: "w1" };

let plane: Plane;
let workload: Client;

/** A Machine whose deletion has taken longer than its Node's may, and that only its Node is left of. */
beforeEach(async () => {
  plane = await corePlane();
  workload = await addCluster(plane);
  await addMachine(plane, "m1", { labels: { "cluster.x-k8s.io/control-plane": "" } });
  await addMachine(plane, "w1", { annotations: { [HOOK]: "" } });
  await plane.settle(5000);
  await plane.user.delete(W1);
  await plane.settle(60_000);
  expect(await workload.get(NodeKind, { name: "w1" })).toBeDefined();
});
afterEach(() => plane.close());

const releaseHook = async (): Promise<void> => {
  await plane.user.patch(await existing(plane, Machine, "w1"), { metadata: { annotations: { [HOOK]: null } } });
};

test("an API that is silent for a moment is asked again, and one that stays silent costs the Machine ten seconds", async () => {
  plane.setReachable(NAMESPACE, "c1", false);
  await plane.stopControllers();
  await plane.startControllers();
  await plane.settle(60_000);
  await releaseHook();
  await plane.settle(3000);
  expect(await plane.user.get(Machine, W1)).toBeDefined();
  await plane.settle(20_000);
  expect(await plane.user.get(Machine, W1)).toBeUndefined();
  expect(await workload.get(NodeKind, { name: "w1" })).toBeDefined();
});
