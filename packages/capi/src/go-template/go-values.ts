import { isObject } from "@capstan/apimachinery";

/** Go's idea of truth: everything but the zero value of its type. */
export function truthy(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0 || value === "") return false;
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) ? Object.keys(value).length > 0 : true;
}

/** What a template prints for a value: Go's default format. */
export function printValue(value: unknown): string {
  if (value === undefined || value === null) return "<no value>";
  return formatValue(value);
}

/** Go's `%v`. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "string") return value;
  if (typeof value === "number") return formatNumber(value);
  if (Array.isArray(value)) return `[${value.map(formatValue).join(" ")}]`;
  if (isObject(value))
    return `map[${Object.keys(value)
      .sort()
      .map((key) => `${key}:${formatValue(value[key])}`)
      .join(" ")}]`;
  return String(value);
}

/** JSON numbers are floats in Go; whole ones print as such up to the point where `%v` turns to exponents. */
function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  return String(value).replace(/e([+-])(\d)$/, "e$10$2");
}

/** Order and equality of basic values, as Go's eq, lt and the like have it. */
export function compareValues(a: unknown, b: unknown): number | undefined {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if ((a ?? null) === null && (b ?? null) === null) return 0;
  return undefined;
}
