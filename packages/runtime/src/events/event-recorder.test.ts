import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { afterEach, expect, test } from "vitest";
import { Client } from "../client/client.ts";
import { silentLogger } from "../log/logger.ts";
import { FaultyTransport } from "../testing/faulty-transport.ts";
import { EventKind, type EventObject } from "./event-kind.ts";
import { EventRecorder } from "./event-recorder.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const server = await createApiServer({ store: memoryStore(), clock, random, controllers: false });
  const transport = new FaultyTransport(server.admin(), random);
  const client = new Client(transport, { fieldManager: "x", clock });
  const warned: string[] = [];
  const log = { ...silentLogger, warn: (message: string) => void warned.push(message) };
  const recorder = new EventRecorder({ client, clock, random, log, controller: "capstan.dev/test", instance: "host" });
  cleanups.push(() => server.close());
  const reader = new Client(server.admin(), { fieldManager: "y", clock });
  const events = async (): Promise<EventObject[]> => (await reader.list(EventKind)).items;
  return { clock, recorder, events, transport, reader, warned };
}

function object(name: string): Unstructured {
  return { apiVersion: "x.io/v1", kind: "Thing", metadata: { namespace: "default", name, uid: `uid-${name}` } };
}

test("writes the first event, starts a series with the second, and counts further ones until the series ends", async () => {
  const { clock, recorder, events } = await start();
  recorder.event(object("a"), "Warning", "Failed", "Create", "no luck");
  await clock.advance(10);
  expect(await events()).toMatchObject([
    {
      type: "Warning",
      reason: "Failed",
      action: "Create",
      note: "no luck",
      reportingController: "capstan.dev/test",
      reportingInstance: "host",
      regarding: { kind: "Thing", name: "a", namespace: "default", uid: "uid-a" },
    },
  ]);
  expect((await events())[0]?.series).toBeUndefined();
  for (let i = 0; i < 5; i++) {
    recorder.event(object("a"), "Warning", "Failed", "Create", "no luck");
    await clock.advance(1000);
  }
  expect((await events())[0]?.series?.count).toBe(2);
  await clock.advance(13 * 60_000);
  expect(await events()).toHaveLength(1);
  expect((await events())[0]?.series?.count).toBe(6);
  expect(clock.nextTimer()).toBeUndefined();
  recorder.event(object("a"), "Warning", "Failed", "Create", "again");
  await clock.advance(10);
  expect(await events()).toHaveLength(2);
});

test("another note is another event; beyond ten of a kind they are one series", async () => {
  const { clock, recorder, events } = await start();
  for (let to = 1; to <= 15; to++) {
    recorder.event(object("a"), "Normal", "Scaled", "Scale", `from ${to - 1} to ${to}`);
    await clock.advance(1000);
  }
  recorder.event(object("a"), "Normal", "Scaled", "Scale", "from 2 to 3");
  await clock.advance(13 * 60_000);
  const recorded = (await events()).map(({ note, series }) => `${note} x${series?.count ?? 1}`);
  expect(recorded).toHaveLength(11);
  expect(recorded).toContain("from 1 to 2 x1");
  expect(recorded).toContain("from 2 to 3 x2");
  expect(recorded).toContain("(combined from similar events): from 10 to 11 x5");
  // The series have ended: notes are separate again.
  recorder.event(object("a"), "Normal", "Scaled", "Scale", "from 20 to 21");
  await clock.advance(10);
  expect((await events()).map(({ note }) => note)).toContain("from 20 to 21");
});

test("controllers report under their own names, apart from each other", async () => {
  const { clock, recorder, events } = await start();
  recorder.named("one").event(object("a"), "Normal", "Same", "Act", "x");
  recorder.named("two").event(object("a"), "Normal", "Same", "Act", "x");
  await clock.advance(10);
  expect(new Set((await events()).map(({ reportingController }) => reportingController))).toEqual(
    new Set(["capstan.dev/one", "capstan.dev/two"]),
  );
});

test("a long series is written every half hour", async () => {
  const { clock, recorder, events } = await start();
  for (let i = 0; i < 40; i++) {
    recorder.event(object("a"), "Normal", "Polling", "Poll", "still there");
    await clock.advance(60_000);
  }
  expect((await events())[0]?.series?.count).toBeGreaterThan(25);
});

test("different reasons and objects are different events; notes are cut and carry no secrets", async () => {
  const { clock, recorder, events } = await start();
  recorder.event(object("a"), "Normal", "One", "Act", "x".repeat(3000));
  recorder.event(object("a"), "Normal", "Two", "Act", "token abcdef.0123456789abcdef leaked");
  recorder.event(object("b"), "Normal", "One", "Act", "x");
  await clock.advance(10);
  const all = await events();
  expect(all).toHaveLength(3);
  expect(Buffer.byteLength(all.find(({ reason }) => reason === "One")?.note ?? "")).toBeLessThanOrEqual(1024);
  expect(all.find(({ reason }) => reason === "Two")?.note).toBe("token abcdef.[hidden] leaked");
});

test("waits for an unreachable server; stop writes the pending counts", async () => {
  const { clock, recorder, events, transport } = await start();
  transport.down = true;
  recorder.event(object("a"), "Normal", "One", "Act", "x");
  await clock.advance(5000);
  transport.down = false;
  await clock.advance(10_000);
  expect(await events()).toHaveLength(1);
  for (let i = 0; i < 3; i++) recorder.event(object("a"), "Normal", "One", "Act", "x");
  await clock.advance(10);
  const stopping = recorder.stop();
  await clock.advance(10);
  await stopping;
  expect((await events())[0]?.series?.count).toBe(4);
  recorder.event(object("a"), "Normal", "Late", "Act", "x");
  await clock.advance(10);
  expect(await events()).toHaveLength(1);
});

test("starts a new series when the server has dropped the event", async () => {
  const { clock, recorder, events, reader } = await start();
  recorder.event(object("a"), "Warning", "Failed", "Create", "no luck");
  await clock.advance(10);
  for (const event of await events()) await reader.delete(event);
  recorder.event(object("a"), "Warning", "Failed", "Create", "no luck");
  await clock.advance(10);
  expect(await events()).toMatchObject([{ reason: "Failed", series: { count: 2 } }]);
});

test("keeps a limited number of events while the server is unreachable, and logs that once", async () => {
  const { clock, recorder, events, transport, warned } = await start();
  transport.down = true;
  for (let i = 0; i < 1100; i++) recorder.event(object(`o${i}`), "Normal", "Made", "Create", "done");
  await clock.advance(10);
  transport.down = false;
  await clock.advance(20_000);
  const written = (await events()).length;
  expect(written).toBeGreaterThanOrEqual(1000);
  expect(written).toBeLessThan(1100);
  expect(warned).toEqual(["too many events are pending; dropping some"]);
});

test("ends the oldest series instead of filling the memory in a flood of events", async () => {
  const { clock, recorder, events } = await start();
  const first = object("first");
  for (let i = 0; i < 3; i++) recorder.event(first, "Warning", "Failed", "Create", "no luck");
  await clock.advance(10);
  for (let i = 0; i < 4096; i++) {
    recorder.event(object(`o${i}`), "Normal", "Made", "Create", "done");
    if (i % 500 === 0) await clock.advance(10);
  }
  await clock.advance(10);
  const about = (await events()).filter(({ regarding }) => regarding?.name === "first");
  // Its count was written when it had to go, without waiting for six minutes of silence.
  expect(about).toMatchObject([{ series: { count: 3 } }]);
  recorder.event(first, "Warning", "Failed", "Create", "no luck");
  await clock.advance(10);
  expect((await events()).filter(({ regarding }) => regarding?.name === "first")).toHaveLength(2);
  await recorder.stop();
});
