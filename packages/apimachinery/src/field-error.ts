import { GoText, goJson, goNumber, goQuote } from "./go-text.ts";

/** Why a field is refused: the `reason` of the cause in a Status. */
export type FieldErrorType =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid"
  | "FieldValueNotFound"
  | "InternalError";

/** One refused field, as k8s field.Error. A `badValue` of undefined is not printed. */
export interface FieldError {
  type: FieldErrorType;
  field: string;
  badValue?: unknown;
  detail: string;
}

const TITLES: Record<FieldErrorType, string> = {
  FieldValueRequired: "Required value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  FieldValueTypeInvalid: "Invalid value",
  FieldValueNotFound: "Not found",
  InternalError: "Internal error",
};

/** Longer values are truncated to keep messages readable. */
const MAX_PRINTED = 64 * 1024;

const WITHOUT_VALUE: ReadonlySet<FieldErrorType> = new Set([
  "FieldValueRequired",
  "FieldValueForbidden",
  "FieldValueTooLong",
  "InternalError",
]);

/** The error without the field's name: the message of a Status cause. */
export function fieldErrorBody(e: FieldError): string {
  let text = TITLES[e.type];
  if (!WITHOUT_VALUE.has(e.type) && e.badValue !== undefined) text += `: ${printValue(e.badValue)}`;
  return e.detail === "" ? text : `${text}: ${e.detail}`;
}

/** The whole error as Go prints it, e.g. `spec.x: Invalid value: "a": detail`. */
export function fieldErrorText(e: FieldError): string {
  return `${e.field}: ${fieldErrorBody(e)}`;
}

function printValue(value: unknown): string {
  if (typeof value === "string")
    return value.length > MAX_PRINTED ? `${goQuote(value.slice(0, MAX_PRINTED))}…` : goQuote(value);
  if (value instanceof GoText) return cut(value.text);
  if (typeof value === "number") return goNumber(value);
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  return cut(goJson(value));
}

function cut(text: string): string {
  return text.length > MAX_PRINTED ? `${text.slice(0, MAX_PRINTED)}…` : text;
}

/** A value must be given. */
export function required(field: string, detail = ""): FieldError {
  return { type: "FieldValueRequired", field, detail };
}

/** A malformed value. */
export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, badValue: value, detail };
}

/** A value outside an enumeration. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return { type: "FieldValueNotSupported", field, badValue: value, detail };
}

/** A value that must be unique is not. */
export function duplicate(field: string, value: unknown): FieldError {
  return { type: "FieldValueDuplicate", field, badValue: value, detail: "" };
}

/** A well-formed value that is not permitted here. */
export function forbiddenField(field: string, detail: string): FieldError {
  return { type: "FieldValueForbidden", field, detail };
}

/** A value longer than `max` bytes; the value itself is not repeated. */
export function tooLong(field: string, max: number): FieldError {
  const detail = max < 0 ? "value is too long" : `may not be more than ${max} ${max === 1 ? "byte" : "bytes"}`;
  return { type: "FieldValueTooLong", field, detail };
}

/** A list of `actual` items where at most `max` are allowed. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  const detail = max < 0 ? "has too many items" : `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return { type: "FieldValueTooMany", field, ...(actual < 0 ? {} : { badValue: actual }), detail };
}

/** A value of the wrong type. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { type: "FieldValueTypeInvalid", field, badValue: value, detail };
}

/** A value that refers to something that does not exist. */
export function notFoundValue(field: string, value: unknown): FieldError {
  return { type: "FieldValueNotFound", field, badValue: value, detail: "" };
}
