import { expect, test } from "vitest";
import {
  duplicate,
  type FieldError,
  fieldErrorText,
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "./field-error.ts";

// The texts of k8s.io/apimachinery's field.Error.
test.each<[FieldError, string, string]>([
  [required("a.b"), "FieldValueRequired", "a.b: Required value"],
  [required("a.b", "why"), "FieldValueRequired", "a.b: Required value: why"],
  [invalidValue("a", "x", "why"), "FieldValueInvalid", 'a: Invalid value: "x": why'],
  [invalidValue("a", 7, "why"), "FieldValueInvalid", "a: Invalid value: 7: why"],
  [invalidValue("a", true, "why"), "FieldValueInvalid", "a: Invalid value: true: why"],
  [invalidValue("a", null, "why"), "FieldValueInvalid", "a: Invalid value: null: why"],
  [invalidValue("a", { b: [1] }, "why"), "FieldValueInvalid", 'a: Invalid value: {"b":[1]}: why'],
  [invalidValue("a", undefined, "why"), "FieldValueInvalid", "a: Invalid value: why"],
  [notSupported("a", "x", []), "FieldValueNotSupported", 'a: Unsupported value: "x"'],
  [
    notSupported("a", "x", ["y", "z"]),
    "FieldValueNotSupported",
    'a: Unsupported value: "x": supported values: "y", "z"',
  ],
  [duplicate("a", "x"), "FieldValueDuplicate", 'a: Duplicate value: "x"'],
  [forbiddenField("a", "why"), "FieldValueForbidden", "a: Forbidden: why"],
  [tooLong("a", 1), "FieldValueTooLong", "a: Too long: may not be more than 1 byte"],
  [tooLong("a", 0), "FieldValueTooLong", "a: Too long: may not be more than 0 bytes"],
  [tooLong("a", -1), "FieldValueTooLong", "a: Too long: value is too long"],
  [tooMany("a", 3, 1), "FieldValueTooMany", "a: Too many: 3: must have at most 1 item"],
  [tooMany("a", 3, 2), "FieldValueTooMany", "a: Too many: 3: must have at most 2 items"],
  [tooMany("a", 0, 0), "FieldValueTooMany", "a: Too many: 0: must have at most 0 items"],
  [tooMany("a", -1, 2), "FieldValueTooMany", "a: Too many: must have at most 2 items"],
  [tooMany("a", 3, -1), "FieldValueTooMany", "a: Too many: 3: has too many items"],
  [typeInvalid("a", "x", "why"), "FieldValueTypeInvalid", 'a: Invalid value: "x": why'],
  [notFoundValue("a", "x"), "FieldValueNotFound", 'a: Not found: "x"'],
])("%j", (error, type, text) => {
  expect(error.type).toBe(type);
  expect(fieldErrorText(error)).toBe(text);
});

test("cuts values that are longer than 64 KiB", () => {
  const size = 64 * 1024;
  expect(fieldErrorText(invalidValue("a", "x".repeat(size), "why"))).not.toContain("…");
  expect(fieldErrorText(invalidValue("a", "x".repeat(size + 1), "why"))).toBe(
    `a: Invalid value: "${"x".repeat(size)}"…: why`,
  );
  const list = fieldErrorText(
    invalidValue(
      "a",
      Array.from({ length: size }, () => 1),
      "why",
    ),
  );
  expect(list.length).toBeLessThan(size + 100);
  expect(list).toContain("…");
});
