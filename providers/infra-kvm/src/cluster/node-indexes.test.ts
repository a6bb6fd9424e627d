import { expect, test } from "vitest";
import { nodeIndexes } from "./node-indexes.ts";

test.each<[string, Record<string, number>, string[], Record<string, number>]>([
  ["numbers machines from 1", {}, ["a", "b"], { a: 1, b: 2 }],
  ["keeps the numbers of machines that exist", { a: 1, b: 2 }, ["b", "c", "a"], { a: 1, b: 2, c: 3 }],
  [
    "gives a number that is free again to the next machine",
    { a: 1, b: 2, c: 3 },
    ["a", "c", "d"],
    { a: 1, c: 3, d: 2 },
  ],
  ["forgets all", { a: 1 }, [], {}],
  ["is not confused by names of objects' own properties", {}, ["constructor"], { constructor: 1 }],
])("%s", (_what, known, machines, expected) => {
  expect(nodeIndexes(known, machines)).toEqual(expected);
});
