import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CelBudget, compileCel } from "./compile-cel.ts";

/** The value of an expression over one dynamic variable for each entry. */
function value(expression: string, values: Record<string, unknown> = {}): unknown {
  const compiled = compileCel(expression, Object.fromEntries(Object.keys(values).map((name) => [name, "dyn"])));
  if ("errors" in compiled) throw new Error(compiled.errors.join("\n"));
  return compiled.evaluate(values);
}

const quantity = fc
  .tuple(fc.integer({ min: -5000, max: 5000 }), fc.constantFrom("", "m", "k", "Ki", "M", "e2", "u"))
  .map(([digits, suffix]) => `${digits}${suffix}`);
const Q = "quantity";

describe("quantities", () => {
  test.each([
    ["addition does not depend on the order", "quantity(a).add(quantity(b)) == quantity(b).add(quantity(a))"],
    ["subtraction undoes addition", "quantity(a).add(quantity(b)).sub(quantity(b)) == quantity(a)"],
    ["a difference has the sign of the order", `sign(${Q}(a).sub(${Q}(b))) == ${Q}(a).compareTo(${Q}(b))`],
    ["the order is antisymmetric", `${Q}(a).compareTo(${Q}(b)) == -${Q}(b).compareTo(${Q}(a))`],
    [
      "one of less, equal and greater is true",
      `[${Q}(a).isLessThan(${Q}(b)), ${Q}(a) == ${Q}(b), ${Q}(a).isGreaterThan(${Q}(b))].exists_one(x, x)`,
    ],
  ])("%s", (_law, expression) => {
    fc.assert(fc.property(quantity, quantity, (a, b) => value(expression, { a, b }) === true));
  });

  test("have the value of their digits and suffix", () => {
    const units: [string, number][] = [
      ["k", 1000],
      ["Ki", 1024],
      ["M", 1e6],
      ["e2", 100],
    ];
    fc.assert(
      fc.property(fc.integer({ min: -5000, max: 5000 }), fc.constantFrom(...units), (digits, [suffix, unit]) => {
        expect(value("quantity(q).asInteger()", { q: `${digits}${suffix}` })).toBe(digits * unit + 0);
      }),
    );
  });
});

const scalar = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom("", "a", "ab", "é😀"), fc.boolean());
const { any } = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("any"), { maxKeys: 3 }),
  ),
}));
const ints = fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 6 });
const text = fc.array(fc.constantFrom("a", "b", "é", "😀"), { maxLength: 8 }).map((all) => all.join(""));

describe("equality", () => {
  test("is what deep equality is for JSON values", () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(value("a == b", { a, b })).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
        expect(value("a == b", { a, b: structuredClone(a) })).toBe(true);
        expect(value("a != b", { a, b })).toBe(value("b != a", { a, b }));
      }),
    );
  });
});

/** The value with the keys of its objects in order. */
function sorted(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(sorted);
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part)
      .map(([key, inner]): [string, unknown] => [key, sorted(inner)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

describe("lists", () => {
  test("have the functions of arrays", () => {
    fc.assert(
      fc.property(ints, fc.nat({ max: 6 }), fc.nat({ max: 6 }), (l, x, y) => {
        const from = Math.min(x, y, l.length);
        const to = Math.min(Math.max(x, y), l.length);
        expect(value("l.reverse()", { l })).toEqual(l.toReversed());
        expect(value(`l.slice(${from}, ${to})`, { l })).toEqual(l.slice(from, to));
        expect(value("l.distinct()", { l })).toEqual([...new Set(l)]);
        expect(value("l.map(e, e * 2)", { l })).toEqual(l.map((e) => e * 2));
        expect(value("l.filter(e, e > 0)", { l })).toEqual(l.filter((e) => e > 0));
        expect(value("l.all(e, e > 0)", { l })).toBe(l.every((e) => e > 0));
        expect(value("l.exists(e, e > 0)", { l })).toBe(l.some((e) => e > 0));
        expect(value("l.exists_one(e, e > 0)", { l })).toBe(l.filter((e) => e > 0).length === 1);
        expect(value(`${from} in l`, { l })).toBe(l.includes(from));
        expect(value("l + l", { l })).toEqual([...l, ...l]);
        expect(value("l.size()", { l })).toBe(l.length);
        expect(value("l.first().orValue(99)", { l })).toBe(l[0] ?? 99);
        expect(value("l.last().orValue(99)", { l })).toBe(l.at(-1) ?? 99);
      }),
    );
  });

  test("lose as many levels as flatten() removes", () => {
    const l = [1, [2, [3, [4]]]];
    expect(value("dyn(l).flatten(0)", { l })).toEqual(l);
    expect(value("dyn(l).flatten(1)", { l })).toEqual([1, 2, [3, [4]]]);
    expect(value("dyn(l).flatten(2)", { l })).toEqual([1, 2, 3, [4]]);
    expect(value("dyn(l).flatten(9)", { l })).toEqual([1, 2, 3, 4]);
  });
});

describe("texts", () => {
  test("are counted in characters", () => {
    fc.assert(
      fc.property(text, text, fc.nat({ max: 8 }), (s, part, at) => {
        const characters = [...s];
        const cut = Math.min(at, characters.length);
        expect(value("s.size()", { s })).toBe(characters.length);
        expect(value(`s.substring(0, ${cut}) + s.substring(${cut})`, { s })).toBe(s);
        expect(value(`s.charAt(${cut})`, { s })).toBe(characters[cut] ?? "");
        expect(value("s.split(part).join(part)", { s, part })).toBe(s);
        expect(value("s.contains(part)", { s, part })).toBe(s.includes(part));
        expect(value("s.startsWith(part)", { s, part })).toBe(s.startsWith(part));
        expect(value("s.endsWith(part)", { s, part })).toBe(s.endsWith(part));
        const first = s.indexOf(part);
        expect(value("s.indexOf(part)", { s, part })).toBe(first < 0 ? -1 : Array.from(s.slice(0, first)).length);
        const last = s.lastIndexOf(part);
        expect(value("s.lastIndexOf(part)", { s, part })).toBe(last < 0 ? -1 : Array.from(s.slice(0, last)).length);
        expect(value("s.replace(part, '_')", { s, part })).toBe(
          part === "" ? `_${characters.map((character) => `${character}_`).join("")}` : s.replaceAll(part, "_"),
        );
        expect(value("s < part", { s, part })).toBe(Buffer.compare(Buffer.from(s), Buffer.from(part)) < 0);
      }),
    );
  });
});

describe("times", () => {
  const at = fc.date({ min: new Date(0), max: new Date("2100-01-01T00:00:00Z"), noInvalidDate: true });

  test("print as they are parsed, and have the fields of a date", () => {
    fc.assert(
      fc.property(at, (date) => {
        const t = date.toISOString();
        expect(Date.parse(String(value("string(timestamp(t))", { t })))).toBe(date.getTime());
        expect(value("[timestamp(t).getFullYear(), timestamp(t).getMonth(), timestamp(t).getDate()]", { t })).toEqual([
          date.getUTCFullYear(),
          date.getUTCMonth(),
          date.getUTCDate(),
        ]);
        expect(value("[timestamp(t).getHours(), timestamp(t).getMinutes(), timestamp(t).getSeconds()]", { t })).toEqual(
          [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()],
        );
        expect(value("[timestamp(t).getMilliseconds(), timestamp(t).getDayOfWeek()]", { t })).toEqual([
          date.getUTCMilliseconds(),
          date.getUTCDay(),
        ]);
      }),
      { numRuns: 50 },
    );
  });

  test("shifted by a duration and back are the same", () => {
    fc.assert(
      fc.property(at, fc.integer({ min: -1e6, max: 1e6 }), (date, seconds) => {
        const values = { t: date.toISOString(), d: `${seconds}s` };
        expect(value("timestamp(t) + duration(d) - duration(d) == timestamp(t)", values)).toBe(true);
        expect(value("timestamp(t) + duration(d) - timestamp(t) == duration(d)", values)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

test("every evaluation takes its cost from the budget", () => {
  const compiled = compileCel("l.all(e, e > 0)", { l: "dyn" });
  if ("errors" in compiled) throw new Error(compiled.errors.join("\n"));
  const costOf = (l: number[]): number => {
    const budget: CelBudget = { left: 1000 };
    compiled.evaluate({ l }, budget);
    return 1000 - budget.left;
  };
  expect(costOf([])).toBeGreaterThanOrEqual(0);
  expect(costOf([1])).toBeGreaterThan(costOf([]));
  expect(costOf([1, 1, 1]) - costOf([1, 1])).toBe(costOf([1, 1]) - costOf([1]));
});
