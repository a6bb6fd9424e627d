import {
  type ApiRequest,
  type ApiResponse,
  seededRandom,
  type Transport,
  VirtualClock,
  type WatchEvent,
} from "@capstan/apimachinery";
import { afterEach, expect, test } from "vitest";
import { Client } from "../client/client.ts";
import { kindRef } from "../kind.ts";
import { Cache } from "./cache.ts";

const ConfigMap = kindRef({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const clock = new VirtualClock();
let cache: Cache;

afterEach(() => cache.stop());

const object = (name: string, revision: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name, uid: `uid-${name}`, resourceVersion: String(revision) },
});
const event = (type: WatchEvent["type"], value: object): WatchEvent => ({ type, object: value }) as WatchEvent;
const list = (revision: number, names: string[], more?: string): ApiResponse => ({
  status: 200,
  headers: {},
  body: {
    metadata: { resourceVersion: String(revision), continue: more },
    items: names.map((name) => object(name, 1)),
  },
  warnings: [],
});
const expired = (fields: object): object => ({
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  message: "old",
  ...fields,
});

/** A server that says what the test wants it to, which no sound one would: its lists and its watches, one after the other. */
function follow(lists: ((request: ApiRequest) => ApiResponse)[], watches: (WatchEvent[] | Error)[]) {
  const asked: { verb: string; query: Record<string, unknown> }[] = [];
  const transport: Transport = {
    request: async (request) => {
      asked.push({ verb: "list", query: request.query ?? {} });
      return (lists.length > 1 ? lists.shift() : lists[0])?.(request) ?? list(1, []);
    },
    async *watch(request, signal) {
      asked.push({ verb: "watch", query: request.query ?? {} });
      const events = watches.shift();
      if (events instanceof Error) throw events;
      if (events !== undefined) return yield* events;
      await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
    },
    close: async () => undefined,
  };
  const client = new Client(transport, { fieldManager: "x", clock });
  cache = new Cache(client, { clock, random: seededRandom(1), watchList: false });
  const informer = cache.informer(ConfigMap);
  cache.start();
  return {
    asked,
    informer,
    watches: () => asked.filter(({ verb }) => verb === "watch").map(({ query }) => query["resourceVersion"]),
  };
}

const names = (): unknown[] => cache.list(ConfigMap).map(({ metadata }) => metadata.name);

test.each([
  ["by its reason", { reason: "Expired", code: 400 }],
  ["by its code", { reason: "Unknown", code: 410 }],
])("lost history, reported %s, leads to a new list", async (_, fields) => {
  const { watches } = follow([() => list(10, ["a"]), () => list(20, ["b"])], [[event("ERROR", expired(fields))]]);
  await clock.advance(5_000);
  expect(names()).toEqual(["b"]);
  expect(watches()).toEqual(["10", "20"]);
});

test("resumes a watch from the last bookmark", async () => {
  const bookmark = event("BOOKMARK", { metadata: { resourceVersion: "50" } });
  const { watches } = follow([() => list(10, [])], [[bookmark]]);
  await clock.advance(5_000);
  expect(watches()).toEqual(["10", "50"]);
});

test("lists again in one request when pages outlive the server's history", async () => {
  const gone: ApiResponse = { status: 410, headers: {}, body: expired({ reason: "Expired", code: 410 }), warnings: [] };
  const answer = ({ query }: ApiRequest): ApiResponse => {
    if (query?.["limit"] === "0") return list(30, ["a", "b", "c"]);
    return query?.["continue"] === undefined ? list(10, ["a"], "next") : gone;
  };
  follow([answer], []);
  await clock.advance(1_000);
  expect(names()).toEqual(["a", "b", "c"]);
});

test("backs off from a server that closes every watch at once", async () => {
  const { watches } = follow(
    [() => list(10, [])],
    Array.from({ length: 1000 }, () => []),
  );
  await clock.advance(10 * 60_000);
  expect(watches().length).toBeLessThan(40);
});

test("asks a lost server at once on request, and not before", async () => {
  const { informer, asked } = follow(
    [() => list(10, ["a"])],
    [...Array.from({ length: 10 }, () => new Error("cut")), []],
  );
  await clock.advance(60_000);
  const before = asked.length;
  await clock.advance(100);
  expect(asked.length).toBe(before);
  informer.retry();
  await clock.advance(100);
  expect(asked.length).toBeGreaterThan(before);
  // As after a first failure, and not as after a dozen.
  await clock.advance(2_000);
  expect(informer.error).toBeUndefined();
});

test("detects that a quiet server is back without waiting for an event", async () => {
  const { informer, asked } = follow([() => list(10, ["a"])], [new Error("cut"), new Error("cut")]);
  await clock.advance(5_000);
  expect(informer.error).toBeUndefined();
  expect(asked.filter(({ query }) => query["limit"] === "1").length).toBeGreaterThan(0);
  expect(names()).toEqual(["a"]);
});

test("a failing handler does not cost the others their event", async () => {
  const { informer } = follow(
    [() => list(10, ["a"])],
    [[event("MODIFIED", object("a", 11)), event("DELETED", object("a", 12))]],
  );
  const seen: string[] = [];
  const fail = (): never => {
    throw new Error("a handler's mistake");
  };
  informer.addHandler({ add: fail, update: fail, delete: fail });
  informer.addHandler({
    add: () => void seen.push("add"),
    update: () => void seen.push("update"),
    delete: () => void seen.push("delete"),
  });
  await clock.advance(1_000);
  expect(seen).toEqual(["add", "update", "delete"]);
});
