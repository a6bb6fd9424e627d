import { goQuote } from "../go-text.ts";
import { isDns1035Label, isDns1123Label, isDns1123Subdomain, isLabelValue, isQualifiedName } from "../names.ts";
import { formatChecker } from "../schema/formats.ts";
import { compareQuantities, compareSemver } from "./equality.ts";
import { define } from "./functions.ts";
import { ArrayList, CelError, CelFormat, CelOptional, CelQuantity, CelSemver, type Value } from "./values.ts";

const s = (v: Value | undefined): string => v as string;
const q = (v: Value | undefined): CelQuantity => v as CelQuantity;
const ver = (v: Value | undefined): CelSemver => v as CelSemver;

const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Readonly<Record<string, bigint>> = {
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
};

/** Parses a quantity exactly; fractions below a nano are rounded away from zero, as Kubernetes does. */
function parseQuantity(text: string): CelQuantity | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d{1,4})|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?))$/.exec(text);
  if (match === null || text.length > 200 || ((match[2] ?? "") === "" && (match[3] ?? "") === "")) return undefined;
  const fraction = match[3] ?? "";
  let digits = BigInt(`${match[2] ?? ""}${fraction}` || "0");
  let scale = -fraction.length;
  const suffix = match[6] ?? "";
  const binary = BINARY[suffix];
  if (match[4] !== undefined) scale += Number(match[5]);
  else if (binary !== undefined) digits *= binary;
  else scale += DECIMAL[suffix] ?? 0;
  if (Math.abs(scale) > 400) return undefined;
  if (scale < -9) {
    const unit = 10n ** BigInt(-9 - scale);
    digits = (digits + unit - 1n) / unit;
    scale = -9;
  }
  return new CelQuantity(match[1] === "-" ? -digits : digits, scale);
}

/** The whole number a quantity is, undefined when it has a fraction or does not fit an int64. */
function integerOf(value: CelQuantity): bigint | undefined {
  let whole = value.digits;
  if (value.scale >= 0) whole *= 10n ** BigInt(value.scale);
  else {
    const unit = 10n ** BigInt(-value.scale);
    if (whole % unit !== 0n) return undefined;
    whole /= unit;
  }
  return BigInt.asIntN(64, whole) === whole ? whole : undefined;
}

function addQuantities(a: CelQuantity, b: CelQuantity, sign: bigint): CelQuantity {
  const scale = Math.min(a.scale, b.scale);
  return new CelQuantity(
    a.digits * 10n ** BigInt(a.scale - scale) + sign * b.digits * 10n ** BigInt(b.scale - scale),
    scale,
  );
}

define("quantity", "string_to_quantity", "(string):Quantity", (v) => {
  const value = parseQuantity(s(v));
  if (value === undefined) {
    throw new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  return value;
});
define("isQuantity", "is_quantity_string", "(string):bool", (v) => parseQuantity(s(v)) !== undefined);
define("sign", "quantity_sign", "(Quantity):int", (v) => BigInt(Math.sign(Number(q(v).digits))));
define("sign", "quantity_sign_member", "Quantity.():int", (v) => BigInt(Math.sign(Number(q(v).digits))));
define(
  "isGreaterThan",
  "quantity_is_greater_than",
  "Quantity.(Quantity):bool",
  (a, b) => compareQuantities(q(a), q(b)) > 0,
);
define("isLessThan", "quantity_is_less_than", "Quantity.(Quantity):bool", (a, b) => compareQuantities(q(a), q(b)) < 0);
define("compareTo", "quantity_compare_to", "Quantity.(Quantity):int", (a, b) => BigInt(compareQuantities(q(a), q(b))));
define("asApproximateFloat", "quantity_get_float", "Quantity.():double", (v) => Number(q(v).digits) * 10 ** q(v).scale);
define("asInteger", "quantity_get_int", "Quantity.():int", (v) => {
  const whole = integerOf(q(v));
  if (whole === undefined) throw new CelError("cannot convert value to integer");
  return whole;
});
define("isInteger", "quantity_is_integer", "Quantity.():bool", (v) => integerOf(q(v)) !== undefined);
define("add", "quantity_add", "Quantity.(Quantity):Quantity", (a, b) => addQuantities(q(a), q(b), 1n));
define("add", "quantity_add_int", "Quantity.(int):Quantity", (a, b) =>
  addQuantities(q(a), new CelQuantity(b as bigint, 0), 1n),
);
define("sub", "quantity_sub", "Quantity.(Quantity):Quantity", (a, b) => addQuantities(q(a), q(b), -1n));
define("sub", "quantity_sub_int", "Quantity.(int):Quantity", (a, b) =>
  addQuantities(q(a), new CelQuantity(b as bigint, 0), -1n),
);

const PART = "(0|[1-9]\\d{0,18})";
const IDENTIFIER = "[0-9A-Za-z-]+";
const SEMVER = new RegExp(
  `^${PART}\\.${PART}\\.${PART}(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+${IDENTIFIER}(?:\\.${IDENTIFIER})*)?$`,
);

function parseSemver(text: string, normalize: boolean): CelSemver | undefined {
  const match = text.length > 1000 ? null : SEMVER.exec(normalize ? normalizeSemver(text) : text);
  if (match === null) return undefined;
  const pre = match[4] === undefined ? [] : match[4].split(".");
  if (pre.some((part) => /^0\d+$/.test(part))) return undefined;
  return new CelSemver(BigInt(match[1] ?? 0), BigInt(match[2] ?? 0), BigInt(match[3] ?? 0), pre);
}

function normalizeSemver(text: string): string {
  const bare = text.replace(/^v/, "");
  const parts = bare.split(".");
  const three = [...parts.slice(0, 2), ...(parts.length > 2 ? [parts.slice(2).join(".")] : [])];
  const stripped = three.map((part) => (part.length > 1 ? part.replace(/^0+(?=\d)/, "") : part));
  if (stripped.length < 3 && /[+-]/.test(stripped[stripped.length - 1] ?? "")) return "";
  while (stripped.length < 3) stripped.push("0");
  return stripped.join(".");
}

function semver(text: string, normalize: boolean): CelSemver {
  const value = parseSemver(text, normalize);
  if (value === undefined) throw new CelError(`invalid semantic version ${goQuote(text)}`);
  return value;
}

define("semver", "string_to_semver", "(string):Semver", (v) => semver(s(v), false));
define("semver", "string_bool_to_semver", "(string,bool):Semver", (v, normalize) => semver(s(v), normalize === true));
define("isSemver", "is_semver_string", "(string):bool", (v) => parseSemver(s(v), false) !== undefined);
define(
  "isSemver",
  "is_semver_string_bool",
  "(string,bool):bool",
  (v, normalize) => parseSemver(s(v), normalize === true) !== undefined,
);
define("isGreaterThan", "semver_is_greater_than", "Semver.(Semver):bool", (a, b) => compareSemver(ver(a), ver(b)) > 0);
define("isLessThan", "semver_is_less_than", "Semver.(Semver):bool", (a, b) => compareSemver(ver(a), ver(b)) < 0);
define("compareTo", "semver_compare_to", "Semver.(Semver):int", (a, b) => BigInt(compareSemver(ver(a), ver(b))));
define("major", "semver_major", "Semver.():int", (v) => ver(v).major);
define("minor", "semver_minor", "Semver.():int", (v) => ver(v).minor);
define("patch", "semver_patch", "Semver.():int", (v) => ver(v).patch);

type NameCheck = (text: string) => readonly string[];

/** A prefix ends where a generated suffix begins, so a trailing dash is allowed. */
const asPrefix =
  (check: NameCheck): NameCheck =>
  (text) =>
    check(text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text);
const byFormat = (format: string, complaint: (text: string) => string): NameCheck => {
  const check = formatChecker(format);
  return (text) => (check?.(text) === true ? [] : [complaint(text)]);
};

const FORMATS: Readonly<Record<string, readonly [string, NameCheck]>> = {
  dns1123Label: ["DNS1123Label", isDns1123Label],
  dns1123Subdomain: ["DNS1123Subdomain", isDns1123Subdomain],
  dns1035Label: ["DNS1035Label", isDns1035Label],
  qualifiedName: ["QualifiedName", isQualifiedName],
  dns1123LabelPrefix: ["DNS1123LabelPrefix", asPrefix(isDns1123Label)],
  dns1123SubdomainPrefix: ["DNS1123SubdomainPrefix", asPrefix(isDns1123Subdomain)],
  dns1035LabelPrefix: ["DNS1035LabelPrefix", asPrefix(isDns1035Label)],
  labelValue: ["LabelValue", isLabelValue],
  uri: ["URI", byFormat("uri", (text) => `parse ${goQuote(text)}: invalid URI for request`)],
  uuid: ["uuid", byFormat("uuid", () => "does not match the UUID format")],
  byte: ["byte", byFormat("byte", () => "invalid base64")],
  date: ["date", byFormat("date", () => "invalid date")],
  datetime: ["datetime", byFormat("datetime", () => "invalid datetime")],
};

for (const [name, [title, check]] of Object.entries(FORMATS)) {
  const format = new CelFormat(title, check);
  define(`format.${name}`, `format.${name}`, "():Format", () => format);
}
define("format.named", "format-named", "(string):optional<Format>", (name) => {
  const entry = Object.hasOwn(FORMATS, s(name)) ? FORMATS[s(name)] : undefined;
  return new CelOptional(entry === undefined ? undefined : new CelFormat(entry[0], entry[1]));
});
define("validate", "format-validate", "Format.(string):optional<list<string>>", (format, text) => {
  const errors = (format as CelFormat).check(s(text));
  return new CelOptional(errors.length === 0 ? undefined : new ArrayList(errors));
});
