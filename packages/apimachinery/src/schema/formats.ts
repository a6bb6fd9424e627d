import { isDns1123Label, isDns1123Subdomain } from "../names.ts";
import { isGoDuration } from "./format-duration.ts";
import { isRequestUri } from "./format-uri.ts";
import { parseCidrText, parseIpAddress, parseIpv6 } from "./ip-address.ts";
import { compilePattern } from "./pattern.ts";

type Check = (text: string) => boolean;

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const HOST =
  "^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$";
const MAC =
  /^(?:[0-9a-fA-F]{2}(?:(:[0-9a-fA-F]{2}){5}|(:[0-9a-fA-F]{2}){7}|(:[0-9a-fA-F]{2}){19}|(-[0-9a-fA-F]{2}){5}|(-[0-9a-fA-F]{2}){7}|(-[0-9a-fA-F]{2}){19})|[0-9a-fA-F]{4}(?:(\.[0-9a-fA-F]{4}){2}|(\.[0-9a-fA-F]{4}){3}|(\.[0-9a-fA-F]{4}){9}))$/;
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const RGB_PART = "(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
const RGB = new RegExp(`^rgb\\(\\s*${RGB_PART}\\s*,\\s*${RGB_PART}\\s*,\\s*${RGB_PART}\\s*\\)$`);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const DATE_TIME_TAIL = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/;

const CHECKS: Readonly<Record<string, Check>> = {
  bsonobjectid: (s) => /^[0-9a-fA-F]{24}$/.test(s),
  uri: isRequestUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: (s) => s.includes(".") && parseIpAddress(s, true) !== undefined,
  ipv6: (s) => parseIpv6(s) !== undefined,
  cidr: (s) => parseCidrText(s, true) !== undefined,
  mac: (s) => s.length <= 60 && MAC.test(s),
  uuid: (s) => UUID.test(s),
  uuid3: (s) => UUID3.test(s),
  uuid4: (s) => UUID4.test(s),
  uuid5: (s) => UUID5.test(s),
  isbn: (s) => isIsbn10(s) || isIsbn13(s),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (s) => s.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(s),
  hexcolor: (s) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(s),
  rgbcolor: (s) => RGB.test(s),
  byte: (s) => BASE64.test(s),
  password: () => true,
  date: isDate,
  duration: isGoDuration,
  datetime: isDateTime,
  k8sshortname: (s) => isDns1123Label(s).length === 0,
  k8slongname: (s) => isDns1123Subdomain(s).length === 0,
};

/** The check of a format that Kubernetes knows (dashes in its name do not matter); undefined for every other one. */
export function formatChecker(format: string): Check | undefined {
  const name = format.replaceAll("-", "");
  return Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
}

const NUMBER_FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

/** Whether a format is checked for values of a type; others earn a warning when a CRD is written. */
export function knownFormat(format: string, type = ""): boolean {
  if (type === "" || type === "string") return formatChecker(format) !== undefined;
  return NUMBER_FORMATS[type]?.includes(format) === true;
}

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255 || compilePattern(HOST).match?.(text) !== true) return false;
  return text.split(".").every((part) => Buffer.byteLength(part) <= 63);
}

/** Go's time.Parse("2006-01-02"): a day that exists. */
export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day <= (days[month - 1] ?? 0);
}

function isDateTime(text: string): boolean {
  if (text.length < 4) return false;
  const parts = text.toLowerCase().split("t");
  if (parts.length < 2 || !isDate(parts[0] ?? "")) return false;
  const match = DATE_TIME_TAIL.exec(parts[1] ?? "");
  return match !== null && (match[1] ?? "") <= "23" && (match[2] ?? "") <= "59" && (match[3] ?? "") <= "59";
}

/** A reading of RFC 5322 near to Go's net/mail: `local@domain`, optionally `Name <local@domain>`. */
function isEmail(text: string): boolean {
  if (text.length > 1000) return false;
  const angled = /^[^<>]*<([^<>]*)>\s*$/.exec(text);
  const address = (angled === null ? text : (angled[1] ?? "")).trim();
  const at = address.lastIndexOf("@");
  if (at < 1) return false;
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  const atom = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\u0080-\uffff]+$/;
  const localOk = /^"(?:[^"\\\r\n]|\\.)*"$/.test(local) || local.split(".").every((part) => atom.test(part));
  return localOk && (domain.split(".").every((part) => atom.test(part)) || /^\[[^[\]\\\s]+\]$/.test(domain));
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === "X" ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i]);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (!CREDIT_CARD.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}
