import { expect, test } from "vitest";
import { randomSuffix, randomUuid, seededRandom } from "./random.ts";

test("a seed always gives the same draws", () => {
  expect(randomUuid(seededRandom(7))).toBe(randomUuid(seededRandom(7)));
  expect(randomUuid(seededRandom(7))).not.toBe(randomUuid(seededRandom(8)));
});

test("uuids are version 4 and suffixes use the alphabet of generateName", () => {
  const random = seededRandom(1);
  expect(randomUuid(random)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(randomSuffix(random)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});
