import { expect, test } from "vitest";
import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isPathSegment,
  isQualifiedName,
} from "./names.ts";

const a = (count: number): string => "a".repeat(count);
const subdomain = (length: number): string => [a(63), a(63), a(63), a(length - 192)].join(".");

test.each([
  ["label", isDns1123Label, a(63), a(64), "must be no more than 63 characters"],
  ["subdomain", isDns1123Subdomain, subdomain(253), subdomain(254), "must be no more than 253 characters"],
  ["RFC 1035 label", isDns1035Label, a(63), a(64), "must be no more than 63 characters"],
  ["label value", isLabelValue, a(63), a(64), "must be no more than 63 bytes"],
  [
    "qualified name",
    isQualifiedName,
    `example.com/${a(63)}`,
    `example.com/${a(64)}`,
    "name part must be no more than 63 bytes",
  ],
  [
    "prefix",
    isQualifiedName,
    `${subdomain(253)}/x`,
    `${subdomain(254)}/x`,
    "prefix part must be no more than 253 bytes",
  ],
])("a %s may be as long as the limit, and no longer", (_, check, longest, tooLong, problem) => {
  expect(check(longest)).toEqual([]);
  expect(check(tooLong)).toEqual([problem]);
});

test.each([
  ["a.b", [expect.stringContaining("must not contain dots")]],
  ["A", [expect.stringContaining("a lowercase RFC 1123 label must consist of")]],
  ["-a", [expect.stringContaining("a lowercase RFC 1123 label must consist of")]],
  ["a-1", []],
])("label %s", (text, problems) => {
  expect(isDns1123Label(text)).toEqual(problems);
});

test.each([
  ["/x", ["prefix part must be non-empty"]],
  ["x/", ["name part must be non-empty", expect.stringContaining("name part must consist of")]],
  ["a/b/c", [expect.stringContaining("a valid label key")]],
  ["A/x", [expect.stringContaining("prefix part a lowercase RFC 1123 subdomain")]],
  ["x", []],
])("qualified name %s", (text, problems) => {
  expect(isQualifiedName(text)).toEqual(problems);
});

test("a segment of a path is neither . nor .., unless it is a prefix", () => {
  expect([".", "..", "a/b", "a%b", "a"].map((text) => isPathSegment(text).length)).toEqual([1, 1, 1, 1, 0]);
  expect([".", "..", "a/b%"].map((text) => isPathSegment(text, true).length)).toEqual([0, 0, 2]);
});
