import type { Unstructured } from "@capstan/apimachinery";
import { Machine, MachineSet } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { addCluster, corePlane, listed, machineTemplateSpec, templates } from "../testing/core-plane.ts";
import { NAMESPACE } from "../testing/objects.ts";
import { crashAtEveryWrite, type Plane } from "../testing/plane.ts";
import { workerState } from "../testing/worker-state.ts";

const MS = { kind: MachineSet, namespace: NAMESPACE, name: "ms" };
const labels = { set: "ms" };

async function prepared(): Promise<Plane> {
  const plane = await corePlane();
  await addCluster(plane);
  for (const template of templates("t1")) await plane.user.create(template);
  return plane;
}

async function addSet(plane: Plane, replicas: number): Promise<void> {
  await plane.user.create({
    apiVersion: MachineSet.apiVersion,
    kind: MachineSet.kind,
    metadata: { namespace: NAMESPACE, name: "ms" },
    spec: {
      clusterName: "c1",
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: machineTemplateSpec("t1") },
    },
  } as Unstructured);
}

async function withSet(replicas: number): Promise<Plane> {
  const plane = await prepared();
  await addSet(plane, replicas);
  await plane.settle(5000);
  return plane;
}

/** The same end, whatever write it is killed after. */
async function sameEnd(start: () => Promise<Plane>, act: (plane: Plane) => Promise<unknown>): Promise<number> {
  return await crashAtEveryWrite({
    start,
    act: async (plane) => void (await act(plane)),
    wait: (plane) => plane.settle(60_000),
    state: workerState,
    check: (actual, expected, k) => expect(actual, `after write ${k}`).toEqual(expected),
  });
}

describe("a set that belongs to no deployment, killed after every write and started again", () => {
  test("comes up", async () => {
    expect(await sameEnd(prepared, (plane) => addSet(plane, 2))).toBeGreaterThan(15);
  }, 300_000);

  test("shrinks and leaves nothing of what it gives up", async () => {
    const writes = await sameEnd(
      () => withSet(3),
      (plane) => plane.user.patch(MS, { spec: { replicas: 1 } }),
    );
    expect(writes).toBeGreaterThan(3);
  }, 300_000);

  test("adopts orphaned Machines, and creates none in addition", async () => {
    const orphaned = async (): Promise<Plane> => {
      const plane = await withSet(2);
      await plane.user.delete(MS, { propagationPolicy: "Orphan" });
      await plane.settle(5000);
      expect((await listed(plane, Machine)).map(({ metadata }) => metadata.ownerReferences?.[0]?.kind)).not.toContain(
        "MachineSet",
      );
      return plane;
    };
    expect(await sameEnd(orphaned, (plane) => addSet(plane, 2))).toBeGreaterThan(1);
  }, 300_000);
});
