import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultKubernetesVersion as VERSION } from "../real-kubernetes/index.ts";
import { eventually, leftovers, timed } from "./harness/index.ts";
import { KcpWorld, OUTAGE_MS } from "./kcp-world.ts";

/** A control plane made by kubeadm on bring-your-own hosts whose most important machine loses its power. */
let world: KcpWorld;

beforeAll(async () => {
  world = await KcpWorld.open([VERSION], 4);
});
afterAll(async () => {
  await world?.close();
});

test("three control plane machines and a worker whose Service answers", async () => {
  await world.addPodNetwork();
  await timed("applied to four Nodes Ready", () => world.create(3, VERSION));
  await timed("Service answers", () => world.serve());
});

test("the leader that holds the virtual IP loses its power: the API is back soon, the machine is replaced, no write is lost", async () => {
  const victim = await world.holder();
  await world.lead(victim);
  const before = await world.placement();
  const [machine] = [...before].find(([, host]) => host === victim) ?? [];
  const stop = world.askApi();
  const stopWriting = await world.write();
  await eventually("some writes", async () => (await world.configMaps()).has("write-9"));
  await victim.powerOff();
  await timed("replaced", () =>
    eventually("another machine", async () => !(await world.placement()).has(machine ?? ""), {
      timeout: 480_000,
      interval: 500,
    })
      .then(() => world.killAllAt("join"))
      .then(() => world.settled(3, VERSION))
      .catch((error: unknown) => world.withStory(error)),
  );
  const { longestOutageMs } = await stop();
  const acknowledged = await stopWriting();
  expect(longestOutageMs).toBeLessThan(OUTAGE_MS);
  await world.voters(await world.holder(), 3);
  const there = await world.configMaps();
  expect(acknowledged.length).toBeGreaterThan(20);
  expect(acknowledged.filter(({ name }) => !there.has(name))).toEqual([]);
  // Its agent cleans it when it returns.
  await victim.start({ allowFailedUnits: true });
  await timed("the host is free again", () =>
    eventually(`${victim.name} free`, async () => (await world.field(`byohost ${victim.name}`, "{.spec}")) === "{}", {
      timeout: 240_000,
    }).catch((error: unknown) => world.withStory(error)),
  );
});

test("nothing is left behind", async () => {
  await world.close();
  expect(await leftovers(world.lab.id)).toEqual([]);
});
