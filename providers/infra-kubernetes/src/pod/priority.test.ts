import { afterEach, beforeEach, expect, test } from "vitest";
import { World } from "../testing/world.ts";
import { CONTROL_PLANE_CLASS, PriorityClass } from "./priority.ts";

let world: World;
beforeEach(async () => {
  world = await World.start();
});
afterEach(() => world.close());

const classOf = async (name: string): Promise<unknown> =>
  ((await world.pod(name))?.spec as { priorityClassName?: string } | undefined)?.priorityClassName;

test("control planes have a priority class that preempts nothing, and workers none", async () => {
  await world.machine("w1");
  expect(await world.client.get(PriorityClass, { name: CONTROL_PLANE_CLASS })).toBeUndefined();
  await world.machine("m1", {}, { controlPlane: true });
  await world.machine("m2", {}, { controlPlane: true });
  expect([await classOf("m1"), await classOf("m2"), await classOf("w1")]).toEqual([
    CONTROL_PLANE_CLASS,
    CONTROL_PLANE_CLASS,
    undefined,
  ]);
  expect(await world.client.get(PriorityClass, { name: CONTROL_PLANE_CLASS })).toMatchObject({
    value: 1_000_000,
    globalDefault: false,
    preemptionPolicy: "Never",
  });
});

test("the priority class of a template takes the place of the control plane's", async () => {
  await world.machine("m1", { podTemplate: { spec: { priorityClassName: "mine" } } }, { controlPlane: true });
  expect(await world.client.get(PriorityClass, { name: CONTROL_PLANE_CLASS })).toBeUndefined();
  expect(await classOf("m1")).toBe("mine");
});
