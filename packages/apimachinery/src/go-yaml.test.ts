import fc from "fast-check";
import { expect, test } from "vitest";
import { toGoYaml } from "./go-yaml.ts";
import { parseYaml } from "./yaml.ts";

/** The library below parseYaml takes a lone dot for a number; Go does not. */
const LONE_DOT = /^[-+]?\.$/;

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 120 }).filter((given) => !LONE_DOT.test(given)),
  fc.string({ unit: fc.constantFrom(" ", "a", ":", "#", "-", "'", '"', "\n", "0", "\t", "word "), maxLength: 120 }),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 10 }).filter((key) => !LONE_DOT.test(key)),
      tie("value"),
      {
        maxKeys: 3,
        noNullPrototype: true,
      },
    ),
  ),
})).value;

test("what is written is read back the same", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("a", "b", "c10", "c9"), value, { noNullPrototype: true }), (given) => {
      expect(parseYaml(toGoYaml(given)) ?? {}).toEqual(given);
    }),
    { numRuns: 500 },
  );
});

test("keys are sorted as people count", () => {
  expect(toGoYaml({ a10: 1, a2: 2, B: 3, a: { x: [] } })).toBe("B: 3\na:\n  x: []\na2: 2\na10: 1\n");
});
