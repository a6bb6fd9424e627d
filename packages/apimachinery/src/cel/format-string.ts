import { goQuote } from "../go-text.ts";
import { formatDouble } from "./lib-standard.ts";
import { formatDurationSeconds, formatTimestamp } from "./time.ts";
import {
  CelDuration,
  CelError,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  ListValue,
  MapValue,
  typeName,
  type Value,
} from "./values.ts";

const MAX_PRECISION = 1000;

/** CEL's string.format(): clauses %s %d %f %e %b %x %X %o and %%, with an optional precision. */
export function formatString(text: string, args: readonly Value[]): string {
  let next = 0;
  let out = "";
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== "%") {
      out += text[i];
      continue;
    }
    const clause = /^%(?:\.(\d+))?([a-zA-Z%])/.exec(text.slice(i, i + 20));
    if (clause === null) throw new CelError(`could not parse formatting clause: unexpected end of string`);
    i += clause[0].length - 1;
    if (clause[2] === "%") {
      out += "%";
      continue;
    }
    const arg = args[next];
    if (arg === undefined) throw new CelError(`index ${next} out of range`);
    next++;
    out += formatClause(clause[2] ?? "", clause[1] === undefined ? undefined : Number(clause[1]), arg);
  }
  return out;
}

function formatClause(verb: string, precision: number | undefined, arg: Value): string {
  if (precision !== undefined && precision > MAX_PRECISION) throw new CelError("precision out of range");
  switch (verb) {
    case "s":
      return text(arg);
    case "d":
      if (typeof arg === "bigint") return arg.toString();
      if (arg instanceof CelUint) return arg.value.toString();
      if (typeof arg === "number") return formatDouble(arg);
      break;
    case "f":
      return numeric(arg).toFixed(Math.min(precision ?? 6, 100));
    case "e":
      return numeric(arg)
        .toExponential(Math.min(precision ?? 6, 100))
        .replace(/e([+-])(\d)$/, "e$10$2");
    case "b":
      if (typeof arg === "boolean") return arg ? "1" : "0";
      return whole(arg).toString(2);
    case "o":
      return whole(arg).toString(8);
    case "x":
    case "X": {
      const hex =
        typeof arg === "string" || arg instanceof Uint8Array
          ? Buffer.from(arg).toString("hex")
          : whole(arg).toString(16);
      return verb === "x" ? hex : hex.toUpperCase();
    }
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
  throw new CelError(
    `error during formatting: decimal clause can only be used on integers, was given ${typeName(arg)}`,
  );
}

function numeric(arg: Value): number {
  if (typeof arg === "number" || typeof arg === "bigint") return Number(arg);
  if (arg instanceof CelUint) return Number(arg.value);
  throw new CelError(
    `error during formatting: fixed-point clause can only be used on doubles, was given ${typeName(arg)}`,
  );
}

function whole(arg: Value): bigint {
  if (typeof arg === "bigint") return arg;
  if (arg instanceof CelUint) return arg.value;
  throw new CelError(`error during formatting: only integers can be formatted this way, was given ${typeName(arg)}`);
}

function text(arg: Value, nested = false): string {
  if (arg === null) return "null";
  if (typeof arg === "string") return nested ? goQuote(arg) : arg;
  if (typeof arg === "boolean" || typeof arg === "bigint") return String(arg);
  if (typeof arg === "number") return formatDouble(arg);
  if (arg instanceof CelUint) return String(arg.value);
  if (arg instanceof Uint8Array) return Buffer.from(arg).toString();
  if (arg instanceof CelTimestamp)
    return nested ? `timestamp(${goQuote(formatTimestamp(arg.ns))})` : formatTimestamp(arg.ns);
  if (arg instanceof CelDuration)
    return nested ? `duration(${goQuote(formatDurationSeconds(arg.ns))})` : formatDurationSeconds(arg.ns);
  if (arg instanceof CelTypeValue) return arg.name;
  if (arg instanceof ListValue)
    return `[${arg
      .values()
      .map((item) => text(item, true))
      .join(", ")}]`;
  if (arg instanceof MapValue) {
    const entries = arg.keys().map((key) => `${text(key, true)}:${text(arg.get(key) ?? null, true)}`);
    return `{${entries.sort().join(", ")}}`;
  }
  if (arg instanceof CelOptional)
    return arg.value === undefined ? "optional.none()" : `optional(${text(arg.value, true)})`;
  throw new CelError(
    `error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeName(arg)}`,
  );
}
