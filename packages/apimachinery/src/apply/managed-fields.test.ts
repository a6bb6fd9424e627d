import fc from "fast-check";
import { expect, test } from "vitest";
import {
  capUpdaters,
  decodeManagedFields,
  type Managed,
  readManagedFields,
  writeManagedFields,
} from "./managed-fields.ts";

const managed = (over: Partial<Managed>): Managed => ({
  manager: "m",
  operation: "Update",
  apiVersion: "v1",
  subresource: "",
  time: "2026-01-01T00:00:00Z",
  set: { "f:a": {} },
  ...over,
});
const entry = { manager: "m", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "f:a": {} } };

test("writes appliers before updaters, then by time, manager, version and subresource", () => {
  const ordered = [
    managed({ operation: "Apply", time: "2026-01-02T00:00:00Z", manager: "z" }),
    managed({ time: undefined, manager: "z" }),
    managed({ manager: "a", apiVersion: "v1" }),
    managed({ manager: "a", apiVersion: "v2" }),
    managed({ manager: "a", apiVersion: "v2", subresource: "status" }),
    managed({ manager: "b" }),
    managed({ time: "2026-01-02T00:00:00Z", manager: "a" }),
  ];
  const expected = writeManagedFields(ordered).map((written) => JSON.stringify(written));
  expect(readManagedFields(writeManagedFields(ordered))).toEqual(ordered);
  fc.assert(
    fc.property(fc.shuffledSubarray(ordered, { minLength: ordered.length }), (shuffled) => {
      expect(writeManagedFields(shuffled).map((written) => JSON.stringify(written))).toEqual(expected);
    }),
  );
});

test("leaves out managers without fields", () => {
  expect(writeManagedFields([managed({ set: {} }), managed({ manager: "b" })]).map(({ manager }) => manager)).toEqual([
    "b",
  ]);
});

test.each<[unknown, string]>([
  ["x", "metadata.managedFields: must be a list"],
  [[null], "metadata.managedFields[0]: must be an object"],
  [[entry, "x"], "metadata.managedFields[1]: must be an object"],
  [[{ ...entry, operation: "Patch" }], "operation must be `Apply` or `Update`"],
  [[{ ...entry, apiVersion: "" }], "apiVersion must not be empty"],
  [[{ ...entry, apiVersion: undefined }], "apiVersion must not be empty"],
  [[entry, { ...entry, fieldsType: "FieldsV2" }], 'metadata.managedFields[1].fieldsType: must be "FieldsV1"'],
])("refuses %j", (entries, message) => expect(() => decodeManagedFields(entries)).toThrow(message));

test("keeps the last of equal managers", () => {
  const decoded = decodeManagedFields([entry, { ...entry, fieldsV1: { "f:b": {} } }]);
  expect(decoded.map(({ set }) => Object.keys(set))).toEqual([["f:b"]]);
});

test("joins the oldest updaters of a version beyond ten, and keeps every field owned", () => {
  const updater = (n: number, over: Partial<Managed> = {}): Managed =>
    managed({ manager: `u${n}`, time: `2026-01-01T00:00:${10 + n}Z`, set: { [`f:${n}`]: {} }, ...over });
  const ten = Array.from({ length: 10 }, (_, n) => updater(n));
  expect(capUpdaters(ten)).toEqual(ten);

  const applier = managed({ operation: "Apply", manager: "applier" });
  const capped = capUpdaters([applier, updater(12, { apiVersion: "v2" }), ...ten, updater(10), updater(11)]);
  expect(capped.map(({ manager }) => manager).sort()).toEqual(
    ["ancient-changes", "applier", "u4", "u5", "u6", "u7", "u8", "u9", "u10", "u11", "u12"].sort(),
  );
  const joined = capped.find(({ manager }) => manager === "ancient-changes");
  expect(joined).toMatchObject({
    operation: "Update",
    apiVersion: "v1",
    subresource: "",
    time: "2026-01-01T00:00:13Z",
  });
  expect(Object.keys(joined?.set ?? {}).sort()).toEqual(["f:0", "f:1", "f:2", "f:3"]);
});
