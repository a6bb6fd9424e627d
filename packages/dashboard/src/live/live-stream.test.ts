import { expect, test } from "vitest";
import { type ConnectionHandlers, LiveStream } from "./live-stream.ts";
import { TopicStore } from "./topic-store.ts";

class FakeSource {
  closed = false;
  readonly url: string;
  readonly handlers: ConnectionHandlers;

  constructor(url: string, handlers: ConnectionHandlers) {
    this.url = url;
    this.handlers = handlers;
  }
  say(id: string, messages: object[]): void {
    this.handlers.message(JSON.stringify(messages), id);
  }
}

function setUp(signedIn = true) {
  const sources: FakeSource[] = [];
  const timers: { ms: number; fire: () => void }[] = [];
  const store = new TopicStore();
  const live = new LiveStream({
    store,
    open: (url, handlers) => {
      const source = new FakeSource(url, handlers);
      sources.push(source);
      return () => {
        source.closed = true;
      };
    },
    after: (ms, fire) => {
      const timer = { ms, fire };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
    },
    signedIn: async () => signedIn,
  });
  const tick = async (): Promise<void> => {
    for (const timer of timers.splice(0)) timer.fire();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const latest = (): FakeSource => {
    const source = sources.at(-1);
    if (source === undefined) throw new Error("no connection");
    return source;
  };
  const topicsOf = (source: FakeSource): string[] => new URL(source.url, "http://x").searchParams.getAll("topic");
  return { live, store, sources, tick, latest, topicsOf };
}

test("uses one connection for all topics; a new topic opens a new one that resumes from the last event", async () => {
  const { live, store, sources, tick, latest, topicsOf } = setUp();
  live.follow("fleet");
  await tick();
  latest().say("e.5", [{ topic: "fleet", reset: true, set: [["a", 1]], del: [] }]);
  live.follow("cluster:n/c");
  await tick();
  expect(sources).toHaveLength(2);
  expect(sources[0]?.closed).toBe(true);
  expect(topicsOf(latest())).toEqual(["fleet@e.5", "cluster:n/c"]);
  expect(store.state("fleet").items).toEqual(new Map([["a", 1]]));
});

test("reconnects after a lost connection, even to a restarted server", async () => {
  const { live, store, tick, latest, topicsOf } = setUp();
  live.follow("fleet");
  await tick();
  latest().handlers.opened();
  latest().say("e.5", [
    {
      topic: "fleet",
      reset: true,
      set: [
        ["a", 1],
        ["b", 2],
      ],
      del: [],
    },
  ]);
  expect(live.connection).toBe("live");
  latest().handlers.lost();
  expect(live.connection).toBe("lost");
  await tick();
  expect(topicsOf(latest())).toEqual(["fleet@e.5"]);
  latest().say("e.6", [{ topic: "fleet", set: [["c", 3]], del: ["a"] }]);
  expect([...store.state("fleet").items.keys()]).toEqual(["b", "c"]);
  latest().handlers.lost();
  await tick();
  latest().say("new.1", [{ topic: "fleet", reset: true, set: [["z", 9]], del: [] }]);
  expect([...store.state("fleet").items.keys()]).toEqual(["z"]);
});

test("does not reconnect after the session ended", async () => {
  const { live, sources, tick, latest } = setUp(false);
  live.follow("fleet");
  await tick();
  latest().handlers.lost();
  await tick();
  expect(live.connection).toBe("signed-out");
  expect(sources).toHaveLength(1);
  const other = setUp();
  other.live.follow("fleet");
  await other.tick();
  other.latest().handlers.signedOut();
  expect(other.live.connection).toBe("signed-out");
});

test("drops a topic without readers", async () => {
  const { live, store, tick, latest } = setUp();
  live.follow("fleet");
  const leave = live.follow("cluster:n/c");
  await tick();
  latest().say("e.1", [{ topic: "cluster:n/c", reset: true, set: [["x", 1]], del: [] }]);
  leave();
  await tick();
  expect(store.state("cluster:n/c").known).toBe(false);
});
