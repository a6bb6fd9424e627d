import { seededRandom, sleep, type Transport, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { afterEach, expect, test } from "vitest";
import { Client } from "../client/client.ts";
import { FaultyTransport } from "../testing/faulty-transport.ts";
import { LeaderElector, LeadershipLostError } from "./leader-elector.ts";
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
  const reasons: unknown[] = [];
  const candidate = (identity: string, way: Transport = server.admin(), stopsAfterMs = 0) => {
    const transport = new FaultyTransport(way, random);
    const client = new Client(transport, { fieldManager: identity, clock });
    const elector = new LeaderElector({ client, clock, random, namespace: "default", name: "lock", identity });
    const stop = new AbortController();
    const result = elector.run(async (signal) => {
      leading.push(identity);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      if (stopsAfterMs > 0) await sleep(clock, stopsAfterMs);
      leading.splice(leading.indexOf(identity), 1);
      reasons.push(signal.reason);
    }, stop.signal);
    return { transport, stop, result, elector };
  };
  const client = new Client(server.admin(), { fieldManager: "x", clock });
  const lease = () => client.get(Lease, { namespace: "default", name: "lock" });
  return { server, client, clock, leading, reasons, candidate, lease };
}

test("elects one leader; a graceful stop hands over within a retry period", async () => {
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

test("a leader that cannot renew stops leading before another process starts", async () => {
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

test("counts the lease duration from the request, so that two processes never lead at once", async () => {
  const { server, clock, leading, candidate } = await start();
  let late = 0;
  const inner = server.admin();
  const slow: Transport = {
    watch: (request, signal) => inner.watch(request, signal),
    close: () => inner.close(),
    request: async (request, signal) => {
      const response = await inner.request(request, signal);
      if (request.method === "PUT") await sleep(clock, late);
      return response;
    },
  };
  const a = candidate("a", slow);
  await clock.advance(10);
  const others = ["b", "c", "d", "e", "f", "g"].map((identity) => candidate(identity));
  await clock.advance(1000);
  // What renews is carried out at once and confirmed eight seconds later; then nothing arrives any more.
  late = 7900;
  await clock.advance(9000);
  a.transport.down = true;
  let most = 0;
  for (let i = 0; i < 300; i++) {
    await clock.advance(100);
    most = Math.max(most, leading.length);
  }
  expect(most).toBe(1);
  expect(await a.result).toBe("lost");
  expect(leading).toHaveLength(1);
  for (const { stop } of others) stop.abort();
  await clock.advance(10_000);
});

test("stops at once when another process holds the lease, and does not take it back", async () => {
  const { clock, client, leading, reasons, candidate, lease } = await start();
  const a = candidate("a");
  await clock.advance(3000);
  expect(a.elector.leads).toBe(true);
  const taken = (await lease()) ?? expect.fail("no lease");
  await client.update({ ...taken, spec: { ...taken.spec, holderIdentity: "b" } });
  await clock.advance(2100);
  expect(leading).toEqual([]);
  expect(await a.result).toBe("lost");
  expect(reasons[0]).toBeInstanceOf(LeadershipLostError);
  expect((await lease())?.spec?.holderIdentity).toBe("b");
});

test("loses leadership when the lease duration has passed, without any event", async () => {
  const { clock, candidate } = await start();
  const a = candidate("a");
  await clock.advance(1);
  expect(a.elector.leads).toBe(true);
  a.transport.down = true;
  await clock.advance(14_000);
  expect(a.elector.leads).toBe(true);
  await clock.advance(1_100);
  expect(a.elector.leads).toBe(false);
});

test("releases the lease when stopped during the claim", async () => {
  const { server, clock, leading, candidate, lease } = await start();
  const inner = server.admin();
  const stop = new AbortController();
  const stopping: Transport = {
    watch: (request, signal) => inner.watch(request, signal),
    close: () => inner.close(),
    request: async (request, signal) => {
      const response = await inner.request(request, signal);
      if (request.method === "POST") stop.abort();
      return response;
    },
  };
  const a = candidate("a", stopping);
  stop.signal.addEventListener("abort", () => a.stop.abort());
  await clock.advance(10);
  expect(await a.result).toBe("stopped");
  expect(leading).toEqual([]);
  expect((await lease())?.spec?.holderIdentity ?? "").toBe("");
});

test("a leader whose work takes long to stop holds the lease until it has", async () => {
  const { server, clock, leading, candidate } = await start();
  const a = candidate("a", server.admin(), 40_000);
  await clock.advance(10);
  const b = candidate("b");
  await clock.advance(5_000);
  a.stop.abort();
  let most = 0;
  for (let i = 0; i < 60; i++) {
    await clock.advance(1000);
    most = Math.max(most, leading.length);
  }
  expect(most).toBe(1);
  expect([await a.result, leading]).toEqual(["stopped", ["b"]]);
  b.stop.abort();
  await clock.advance(10);
});

test("gives up a hanging renewal at the deadline", async () => {
  const { server, clock, leading, candidate } = await start();
  const inner = server.admin();
  let hangs = false;
  const hanging: Transport = {
    watch: (request, signal) => inner.watch(request, signal),
    close: () => inner.close(),
    request: (request, signal) => (hangs ? new Promise(() => undefined) : inner.request(request, signal)),
  };
  const a = candidate("a", hanging);
  await clock.advance(10);
  hangs = true;
  await clock.advance(9_000);
  expect(leading).toEqual(["a"]);
  await clock.advance(2_000);
  expect(leading).toEqual([]);
  expect(await a.result).toBe("lost");
});

test("takes a lease over only after a whole duration without a renewal", async () => {
  const { clock, leading, candidate } = await start();
  const a = candidate("a");
  await clock.advance(10);
  // Several, so that one looks soon after any moment.
  const others = ["b", "c", "d", "e", "f", "g"].map((identity) => candidate(identity));
  await clock.advance(10_000);
  a.transport.down = true;
  // The last renewal was at most a retry period ago.
  await clock.advance(12_900);
  expect([await a.result, leading]).toEqual(["lost", []]);
  await clock.advance(10_000);
  expect(leading).toHaveLength(1);
  for (const { stop } of others) stop.abort();
  await clock.advance(10_000);
});

test("does not reclaim a lease that another process held and released meanwhile", async () => {
  const { clock, client, leading, candidate, lease } = await start();
  const a = candidate("a");
  await clock.advance(3000);
  const held = (await lease()) ?? expect.fail("no lease");
  await client.update({ ...held, spec: { ...held.spec, holderIdentity: "" } });
  await clock.advance(2100);
  expect([await a.result, leading]).toEqual(["lost", []]);
  expect((await lease())?.spec?.holderIdentity ?? "").toBe("");
});

test("does not release a lease that another process holds", async () => {
  const { clock, client, candidate, lease } = await start();
  const a = candidate("a");
  await clock.advance(3000);
  const held = (await lease()) ?? expect.fail("no lease");
  await client.update({ ...held, spec: { ...held.spec, holderIdentity: "b" } });
  a.stop.abort();
  await clock.advance(10);
  await a.result;
  expect((await lease())?.spec?.holderIdentity).toBe("b");
});

test("rejects impossible times", async () => {
  const { clock } = await start();
  const client = new Client(new FaultyTransport({} as never, seededRandom(1)), { fieldManager: "x", clock });
  const options = { client, clock, random: seededRandom(1), namespace: "a", name: "b", identity: "c" };
  expect(() => new LeaderElector({ ...options, leaseDurationMs: 1000 })).toThrow(/leaseDuration > renewDeadline/);
});
