import type { KubeObject } from "@capstan/apimachinery";
import { Cluster, Machine, MachineDeployment, MachineSet } from "@capstan/capi";
import type { Kind } from "@capstan/runtime";
import { describe, expect, test } from "vitest";
import { addCluster, corePlane, deployment, listed, templates } from "../testing/core-plane.ts";
import { NAMESPACE } from "../testing/objects.ts";
import { crashAtEveryWrite, type Plane } from "../testing/plane.ts";
import { TestConfig, TestMachine } from "../testing/test-infrastructure.ts";

const MD = { kind: MachineDeployment, namespace: NAMESPACE, name: "md" };
const KINDS: Kind<KubeObject>[] = [Cluster, MachineDeployment, MachineSet, Machine, TestMachine, TestConfig] as never;

/** Everything there is, without names made by chance: kinds with owners, phases and counts. */
async function state(plane: Plane): Promise<string[]> {
  const lines: string[] = [];
  for (const kind of KINDS) {
    for (const object of await listed(plane, kind)) {
      const { metadata, status } = object as KubeObject & { status?: Record<string, unknown> };
      const owner = metadata.ownerReferences?.map((reference) => reference.kind).join("+") ?? "";
      const told = ["phase", "replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"]
        .map((field) => status?.[field])
        .filter((value) => value !== undefined);
      lines.push(`${kind.kind} of ${owner} ${told.join(" ")} ${(metadata.finalizers ?? []).join(",")}`);
    }
  }
  return lines.sort();
}

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
      state,
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
      state,
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
      state,
      check: (actual, _, k) => expect(actual, `after write ${k}`).toEqual([]),
    });
  }, 300_000);
});
