import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatAge } from "./age.ts";
import { formatDuration, parseDuration } from "./duration.ts";
import { scaledValue } from "./int-or-string.ts";
import {
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type QuantityFormat,
  quantityValue,
} from "./quantity.ts";
import { ApiError } from "./status.ts";

describe("quantities", () => {
  test.each([
    ["0", "0"],
    ["1", "1"],
    ["1000", "1k"],
    ["1500m", "1500m"],
    ["1000m", "1"],
    ["0.5", "500m"],
    [".5", "500m"],
    ["1.", "1"],
    ["100Mi", "100Mi"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["512Ki", "512Ki"],
    ["1e3", "1e3"],
    ["1E3", "1e3"],
    ["1E", "1E"],
    ["12345k", "12345k"],
    ["-1.5", "-1500m"],
    ["+2", "2"],
    ["0.0000000001", "1n"],
    ["1u", "1u"],
    ["0Ki", "0"],
    ["0.5Ki", "512"],
  ])("%s is written %s", (text, canonical) => expect(formatQuantity(parseQuantity(text))).toBe(canonical));

  test.each(["", ".", "x", "1x", "1KI", "1 Gi", "--1", "1e", "0x10", "1.5.2", "9".repeat(101)])(
    "%s is none",
    (text) => {
      expect(() => parseQuantity(text)).toThrow(ApiError);
    },
  );

  test("order and sum", () => {
    expect(compareQuantity(parseQuantity("1Gi"), parseQuantity("1G"))).toBe(1);
    expect(compareQuantity(parseQuantity("1000m"), parseQuantity("1"))).toBe(0);
    expect(formatQuantity(addQuantity(parseQuantity("1Gi"), parseQuantity("512Mi")))).toBe("1536Mi");
    expect(formatQuantity(addQuantity(parseQuantity("0"), parseQuantity("512Mi")))).toBe("512Mi");
    expect(quantityValue(parseQuantity("250m"))).toBe(0.25);
    expect(quantityValue(parseQuantity(2))).toBe(2);
  });

  const quantity = fc.record({
    nanos: fc.bigInt(-(10n ** 24n), 10n ** 24n),
    format: fc.constantFrom<QuantityFormat>("DecimalSI", "DecimalExponent"),
  });
  test("writing and reading keep the amount; order is that of numbers", () => {
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        expect(parseQuantity(formatQuantity(a)).nanos).toBe(a.nanos);
        expect(compareQuantity(a, b)).toBe(-compareQuantity(b, a) + 0);
        expect(compareQuantity(addQuantity(a, b), a)).toBe(Number(b.nanos > 0n) - Number(b.nanos < 0n));
      }),
    );
  });
});

test.each([
  ["1h30m", 5_400_000, "1h30m0s"],
  ["1.5s", 1500, "1.5s"],
  ["100ms", 100, "100ms"],
  ["0", 0, "0s"],
  ["-2m", -120_000, "-2m0s"],
  ["1us", 0.001, "1µs"],
  ["24h", 86_400_000, "24h0m0s"],
  [".5s", 500, "500ms"],
  ["10ns", 0.00001, "10ns"],
])("duration %s is %d ms, written %s", (text, ms, canonical) => {
  expect(parseDuration(text)).toBeCloseTo(ms, 9);
  expect(formatDuration(ms)).toBe(canonical);
});

test.each(["", "1", "h", "1d", "1h 2m", "-", "1.2.3s", "1h!"])("%s is no duration", (text) => {
  expect(() => parseDuration(text)).toThrow(`time: invalid duration ${JSON.stringify(text)}`);
});

test.each([
  [-2000, "<invalid>"],
  [-1000, "0s"],
  [0, "0s"],
  [119_000, "119s"],
  [120_000, "2m"],
  [312_000, "5m12s"],
  [600_000, "10m"],
  [179 * 60_000, "179m"],
  [180 * 60_000, "3h"],
  [(3 * 60 + 5) * 60_000, "3h5m"],
  [8 * 3_600_000, "8h"],
  [47 * 3_600_000, "47h"],
  [53 * 3_600_000, "2d5h"],
  [48 * 3_600_000, "2d"],
  [41 * 86_400_000, "41d"],
  [(2 * 365 + 3) * 86_400_000, "2y3d"],
  [9 * 365 * 86_400_000, "9y"],
])("an age of %d ms is %s", (ms, text) => expect(formatAge(ms)).toBe(text));

test("numbers or percentages", () => {
  expect(scaledValue(3, 10, true)).toBe(3);
  expect(scaledValue("25%", 10, true)).toBe(3);
  expect(scaledValue("25%", 10, false)).toBe(2);
  expect(() => scaledValue("25", 10, false)).toThrow('"25" is neither a number nor a percentage');
});
