import { type FieldError, invalidValue, type JsonObject } from "@capstan/apimachinery";

/** Most bytes of data a Secret or ConfigMap may hold. */
export const MAX_DATA_BYTES = 1024 * 1024;

const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** What is wrong with the keys of Secret or ConfigMap data. */
export function configKeyErrors(field: string, data: JsonObject): FieldError[] {
  return Object.keys(data).flatMap((key) => keyProblems(key).map((p) => invalidValue(`${field}[${key}]`, key, p)));
}

function keyProblems(key: string): string[] {
  const problems: string[] = [];
  if (key.length > 253) problems.push("must be no more than 253 characters");
  if (!KEY.test(key)) problems.push(KEY_TEXT);
  if (key === ".") problems.push("must not be '.'");
  else if (key === "..") problems.push("must not be '..'");
  else if (key.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}

/** Bytes that base64 text stands for. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, (base64.length / 4) * 3 - padding);
}
