import assert from "node:assert/strict";
import type { Unstructured } from "@capstan/apimachinery";
import type { Harness } from "./harness.ts";
import type { HarnessCase } from "./machine-cases.ts";
import { type ContractSubject, machinesOf } from "./types.ts";

const MAX_WRITES = 100;

async function create(h: Harness, subject: ContractSubject): Promise<Unstructured[]> {
  const cluster = await h.createCluster();
  return [
    ...(subject.cluster === undefined ? [] : [await h.createInfraCluster(cluster)]),
    ...(machinesOf(subject) === undefined ? [] : [await h.createInfraMachine(await h.createMachine())]),
  ];
}

/** Killing the process between any two writes must be harmless; the harness starts from scratch for each k. */
export function crashCases(
  subject: ContractSubject,
  start: () => Promise<Harness>,
): { name: string; run(): Promise<void> }[] {
  const withHarness = async <T>(run: (h: Harness) => Promise<T>): Promise<T> => {
    const h = await start();
    try {
      return await run(h);
    } finally {
      await h.close();
    }
  };
  return [
    {
      name: "killed after every single write while provisioning, the end is the same",
      run: async () => {
        const expected = await withHarness(async (h) => {
          const objects = await create(h, subject);
          await h.startProvider();
          await h.settle();
          return { picture: await h.picture(objects), writes: h.writes, outside: await h.world.leftovers() };
        });
        assert.ok(expected.writes > 0 && expected.writes < MAX_WRITES, `${expected.writes} writes to provision`);
        for (let k = 1; k <= expected.writes; k++)
          await withHarness(async (h) => {
            const objects = await create(h, subject);
            await h.startProvider(k);
            await h.pass(5_000);
            await h.startProvider();
            await h.settle();
            assert.deepEqual(await h.picture(objects), expected.picture, `killed after write ${k}`);
            assert.deepEqual(await h.world.leftovers(), expected.outside, `killed after write ${k}`);
          });
      },
    },
    {
      name: "killed after every single write while deleting, nothing is left over",
      run: async () => {
        for (let k = 1, more = true; more && k < MAX_WRITES; k++)
          more = await withHarness(async (h) => {
            const objects = await create(h, subject);
            await h.startProvider();
            await h.settle();
            await h.stopProvider();
            await h.startProvider(k);
            for (const object of objects) await h.client.delete(object);
            await h.settle();
            const reached = h.writes >= k;
            await h.startProvider();
            for (const object of objects)
              await h.until(`deletion after write ${k}`, async () => (await h.get(object)) === undefined);
            assert.deepEqual(await h.world.leftovers(), []);
            return reached;
          });
      },
    },
  ];
}

/** Deletion leaves nothing behind, whatever order objects are deleted in. */
export function deletionOrders(subject: ContractSubject): HarnessCase[] {
  const names = [
    ...(machinesOf(subject) === undefined ? [] : ["Machine", "infra machine"]),
    "Cluster",
    ...(subject.cluster === undefined ? [] : ["infra cluster"]),
  ];
  return permutations(names).map((order) => ({
    name: `deleted in the order ${order.join(", ")}`,
    run: async (h) => {
      const cluster = await h.createCluster();
      const machine = machinesOf(subject) === undefined ? undefined : await h.createMachine();
      const objects: Record<string, Unstructured> = {
        Cluster: cluster,
        ...(machine === undefined ? {} : { Machine: machine, "infra machine": await h.createInfraMachine(machine) }),
        ...(subject.cluster === undefined ? {} : { "infra cluster": await h.createInfraCluster(cluster) }),
      };
      await h.startProvider();
      await h.settle();
      for (const name of order) {
        const object = objects[name];
        if (object !== undefined) await h.client.delete(object);
        await h.pass(1_000);
      }
      for (const object of Object.values(objects))
        await h.until(`${object.kind} to be gone`, async () => (await h.get(object)) === undefined);
      assert.deepEqual(await h.world.leftovers(), []);
    },
  }));
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}
