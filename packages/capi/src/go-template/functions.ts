import { checkLength } from "./budget.ts";
import { collectionFunctions } from "./collections.ts";
import { compareValues, formatValue, truthy } from "./go-values.ts";
import { TemplateError } from "./lexer.ts";
import { mathFunctions } from "./math.ts";
import { stringFunctions } from "./strings.ts";

/** A function that templates can call; it throws TemplateError for arguments that make no sense. */
export type TemplateFunction = (...args: never[]) => unknown;

function equal(a: unknown, ...others: unknown[]): boolean {
  if (others.length === 0) throw new TemplateError("missing argument for comparison");
  return others.some((b) => {
    const order = compareValues(a, b);
    if (order === undefined && a !== null && a !== undefined && b !== null && b !== undefined)
      throw new TemplateError("incompatible types for comparison");
    return order === 0;
  });
}

function ordered(a: unknown, b: unknown): number {
  const order = compareValues(a, b);
  if (order === undefined) throw new TemplateError("incompatible types for comparison");
  return order;
}

function index(value: unknown, ...keys: (string | number)[]): unknown {
  let current = value;
  for (const key of keys) {
    if (Array.isArray(current)) {
      if (typeof key !== "number" || key < 0 || key >= current.length)
        throw new TemplateError(`index out of range: ${typeof key === "number" ? key : typeof key}`);
      current = current[key];
    } else if (typeof current === "object" && current !== null)
      current = Object.hasOwn(current, String(key)) ? (current as Record<string, unknown>)[String(key)] : undefined;
    else if (typeof current === "string" && typeof key === "number") current = current.codePointAt(key);
    else throw new TemplateError(`can't index item of type ${typeof current}`);
  }
  return current;
}

/** Go's fmt.Sprintf for the verbs that templates use. */
function sprintf(format: string, ...args: unknown[]): string {
  let next = 0;
  let padded = 0;
  // Flags end where a width begins, so that zeros have one reading only.
  const verbs = /%([-+# 0]*)([1-9]\d*)?(?:\.(\d+))?([a-zA-Z%])/g;
  return String(format).replace(verbs, (whole, flags, width, precision, verb) => {
    if (verb === "%") return "%";
    if (next >= args.length) return `%!${verb}(MISSING)`;
    const text = formatVerb(args[next++], verb, precision);
    if (text === undefined) return whole;
    const pad = Math.min(Number(width || 0), 1000);
    padded += pad;
    checkLength(padded);
    if (flags.includes("-")) return text.padEnd(pad);
    return flags.includes("0") && verb !== "s" ? text.padStart(pad, "0") : text.padStart(pad);
  });
}

function formatVerb(value: unknown, verb: string, precision: string | undefined): string | undefined {
  if (verb === "v" || verb === "s") return formatValue(value);
  if (verb === "q") return JSON.stringify(formatValue(value));
  if (verb === "d") return String(Math.trunc(Number(value)));
  if (verb === "t") return String(value === true);
  if (verb === "f") return Number(value).toFixed(Math.min(Number(precision ?? 6), 100));
  if (verb === "x")
    return typeof value === "number" ? value.toString(16) : Buffer.from(formatValue(value)).toString("hex");
  return undefined;
}

/** Go's fmt.Sprint: a space between operands of which neither is text. */
function print(...values: unknown[]): string {
  return values
    .map((value, i) => {
      const space = i > 0 && typeof value !== "string" && typeof values[i - 1] !== "string";
      return `${space ? " " : ""}${formatValue(value)}`;
    })
    .join("");
}

const core: Record<string, TemplateFunction> = {
  not: (value: unknown) => !truthy(value),
  eq: equal,
  ne: (a: unknown, b: unknown) => !equal(a, b),
  lt: (a: unknown, b: unknown) => ordered(a, b) < 0,
  le: (a: unknown, b: unknown) => ordered(a, b) <= 0,
  gt: (a: unknown, b: unknown) => ordered(a, b) > 0,
  ge: (a: unknown, b: unknown) => ordered(a, b) >= 0,
  index,
  len: (value: unknown) => {
    if (typeof value === "string") return Buffer.byteLength(value);
    if (Array.isArray(value)) return value.length;
    if (typeof value === "object" && value !== null) return Object.keys(value).length;
    throw new TemplateError(`len of type ${typeof value}`);
  },
  print,
  println: (...values: unknown[]) => `${values.map(formatValue).join(" ")}\n`,
  printf: sprintf,
  urlquery: (value: unknown) => encodeURIComponent(formatValue(value)),
  default: (fallback: unknown, value?: unknown) => (truthy(value) ? value : fallback),
  empty: (value: unknown) => !truthy(value),
  coalesce: (...values: unknown[]) => values.find(truthy),
  ternary: (yes: unknown, no: unknown, condition: unknown) => (condition === true ? yes : no),
  any: (...values: unknown[]) => values.some(truthy),
  all: (...values: unknown[]) => values.every(truthy),
  fail: (message: unknown) => {
    throw new TemplateError(formatValue(message));
  },
};

/** Go's own functions and those of sprig that patches use; none reaches outside or depends on time or chance. */
export const FUNCTIONS: Record<string, TemplateFunction> = {
  ...core,
  ...stringFunctions,
  ...collectionFunctions,
  ...mathFunctions,
};
