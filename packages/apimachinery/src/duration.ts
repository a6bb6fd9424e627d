import { badRequest } from "./errors.ts";
import { goQuote } from "./go-text.ts";

const UNITS_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 36e5 };
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;
const MAX_MS = 2 ** 63 / 1e6;

/** Parses a Go duration such as `1h30m` or `1.5s` into milliseconds; throws BadRequest. */
export function parseDuration(text: string): number {
  const fail = (): never => {
    throw badRequest(`time: invalid duration ${goQuote(text)}: write it like "1h30m", "90s" or "500ms"`);
  };
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return 0;
  if (unsigned === "" || text.length > 200) return fail();
  let ms = 0;
  let end = 0;
  for (const [part, value, unit] of unsigned.matchAll(PART)) {
    ms += Number(value) * (UNITS_MS[unit ?? ""] ?? 0);
    end += part.length;
  }
  if (end !== unsigned.length || ms > MAX_MS) return fail();
  return text.startsWith("-") ? -ms : ms;
}

/** What Go's time.ParseDuration says of a text that is no duration; undefined for one that is. */
export function goDurationError(text: string): string | undefined {
  let rest = text.replace(/^[+-]/, "");
  if (rest === "0") return undefined;
  if (rest === "") return `time: invalid duration ${goQuote(text)}`;
  while (rest !== "") {
    const number = /^(?:\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return `time: invalid duration ${goQuote(text)}`;
    rest = rest.slice(number.length);
    const unit = /^[^.\d]*/.exec(rest)?.[0] ?? "";
    if (unit === "") return `time: missing unit in duration ${goQuote(text)}`;
    if (!Object.hasOwn(UNITS_MS, unit)) return `time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`;
    rest = rest.slice(unit.length);
  }
  return undefined;
}

/** Prints milliseconds as Go's Duration does: `1h30m0s`, `1.5s`, `100ms`, `0s`. */
export function formatDuration(ms: number): string {
  const nanos = BigInt(Math.round(Math.abs(ms) * 1e6));
  const sign = ms < 0 && nanos > 0n ? "-" : "";
  if (nanos === 0n) return "0s";
  if (nanos < 1000n) return `${sign}${nanos}ns`;
  if (nanos < 1_000_000n) return `${sign}${fraction(nanos, 1000n)}µs`;
  if (nanos < 1_000_000_000n) return `${sign}${fraction(nanos, 1_000_000n)}ms`;
  const minutes = nanos / 60_000_000_000n;
  const seconds = `${fraction(nanos % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return sign + seconds;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function fraction(value: bigint, unit: bigint): string {
  const rest = value % unit;
  if (rest === 0n) return String(value / unit);
  const digits = String(rest).padStart(String(unit).length - 1, "0");
  return `${value / unit}.${digits.replace(/0+$/, "")}`;
}
