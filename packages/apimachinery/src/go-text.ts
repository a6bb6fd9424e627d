/** Prints values as Go's fmt and encoding/json do, because error texts of Kubernetes are built that way. */

const ESCAPES: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

// Everything strconv.Quote may have to escape: quotes, controls, separators other than space, surrogates, unassigned.
const UNPRINTABLE = /["\\]|[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** strconv.Quote: a double-quoted Go string literal. */
export function goQuote(text: string): string {
  return `"${text.replace(UNPRINTABLE, escapeRune)}"`;
}

function escapeRune(rune: string): string {
  const known = ESCAPES[rune];
  if (known !== undefined) return known;
  const code = rune.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}

/** Formats a number as `%v` prints a float64 or an integer. */
export function goNumber(value: number): string {
  const abs = Math.abs(value);
  if (abs !== 0 && abs < 1e-4) return value.toExponential().replace(/e-(\d)$/, "e-0$1");
  if (abs >= 1e6 && !Number.isInteger(value)) return value.toExponential().replace(/e\+(\d)$/, "e+0$1");
  return String(value);
}

/** encoding/json's Marshal: sorted keys, `<`, `>` and `&` escaped. */
export function goJson(value: unknown): string {
  const text = JSON.stringify(sortKeys(value, 0)) ?? "null";
  return text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function sortKeys(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > 200) return "...";
  if (Array.isArray(value)) return value.map((v) => sortKeys(v, depth + 1));
  const out: Record<string, unknown> = Object.create(null);
  for (const [key, v] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) out[key] = sortKeys(v, depth + 1);
  return out;
}

/** Formats a JSON value as `%v` prints what encoding/json made of it. */
export function goValue(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return goNumber(value);
  if (typeof value !== "object") return String(value);
  if (depth > 200) return "...";
  if (Array.isArray(value)) return `[${value.map((item) => goValue(item, depth + 1)).join(" ")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, item]) => `${key}:${goValue(item, depth + 1)}`).join(" ")}]`;
}

/** Formats the type of a JSON value as `%s` prints its reflect.Type. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "object") return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** What encoding/json calls a JSON value in its errors. */
export function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value === null || value === undefined) return "null";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** A value whose Go text is known as a whole, such as a struct with its fields in declaration order. */
export class GoText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
