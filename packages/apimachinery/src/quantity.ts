import { badRequest } from "./errors.ts";

/** An amount of something, exact to the nano: how Kubernetes writes CPU and memory. */
export interface Quantity {
  /** The amount times 10^9. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

/** Which suffixes a quantity is printed with: `Ki`, `k` or `e3`. */
export type QuantityFormat = "BinarySI" | "DecimalSI" | "DecimalExponent";

const NANO = 1_000_000_000n;
const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,3}|[numkMGTPE]?)$/;
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
/** Larger amounts are taken as this one, as upstream does. */
const MAX_NANOS = (2n ** 63n - 1n) * NANO;

/** Parses a quantity such as `500m`, `1.5Gi` or `1e3`; fractions below a nano are rounded up. Throws BadRequest. */
export function parseQuantity(text: string | number): Quantity {
  const match = PATTERN.exec(String(text));
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match ?? [];
  if (match === null || String(text).length > 100 || whole + fraction === "") {
    throw badRequest(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': write them like 500m, 2 or 1.5Gi",
    );
  }
  const digits = BigInt(whole + fraction);
  const power = BINARY.indexOf(suffix) + 1;
  const exponent = power > 0 ? 0 : /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (DECIMAL[suffix] ?? 0);
  const numerator = digits * NANO * 1024n ** BigInt(power) * 10n ** BigInt(Math.max(exponent, 0));
  const denominator = 10n ** BigInt(fraction.length + Math.max(-exponent, 0));
  const exact = (numerator + denominator - 1n) / denominator;
  const nanos = exact > MAX_NANOS ? MAX_NANOS : exact;
  const format = power > 0 ? "BinarySI" : /^[eE][+-]?\d/.test(suffix) ? "DecimalExponent" : "DecimalSI";
  return { nanos: sign === "-" ? -nanos : nanos, format };
}

/** Orders two quantities. */
export function compareQuantity(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

/** The sum, printed in the format of the first unless that is zero. */
export function addQuantity(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** The amount as a number; large or fine ones lose digits. */
export function quantityValue(q: Quantity): number {
  return Number(q.nanos) / 1e9;
}

/** The canonical text: no fraction, the largest suffix that allows it. */
export function formatQuantity(q: Quantity): string {
  const sign = q.nanos < 0n ? "-" : "";
  const nanos = q.nanos < 0n ? -q.nanos : q.nanos;
  if (nanos === 0n) return "0";
  if (q.format === "BinarySI" && nanos >= 1024n * NANO) return sign + formatBinary(nanos);
  let exponent = -9;
  let rest = nanos;
  while (rest % 1000n === 0n && exponent < 18) {
    rest /= 1000n;
    exponent += 3;
  }
  if (q.format === "DecimalExponent") return `${sign}${rest}${exponent === 0 ? "" : `e${exponent}`}`;
  const suffix = Object.entries(DECIMAL).find(([, e]) => e === exponent)?.[0] ?? "";
  return `${sign}${rest}${suffix}`;
}

function formatBinary(nanos: bigint): string {
  // Binary quantities are whole numbers; what is finer is rounded up, as upstream does.
  let rest = (nanos + NANO - 1n) / NANO;
  let power = 0;
  while (rest % 1024n === 0n && power < BINARY.length) {
    rest /= 1024n;
    power++;
  }
  return `${rest}${power === 0 ? "" : BINARY[power - 1]}`;
}
