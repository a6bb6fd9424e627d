import { Cluster, KubeadmConfig, KubeadmControlPlane, Machine } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { crashAtEveryWrite, type Plane } from "../../core/src/testing/plane.ts";
import { TestMachine } from "../../core/src/testing/test-infrastructure.ts";
import { REMEDIATION_IN_PROGRESS } from "./annotations.ts";
import { NAMESPACE, World } from "./testing/world.ts";

const KEY = { namespace: NAMESPACE, name: "c1" };
/** Keys are made in real time: turns of the event loop in which they may get done. */
const TURNS = 1_000;

/** What a story ends with, without the names that chance gave. */
interface End {
  readonly machines: readonly string[];
  /** Objects that belong to no Machine. */
  readonly leftovers: readonly string[];
  readonly members: readonly string[];
  readonly annotations: string | undefined;
  readonly ready: number | undefined;
}

async function endOf(world: World): Promise<End> {
  const machines = await world.machines();
  const names = new Set(machines.map(({ metadata }) => metadata.name));
  const parts = [...(await world.list(KubeadmConfig)), ...(await world.list(TestMachine))];
  const nodes = new Set(machines.map(({ status }) => status?.nodeRef?.name));
  const object = await world.user.get(KubeadmControlPlane, KEY);
  return {
    machines: machines.map(({ spec }) => spec.version ?? ""),
    leftovers: parts.filter(({ metadata }) => !names.has(metadata.name)).map(({ kind }) => kind),
    members: world.side.members.map(({ node }) => (nodes.has(node) ? "of a Machine" : "stray")),
    annotations: object?.metadata.annotations?.[REMEDIATION_IN_PROGRESS],
    ready: object?.status?.readyReplicas,
  };
}

async function isAtRest(world: World): Promise<boolean> {
  const object = await world.user.get(KubeadmControlPlane, KEY);
  if (object === undefined) return (await world.machines()).length === 0;
  const { replicas } = object.spec;
  const { readyReplicas, upToDateReplicas, replicas: current } = object.status ?? {};
  return (
    object.metadata.deletionTimestamp === undefined &&
    current === replicas &&
    readyReplicas === replicas &&
    upToDateReplicas === replicas
  );
}

/** The same end, whatever write the controllers are killed after. */
async function sameEnd(
  prepare: (world: World) => Promise<void>,
  act: (world: World) => Promise<unknown>,
): Promise<number> {
  const worlds = new Map<Plane, World>();
  const worldOf = (plane: Plane): World => {
    const world = worlds.get(plane);
    if (world === undefined) throw new Error("not a plane of this test");
    return world;
  };
  return await crashAtEveryWrite({
    start: async () => {
      const world = await World.start();
      await prepare(world);
      worlds.set(world.plane, world);
      return world.plane;
    },
    act: async (plane) => void (await act(worldOf(plane))),
    wait: async (plane) => {
      const world = worldOf(plane);
      for (let turn = 0; turn < TURNS && !plane.died && (turn < 5 || !(await isAtRest(world))); turn++)
        await world.turn(2_000);
      await world.turn(20_000);
    },
    state: (plane) => endOf(worldOf(plane)),
    check: (actual, expected, k) => expect(actual, `after write ${k}`).toEqual(expected),
  });
}

async function withReplicas(world: World, replicas: number): Promise<void> {
  await world.addCluster();
  await world.addPlane({ replicas });
  await world.ready(replicas);
}

describe("a control plane whose controllers are killed after every write", () => {
  test("is created with three Machines", async () => {
    const writes = await sameEnd(
      (world) => world.addCluster().then(() => undefined),
      (world) => world.addPlane({ replicas: 3 }),
    );
    expect(writes).toBeGreaterThan(30);
  }, 600_000);

  test("replaces its only Machine for a new version", async () => {
    const writes = await sameEnd(
      (world) => withReplicas(world, 1),
      (world) => world.patch({ version: "v1.37.0" }),
    );
    expect(writes).toBeGreaterThan(20);
  }, 600_000);

  test("remediates a failed Machine of three", async () => {
    const writes = await sameEnd(
      (world) => withReplicas(world, 3),
      async (world) => {
        const [failed] = await world.machines();
        if (failed === undefined) throw new Error("no machine");
        world.side.broken.add(failed.status?.nodeRef?.name ?? "");
        await world.failHealthCheck(failed);
      },
    );
    expect(writes).toBeGreaterThan(15);
  }, 600_000);

  test("is deleted with its Cluster", async () => {
    const writes = await sameEnd(
      (world) => withReplicas(world, 1),
      (world) => world.user.delete({ kind: Cluster, ...KEY }),
    );
    expect(writes).toBeGreaterThan(5);
  }, 600_000);

  test("scales from three Machines to one", async () => {
    const writes = await sameEnd(
      (world) => withReplicas(world, 3),
      (world) => world.patch({ replicas: 1 }),
    );
    expect(writes).toBeGreaterThan(10);
  }, 600_000);
});

test("a control plane at rest writes nothing", async () => {
  const world = await World.start();
  try {
    await withReplicas(world, 3);
    await world.plane.settle(60_000);
    const before = world.plane.requests.length;
    await world.plane.settle(600_000);
    expect(world.plane.requests.slice(before)).toEqual([]);
    expect((await world.list(Machine)).length).toBe(3);
  } finally {
    await world.close();
  }
});
