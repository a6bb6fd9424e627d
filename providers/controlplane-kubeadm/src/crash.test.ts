import { randomInt, seededRandom } from "@capstan/apimachinery";
import { KubeadmConfig, KubeadmControlPlane, Machine } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { crashAtEveryWrite, type Plane } from "../../core/src/testing/plane.ts";
import { TestMachine } from "../../core/src/testing/test-infrastructure.ts";
import { REMEDIATION_IN_PROGRESS } from "./annotations.ts";
import { KILL_STORIES, type KillStory } from "./testing/kill-stories.ts";
import { NAMESPACE, World } from "./testing/world.ts";

/** `CAPSTAN_KILLS=all` kills after every write of the long stories, too, of which `npm test` takes a sample; another one with the seed. */
const ALL = process.env["CAPSTAN_KILLS"] === "all";
const SEED = Number(process.env["CAPSTAN_KILLS_SEED"] ?? 16);

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

/** Some of the writes of a story, the first and the last among them. */
function sampleOf(writes: number, size: number): number[] {
  const random = seededRandom(SEED);
  const chosen = new Set([1, writes]);
  while (chosen.size < Math.min(size, writes)) chosen.add(1 + randomInt(random, writes));
  return [...chosen].toSorted((a, b) => a - b);
}

/** The same end, whatever write the controllers are killed after. Returns how many writes there are. */
async function sameEnd({ extras, prepare, act, done, end, sample, close }: KillStory): Promise<number> {
  const worlds = new Map<Plane, World>();
  const worldOf = (plane: Plane): World => {
    const world = worlds.get(plane);
    if (world === undefined) throw new Error("not a plane of this test");
    return world;
  };
  const isOver = async (world: World): Promise<boolean> => (await isAtRest(world)) && (await done?.(world)) !== false;
  return await crashAtEveryWrite({
    start: async () => {
      close?.();
      const world = await World.start(extras?.());
      await prepare(world);
      worlds.set(world.plane, world);
      return world.plane;
    },
    act: async (plane) => void (await act(worldOf(plane))),
    wait: async (plane) => {
      const world = worldOf(plane);
      for (let turn = 0; turn < TURNS && !plane.died && (turn < 5 || !(await isOver(world))); turn++)
        await world.turn(2_000);
      await world.turn(20_000);
    },
    state: async (plane) => {
      const world = worldOf(plane);
      return { ...(await endOf(world)), more: await end?.(world), quorumLosses: world.side.quorumLosses };
    },
    check: (actual, expected, k) => {
      expect(actual, `after write ${k}`).toEqual(expected);
      expect(actual.leftovers, `after write ${k}`).toEqual([]);
      expect(actual.quorumLosses, `after write ${k}`).toEqual([]);
    },
    ...(sample === undefined || ALL ? {} : { sample: (writes) => sampleOf(writes, sample) }),
  }).finally(close);
}

describe("a control plane whose controllers are killed after every write", () => {
  test.each(KILL_STORIES)(
    "$name",
    async (story) => {
      expect(await sameEnd(story)).toBeGreaterThanOrEqual(story.writes);
    },
    600_000,
  );
});

test("a control plane at rest writes nothing", async () => {
  const world = await World.start();
  try {
    await world.addCluster();
    await world.addPlane({ replicas: 3 });
    await world.ready(3);
    await world.plane.settle(60_000);
    const before = world.plane.requests.length;
    await world.plane.settle(600_000);
    expect(world.plane.requests.slice(before)).toEqual([]);
    expect((await world.list(Machine)).length).toBe(3);
  } finally {
    await world.close();
  }
});
