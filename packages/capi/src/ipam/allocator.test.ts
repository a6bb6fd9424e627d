import { seededRandom } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AddressRange,
  addressText,
  contains,
  countOf,
  difference,
  parseAddress,
  union,
} from "./address-ranges.ts";
import { Allocator } from "./allocator.ts";

const range = fc
  .tuple(fc.bigInt(0n, 60n), fc.bigInt(0n, 8n))
  .map(([first, length]): AddressRange => ({ first, last: first + length }));
const members = (ranges: readonly AddressRange[]): Set<bigint> => {
  const all = new Set<bigint>();
  for (const { first, last } of ranges) for (let a = first; a <= last; a++) all.add(a);
  return all;
};

describe("ranges", () => {
  test("union and difference are those of sets", () => {
    fc.assert(
      fc.property(fc.array(range), fc.array(range), (a, b) => {
        const result = difference(union(a), union(b));
        const expected = [...members(a)].filter((address) => !members(b).has(address));
        expect(members(result)).toEqual(new Set(expected));
        expect(countOf(result)).toBe(BigInt(expected.length));
        const found = Array.from({ length: 80 }, (_, i) => BigInt(i)).filter((address) => contains(result, address));
        expect(new Set(found)).toEqual(new Set(expected));
      }),
    );
  });

  test("addresses and their texts go both ways", () => {
    fc.assert(
      fc.property(fc.constantFrom(4 as const, 6 as const), fc.bigInt(0n, (1n << 128n) - 1n), (family, any) => {
        const value = family === 4 ? any & 0xffffffffn : any;
        expect(parseAddress(addressText(value, family))).toEqual({ family, value });
      }),
    );
  });
});

describe("the allocator", () => {
  test("always gives the lowest free address, and never one twice", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("take" as const) }),
      fc.record({ do: fc.constant("release" as const), which: fc.nat(20) }),
      fc.record({ do: fc.constant("hold" as const), address: fc.bigInt(0n, 70n) }),
    );
    fc.assert(
      fc.property(fc.array(range, { maxLength: 4 }), fc.array(step, { maxLength: 60 }), (ranges, steps) => {
        const pool = union(ranges);
        const allocator = new Allocator(pool);
        const held = new Map<string, bigint>();
        let n = 0;
        for (const one of steps) {
          const holder = `h${n++}`;
          if (one.do === "take") {
            const free = [...members(pool)]
              .filter((a) => ![...held.values()].includes(a))
              .sort((a, b) => Number(a - b));
            const given = allocator.take(holder);
            expect(given).toBe(free[0]);
            if (given !== undefined) held.set(holder, given);
          } else if (one.do === "hold") {
            allocator.hold(one.address, holder);
            held.set(holder, one.address);
          } else {
            const entry = [...held][one.which % Math.max(1, held.size)];
            if (entry === undefined) continue;
            allocator.release(entry[1], entry[0]);
            held.delete(entry[0]);
          }
          const inRange = new Set([...held.values()].filter((a) => contains(pool, a)));
          expect(allocator.taken).toBe(inRange.size);
          expect(allocator.free).toBe(allocator.total - BigInt(inRange.size));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("a released address is not free while another still holds it", () => {
    const allocator = new Allocator([{ first: 1n, last: 1n }]);
    allocator.hold(1n, "a");
    allocator.hold(1n, "b");
    allocator.release(1n, "a");
    expect(allocator.take("c")).toBeUndefined();
    allocator.release(1n, "b");
    expect(allocator.take("c")).toBe(1n);
  });

  test("uses ranges up in the order they are given", () => {
    const allocator = new Allocator([
      { first: 20n, last: 21n },
      { first: 5n, last: 6n },
    ]);
    expect([1, 2, 3].map((n) => allocator.take(`h${n}`))).toEqual([20n, 21n, 5n]);
    allocator.release(5n, "h3");
    allocator.release(21n, "h2");
    expect(["a", "b", "c", "d"].map((holder) => allocator.take(holder))).toEqual([21n, 5n, 6n, undefined]);
  });

  test("takes any address by chance, each once, and then none", () => {
    const allocator = new Allocator([
      { first: 100n, last: 149n },
      { first: 10n, last: 19n },
    ]);
    const random = seededRandom(1);
    const given = Array.from({ length: 60 }, (_, i) => allocator.takeAny(`h${i}`, random));
    expect(new Set(given).size).toBe(60);
    expect(given.slice(0, 5)).not.toEqual([100n, 101n, 102n, 103n, 104n]);
    expect(allocator.takeAny("late", random)).toBeUndefined();
  });

  test("gives a certain address only while no other claim holds it", () => {
    const allocator = new Allocator([{ first: 1n, last: 9n }]);
    allocator.hold(4n, "kept for a");
    expect(allocator.takeAt(4n, "b")).toBe(false);
    expect(allocator.takeAt(4n, "a", "kept for a")).toBe(true);
    expect(allocator.takeAt(12n, "c")).toBe(false);
    expect(allocator.take("d")).toBe(1n);
  });

  test("a vast pool costs nothing", () => {
    const allocator = new Allocator([{ first: 0n, last: (1n << 64n) - 1n }]);
    for (let i = 0n; i < 20_000n; i++) expect(allocator.take(`${i}`)).toBe(i);
    for (let i = 0n; i < 20_000n; i += 2n) allocator.release(i, `${i}`);
    for (let i = 0n; i < 20_000n; i += 2n) expect(allocator.take(`again${i}`)).toBe(i);
  });
});
