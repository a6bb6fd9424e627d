const NS = 1_000_000_000n;
/** The earliest CEL timestamp, 0001-01-01T00:00:00Z, in nanoseconds since 1970. */
export const MIN_TIMESTAMP_NS = -62_135_596_800n * NS;
/** The latest CEL timestamp, 9999-12-31T23:59:59.999999999Z, in nanoseconds since 1970. */
export const MAX_TIMESTAMP_NS = 253_402_300_799n * NS + 999_999_999n;

/** Parses an RFC 3339 timestamp into nanoseconds since 1970; returns undefined for any other text. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d{2}:\d{2})$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", zone = "Z"] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const check = new Date(date);
  if (Number(year) < 100) check.setUTCFullYear(Number(year));
  if (check.getUTCMonth() !== Number(month) - 1 || check.getUTCDate() !== Number(day)) return undefined;
  let seconds = BigInt(check.getTime() / 1000);
  if (zone !== "Z" && zone !== "z") {
    const offset = BigInt(Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4, 6)) * 60);
    seconds += zone.startsWith("+") ? -offset : offset;
  }
  return seconds * NS + BigInt(fraction.padEnd(9, "0"));
}

/** Formats a timestamp as RFC 3339 in UTC, with as many fractional digits as needed. */
export function formatTimestamp(ns: bigint): string {
  const seconds = floorDiv(ns, NS);
  const rest = ns - seconds * NS;
  const base = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${base}${fraction(rest)}Z`;
}

/** Formats a duration in seconds, as CEL's string(duration) does. */
export function formatDurationSeconds(ns: bigint): string {
  const sign = ns < 0n ? "-" : "";
  const abs = ns < 0n ? -ns : ns;
  return `${sign}${abs / NS}${fraction(abs % NS)}s`;
}

function fraction(ns: bigint): string {
  return ns === 0n ? "" : `.${ns.toString().padStart(9, "0").replace(/0+$/, "")}`;
}

function floorDiv(a: bigint, b: bigint): bigint {
  const q = a / b;
  return a % b < 0n ? q - 1n : q;
}

/** Returns a timestamp's local date and time in a zone (UTC, `+02:00` or IANA) as UTC fields of `date`; undefined for an unknown zone. */
export function dateFields(ns: bigint, zone: string): { date: Date; ms: number } | undefined {
  let seconds = Number(floorDiv(ns, NS));
  const offset = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone);
  if (offset !== null) {
    const amount = Number(offset[2]) * 3600 + Number(offset[3]) * 60;
    seconds += offset[1] === "-" ? -amount : amount;
  } else if (zone !== "" && zone !== "UTC") {
    const shifted = inZone(seconds, zone);
    if (shifted === undefined) return undefined;
    seconds = shifted;
  }
  return { date: new Date(seconds * 1000), ms: Number((ns - floorDiv(ns, NS) * NS) / 1_000_000n) };
}

function inZone(seconds: number, zone: string): number | undefined {
  try {
    const parts = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    }).formatToParts(new Date(seconds * 1000));
    const get = (type: string): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
    return Date.UTC(get("year"), get("month") - 1, get("day"), get("hour"), get("minute"), get("second")) / 1000;
  } catch {
    return undefined;
  }
}
