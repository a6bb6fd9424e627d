import type { KubeObject } from "@capstan/apimachinery";
import type { Cache, Kind } from "@capstan/runtime";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AddressBook } from "./address-book.ts";
import { parseRange } from "./address-ranges.ts";
import { type PoolPrefixes, type PrefixPoolSpec, poolPrefixes } from "./pool-prefixes.ts";

interface Pool extends PrefixPoolSpec {
  version: number;
}

interface Holder extends KubeObject {
  text: string;
}

interface Handler {
  add(object: Holder): void;
  delete(object: Holder): void;
}

/** A book of one pool that gets objects as from a cache. */
function open(): { book: AddressBook<Pool, PoolPrefixes>; tell: Handler; returned: string[] } {
  const returned: string[] = [];
  const book = new AddressBook<Pool, PoolPrefixes>(
    { key: () => "p", version: ({ version }) => `${version}`, ranges: poolPrefixes },
    (pool) => returned.push(pool),
  );
  let tell: Handler | undefined;
  const cache = {
    informer: () => ({
      addHandler: (handler: Handler) => {
        tell = handler;
        return () => undefined;
      },
    }),
  } as unknown as Cache;
  book.follow(
    cache,
    {
      kind: {} as Kind<Holder>,
      pool: () => "p",
      holder: ({ metadata }) => metadata.name ?? "",
      address: ({ text }) => text,
    },
    new AbortController().signal,
  );
  if (tell === undefined) throw new Error("the book follows nothing");
  return { book, tell, returned };
}

const object = (name: string, text: string): Holder => ({ apiVersion: "v1", kind: "H", metadata: { name }, text });

function overlap(a: string, b: string): boolean {
  const [left, right] = [parseRange(a), parseRange(b)];
  return left !== undefined && right !== undefined && left.first <= right.last && right.first <= left.last;
}

/** Prefixes of the pool fd00::/120 with room for 16 of length 124. */
const SPEC: PrefixPoolSpec = { prefixes: ["fd00::/120"], allocationPrefixLength: 124 };
const candidates = Array.from({ length: 16 }, (_, i) => `fd00::${i === 0 ? "" : (16 * i).toString(16)}/124`);

const prefix = fc
  .tuple(fc.integer({ min: 118, max: 128 }), fc.integer({ min: 0, max: 255 }))
  .map(([length, last]) => `fd00::${last.toString(16)}/${length}`);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("reserve" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("write" as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel" as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("vanish" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restore" as const), text: prefix }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("exclude" as const), text: prefix }) },
);

test("gives the first prefix that overlaps nothing held, reserved or excluded, whatever happens in between", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { book, tell } = open();
      const pool: Pool = { ...SPEC, excludedPrefixes: [], version: 0 };
      const held = new Map<string, string>();
      const reserved = new Map<string, string>();
      let n = 0;
      for (const one of steps) {
        const name = `h${n++}`;
        const pick = (from: Map<string, string>, which: number) => [...from][which % Math.max(1, from.size)];
        switch (one.do) {
          case "reserve": {
            const taken = [...held.values(), ...reserved.values(), ...(pool.excludedPrefixes ?? [])];
            const free = candidates.filter((text) => !taken.some((other) => overlap(text, other)));
            const given = book.reserve(pool, name);
            expect(given).toBe(free[0]);
            expect(book.counts(pool).free).toBe(BigInt(Math.max(0, free.length - 1)));
            if (given !== undefined) reserved.set(name, given);
            break;
          }
          case "write": {
            const [holder, text] = pick(reserved, one.which) ?? [];
            if (holder === undefined || text === undefined) break;
            reserved.delete(holder);
            held.set(holder, text);
            tell.add(object(holder, text));
            break;
          }
          case "cancel": {
            const [holder] = pick(reserved, one.which) ?? [];
            if (holder === undefined) break;
            reserved.delete(holder);
            book.cancel(holder);
            break;
          }
          case "vanish": {
            const [holder, text] = pick(held, one.which) ?? [];
            if (holder === undefined || text === undefined) break;
            held.delete(holder);
            tell.delete(object(holder, text));
            break;
          }
          case "restore":
            held.set(name, one.text);
            tell.add(object(name, one.text));
            break;
          case "exclude":
            pool.excludedPrefixes = [one.text];
            pool.version++;
        }
        expect(book.counts(pool).used).toBe(new Set([...held.values(), ...reserved.values()].map(normal)).size);
      }
    }),
    { numRuns: 500 },
  );
});

/** Two objects may hold one prefix after a fault; the pool counts it once when it is one of its own. */
function normal(text: string, index: number): string {
  const range = parseRange(text);
  if (range === undefined) return text;
  return range.last - range.first === 15n ? `${range.first}` : `odd ${index}`;
}

test("a freed prefix is the next one given, and whoever waits hears of it", () => {
  const { book, tell, returned } = open();
  const pool = { ...SPEC, version: 0 };
  const [a, b] = ["a", "b"].map((name) => book.reserve(pool, name) ?? "");
  for (const [name, text] of Object.entries({ a, b })) tell.add(object(name, text ?? ""));
  expect(book.reserve(pool, "c")).toBe("fd00::20/124");
  tell.delete(object("a", a ?? ""));
  expect(returned).toEqual(["p"]);
  expect(book.reserve(pool, "d")).toBe(a);
});

test("a pool of billions of prefixes costs nothing", () => {
  const { book, tell } = open();
  const pool = { prefixes: ["fd00::/16"], allocationPrefixLength: 64, version: 0 };
  const given = Array.from({ length: 20_000 }, (_, i) => book.reserve(pool, `${i}`) ?? "");
  expect(new Set(given).size).toBe(20_000);
  for (const [i, text] of given.entries()) tell.add(object(`${i}`, text));
  for (let i = 0; i < 20_000; i += 2) tell.delete(object(`${i}`, given[i] ?? ""));
  for (let i = 0; i < 20_000; i += 2) expect(book.reserve(pool, `again ${i}`)).toBe(given[i]);
  expect(book.counts(pool)).toMatchObject({ total: 1n << 48n, used: 20_000, outOfRange: 0 });
});
