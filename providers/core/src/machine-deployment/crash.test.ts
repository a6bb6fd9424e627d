import { Cluster, MachineDeployment } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { addCluster, corePlane, deployment, templates } from "../testing/core-plane.ts";
import { NAMESPACE } from "../testing/objects.ts";
import { crashAtEveryWrite, type Plane } from "../testing/plane.ts";
import { workerState } from "../testing/worker-state.ts";

const MD = { kind: MachineDeployment, namespace: NAMESPACE, name: "md" };
async function prepared(): Promise<Plane> {
  const plane = await corePlane();
  await addCluster(plane);
  for (const name of ["t1", "t2"]) for (const template of templates(name)) await plane.user.create(template);
  return plane;
}

describe("killed after every write and started again", () => {
  test("a deployment comes up", async () => {
    const writes = await crashAtEveryWrite({
      start: prepared,
      act: async (plane) => void (await plane.user.create(deployment("md", "t1", 2))),
      wait: (plane) => plane.settle(30_000),
      state: workerState,
      check: (actual, expected, k) => expect(actual, `after write ${k}`).toEqual(expected),
    });
    expect(writes).toBeGreaterThan(20);
  }, 300_000);

  test("a rollout completes", async () => {
    await crashAtEveryWrite({
      start: async () => {
        const plane = await prepared();
        await plane.user.create(deployment("md", "t1", 1));
        await plane.settle(5000);
        return plane;
      },
      act: async (plane) =>
        void (await plane.user.patch(MD, { spec: { template: { spec: { infrastructureRef: { name: "t2" } } } } })),
      wait: (plane) => plane.settle(60_000),
      state: workerState,
      check: (actual, expected, k) => expect(actual, `after write ${k}`).toEqual(expected),
    });
  }, 300_000);

  test("a cluster goes with all it has", async () => {
    await crashAtEveryWrite({
      start: async () => {
        const plane = await prepared();
        await plane.user.create(deployment("md", "t1", 1));
        await plane.settle(5000);
        return plane;
      },
      act: async (plane) => void (await plane.user.delete({ kind: Cluster, namespace: NAMESPACE, name: "c1" })),
      wait: (plane) => plane.settle(60_000),
      state: workerState,
      check: (actual, _, k) => expect(actual, `after write ${k}`).toEqual([]),
    });
  }, 300_000);
});
