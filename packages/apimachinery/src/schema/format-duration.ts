const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const MAX_NS = (1n << 63n) - 1n;

/** Go's time.ParseDuration in nanoseconds; undefined when malformed or out of range. */
export function parseGoDurationNs(text: string): bigint | undefined {
  if (text.length > 100) return undefined;
  const negative = text.startsWith("-");
  let rest = text.startsWith("-") || text.startsWith("+") ? text.slice(1) : text;
  if (rest === "0") return 0n;
  if (rest === "") return undefined;
  let total = 0n;
  while (rest !== "") {
    const match = /^(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/.exec(rest);
    if (match === null || ((match[1] ?? "") === "" && (match[2] ?? "") === "")) return undefined;
    const unit = UNIT_NS[match[3] ?? ""] ?? 0n;
    total += BigInt(match[1] === "" ? "0" : (match[1] ?? "0")) * unit;
    const fraction = match[2] ?? "";
    if (fraction !== "") total += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
    if (total > MAX_NS + 1n) return undefined;
    rest = rest.slice(match[0].length);
  }
  if (negative) return -total;
  return total > MAX_NS ? undefined : total;
}

const SCALA_UNITS: readonly (readonly [readonly string[], bigint])[] = [
  [["ns", "nano"], 1n],
  [["us", "µs", "micro"], 1_000n],
  [["ms", "milli"], 1_000_000n],
  [["s", "sec"], 1_000_000_000n],
  [["m", "min"], 60_000_000_000n],
  [["h", "hr", "hour"], 3_600_000_000_000n],
  [["d", "day"], 86_400_000_000_000n],
  [["w", "wk", "week"], 604_800_000_000_000n],
];

/** The `duration` format: Go's syntax or Scala-like words (`3 days`), in nanoseconds. */
export function parseFormatDurationNs(text: string): bigint | undefined {
  const exact = parseGoDurationNs(text);
  if (exact !== undefined) return exact;
  let total = 0n;
  let found = false;
  for (const match of text.slice(0, 1000).matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    if ((match[1] ?? "").length > 18) return undefined;
    const unit = (match[2] ?? "").toLowerCase();
    for (const [names, ns] of SCALA_UNITS) {
      const last = names[names.length - 1] ?? "";
      if (names.includes(unit) || unit.startsWith(last)) {
        found = true;
        total += BigInt(match[1] ?? "0") * ns;
      }
    }
  }
  return found ? BigInt.asIntN(64, total) : undefined;
}

/** Whether a text has the `duration` format. */
export function isGoDuration(text: string): boolean {
  return parseFormatDurationNs(text) !== undefined;
}
