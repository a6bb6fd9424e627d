import { Machine } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NodeKind } from "../drain/kinds.ts";
import { addClusterObjects, conditionText, corePlane, existing } from "../testing/core-plane.ts";
import { addMachine } from "../testing/machines.ts";
import { NAMESPACE } from "../testing/objects.ts";
import type { Plane } from "../testing/plane.ts";
import { TestMachine } from "../testing/test-infrastructure.ts";

const CONTROL_PLANE = { "cluster.x-k8s.io/control-plane": "" };
const HOOK = { "pre-terminate.delete.hook.machine.cluster.x-k8s.io/test": "" };

let plane: Plane;
let workload: Client;

/** Three control plane Machines and a worker; the API answers at the Machines only. */
beforeEach(async () => {
  plane = await corePlane();
  await addClusterObjects(plane);
  const api = await plane.addWorkloadAtMachine(NAMESPACE, "c1");
  workload = api.client;
  for (const name of ["m1", "m2", "m3"]) await addMachine(plane, name, { labels: CONTROL_PLANE, annotations: HOOK });
  await addMachine(plane, "w1");
  for (const name of ["m1", "m2", "m3"])
    await plane.user.patchStatus(
      { kind: TestMachine, namespace: NAMESPACE, name },
      { status: { addresses: [{ type: "InternalIP", address: api.address }] } },
    );
  await plane.settle(5000);
  plane.setReachable(NAMESPACE, "c1", false);
  // A watch that is open does not notice the endpoint.
  await plane.stopControllers();
  await plane.startControllers();
  await plane.settle(60_000);
}, 60_000);
afterEach(() => plane.close());

/** Lets connections open in real time while virtual time advances slowly. */
async function eventually(check: () => Promise<void>): Promise<void> {
  await vi.waitFor(
    async () => {
      await plane.settle(200);
      await check();
    },
    { timeout: 10_000, interval: 10 },
  );
}

const machine = (name: string): Promise<Machine> => existing(plane, Machine, name);

test("a control plane Machine is drained at the Machines while the endpoint is down, and its deletion continues", async () => {
  await plane.user.delete({ kind: Machine, namespace: NAMESPACE, name: "m1" });
  await eventually(async () =>
    expect(conditionText(await machine("m1"), "Deleting")).toContain("WaitingForPreTerminateHook"),
  );
  expect((await workload.get(NodeKind, { name: "m1" }))?.spec?.unschedulable).toBe(true);
  await plane.user.patch(await machine("m1"), { metadata: { annotations: { [Object.keys(HOOK)[0] ?? ""]: null } } });
  await eventually(async () => {
    expect(await plane.user.get(Machine, { namespace: NAMESPACE, name: "m1" })).toBeUndefined();
  });
  expect(await workload.get(NodeKind, { name: "m1" })).toBeUndefined();
});

test("a worker is drained at the control plane Machines while the endpoint is down", async () => {
  await plane.user.delete({ kind: Machine, namespace: NAMESPACE, name: "w1" });
  await eventually(async () => {
    expect(await plane.user.get(Machine, { namespace: NAMESPACE, name: "w1" })).toBeUndefined();
  });
  expect(await workload.get(NodeKind, { name: "w1" })).toBeUndefined();
});
