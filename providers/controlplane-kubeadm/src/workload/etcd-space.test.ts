import { expect, test } from "vitest";
import { workloadWorld } from "../testing/workload-world.ts";

type World = Awaited<ReturnType<typeof workloadWorld>>;

const MIB = 1024 ** 2;

async function three(controlPlane: object = {}): Promise<World> {
  const world = await workloadWorld(controlPlane);
  for (const index of [1, 2, 3]) {
    world.addMachine(`m-${index}`, `n-${index}`, `10.0.0.${index}`);
    await world.addNode(`n-${index}`, `10.0.0.${index}`);
    world.etcd.add(`n-${index}`, `10.0.0.${index}`);
  }
  await world.clock.advance(10 * 60_000);
  return world;
}

/** As the controller does with nothing else to do. */
async function look(world: World, annotations?: Record<string, string>) {
  const observed = await world.observe({ fresh: true });
  const target = world.target();
  await world.side.keepSpace(
    annotations === undefined
      ? target
      : { ...target, controlPlane: { ...target.controlPlane, metadata: { name: "cp", annotations } } },
  );
  return observed;
}

const quota = (value: string) => ({
  kubeadmConfigSpec: {
    clusterConfiguration: { etcd: { local: { extraArgs: [{ name: "quota-backend-bytes", value }] } } },
  },
});

test("ends the alarm NOSPACE when old revisions filled the data, the leader last", async () => {
  const world = await three();
  world.etcd.leader = "1000";
  world.etcd.size = { dbSize: 2048 * MIB, dbSizeInUse: 100 * MIB };
  world.etcd.errors = ["memberID:1000 alarm:NOSPACE"];
  await look(world);
  expect(world.etcd.calls).toEqual([
    "n-1 compacts 1",
    "n-2 defragments",
    "n-3 defragments",
    "n-1 defragments",
    "n-1 disarms",
  ]);
  expect((await look(world)).etcdTrouble).toBeUndefined();
  expect(world.etcd.calls).toHaveLength(5);
});

test("names the flag with the quota when objects in use fill it, and tries again once a minute", async () => {
  const world = await three(quota(String(100 * MIB)));
  world.etcd.size = { dbSize: 100 * MIB, dbSizeInUse: 99 * MIB };
  world.etcd.errors = ["memberID:1000 alarm:NOSPACE"];
  const changes: string[] = [];
  world.side.subscribe(({ name }) => changes.push(name));
  await world.observe();
  changes.length = 0;
  await world.side.keepSpace(world.target());
  expect(changes).toEqual(["c1"]);
  expect(world.etcd.calls).not.toContain("n-1 disarms");
  await world.clock.advance(10_000);
  expect((await look(world)).etcdTrouble).toEqual({
    reason: "NoSpace",
    message:
      "etcd holds 99.0 MiB of at most 100.0 MiB and rejects writes (alarm NOSPACE); it was compacted and defragmented. Delete objects that are not needed, or raise quota-backend-bytes in spec.kubeadmConfigSpec.clusterConfiguration.etcd.local.extraArgs; the alarm is then disarmed automatically",
  });
  expect(world.etcd.calls).toHaveLength(4);
  await world.clock.advance(60_000);
  await look(world);
  expect(world.etcd.calls).toHaveLength(8);
});

test("defragments by the schedule of the annotation, and when half of the data is unused", async () => {
  const world = await three();
  const hourly = { "capstan.dev/etcd-defragment-schedule": "0 * * * *" };
  await look(world, hourly);
  expect(world.etcd.calls).toEqual([]);
  await world.clock.advance(3600_000);
  await look(world, hourly);
  expect(world.etcd.calls).toHaveLength(3);
  await world.clock.advance(11 * 60_000);
  world.etcd.size = { dbSize: 200 * MIB, dbSizeInUse: 90 * MIB };
  await look(world);
  expect(world.etcd.calls).toHaveLength(6);
});

test("waits until every member answers, and reports a schedule that is none", async () => {
  const world = await three();
  world.etcd.errors = ["memberID:1000 alarm:NOSPACE"];
  world.etcd.broken.set("n-2", "connection refused");
  await look(world);
  expect(world.etcd.calls).toEqual([]);
  world.etcd.errors = [];
  world.etcd.broken.clear();
  await world.clock.advance(20_000);
  const weekly = { "capstan.dev/etcd-defragment-schedule": "weekly" };
  await look(world, weekly);
  expect((await look(world, weekly)).etcdTrouble).toMatchObject({
    reason: "InvalidSchedule",
    message: expect.stringContaining("such as 0 4 * * 0"),
  });
});
