import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { afterEach, expect, test } from "vitest";
import { Client } from "../client/client.ts";
import { FaultyTransport } from "../testing/faulty-transport.ts";
import { LeaderElector } from "./leader-elector.ts";
import { Lease } from "./lease-kind.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const server = await createApiServer({ store: memoryStore(), clock, random, controllers: false });
  cleanups.push(() => server.close());
  const leading: string[] = [];
  const candidate = (identity: string) => {
    const transport = new FaultyTransport(server.admin(), random);
    const client = new Client(transport, { fieldManager: identity, clock });
    const elector = new LeaderElector({ client, clock, random, namespace: "default", name: "lock", identity });
    const stop = new AbortController();
    const result = elector.run(async (signal) => {
      leading.push(identity);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      leading.splice(leading.indexOf(identity), 1);
    }, stop.signal);
    return { transport, stop, result, elector };
  };
  const lease = () =>
    new Client(server.admin(), { fieldManager: "x", clock }).get(Lease, { namespace: "default", name: "lock" });
  return { clock, leading, candidate, lease };
}

test("one leads; a graceful stop hands over within a retry period", async () => {
  const { clock, leading, candidate, lease } = await start();
  const a = candidate("a");
  await clock.advance(10);
  const b = candidate("b");
  await clock.advance(60_000);
  expect(leading).toEqual(["a"]);
  expect(b.elector.leader).toBe("a");
  expect((await lease())?.spec).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
  a.stop.abort();
  await clock.advance(10);
  expect(await a.result).toBe("stopped");
  await clock.advance(5_000);
  expect(leading).toEqual(["b"]);
  expect((await lease())?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  b.stop.abort();
  await clock.advance(10);
});

test("a leader that cannot renew stops leading before anybody else begins", async () => {
  const { clock, leading, candidate } = await start();
  const a = candidate("a");
  await clock.advance(10);
  const b = candidate("b");
  await clock.advance(10_000);
  expect(leading).toEqual(["a"]);
  a.transport.down = true;
  let most = 0;
  for (let i = 0; i < 300; i++) {
    await clock.advance(100);
    most = Math.max(most, leading.length);
  }
  expect(most).toBe(1);
  expect(await a.result).toBe("lost");
  expect(leading).toEqual(["b"]);
  b.stop.abort();
  await clock.advance(10);
});

test("impossible times are refused", async () => {
  const { clock } = await start();
  const client = new Client(new FaultyTransport({} as never, seededRandom(1)), { fieldManager: "x", clock });
  const options = { client, clock, random: seededRandom(1), namespace: "a", name: "b", identity: "c" };
  expect(() => new LeaderElector({ ...options, leaseDurationMs: 1000 })).toThrow(/leaseDuration > renewDeadline/);
});
