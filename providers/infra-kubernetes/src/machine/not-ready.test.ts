import type { Pod } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { running } from "../testing/outer.ts";
import { World } from "../testing/world.ts";

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(() => world.close());

test("reports a pod that runs and is not ready for longer than recreationTimeout, although its machine is provisioned", async () => {
  await world.machine("m1", { recreationPolicy: "Always", recreationTimeout: "5m" });
  world.outer.runner.fate = (pod) => ({
    ...running(pod),
    conditions: [{ type: "Ready", status: "False" }],
    containerStatuses: [{ name: "node", ready: false, started: true, restartCount: 0, state: { running: {} } }],
  });
  await world.client.delete((await world.pod()) as Pod, { gracePeriodSeconds: 0 });
  await world.pass(240);
  expect(await world.condition()).toMatchObject({ status: "True" });
  await world.pass(120);
  expect(await world.condition()).toMatchObject({
    status: "False",
    reason: "PodNotReady",
    message: expect.stringContaining("is running and not ready for 5m") as string,
  });
  expect((await world.get()).status?.initialization?.provisioned).toBe(true);
  world.outer.runner.fate = running;
  await world.client.patchStatus((await world.pod()) as Pod, { status: running((await world.pod()) as Pod) });
  await world.pass(10);
  expect(await world.condition()).toMatchObject({ status: "True" });
});
