import { createHash } from "node:crypto";
import { compileRe2, parseYaml, toYaml } from "@capstan/apimachinery";
import { checkLength } from "./budget.ts";
import type { TemplateFunction } from "./functions.ts";
import { formatValue } from "./go-values.ts";
import { TemplateError } from "./lexer.ts";

const text = (value: unknown): string => (value === null || value === undefined ? "" : formatValue(value));

function repeat(count: number, value: unknown): string {
  const unit = text(value);
  if (!(count >= 0)) throw new TemplateError("the count is negative or not a number");
  checkLength(count * unit.length);
  return unit.repeat(count);
}

function indent(spaces: number, value: unknown): string {
  const pad = repeat(spaces, " ");
  return `${pad}${replace("\n", `\n${pad}`, value)}`;
}

/** A replacement is written as it is, also with a dollar sign. */
function replace(from: string, to: string, value: unknown): string {
  const whole = text(value);
  checkLength(whole.length + occurrences(whole, text(from)) * text(to).length);
  return whole.replaceAll(text(from), () => text(to));
}

function occurrences(whole: string, part: string): number {
  if (part === "") return whole.length + 1;
  let count = 0;
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + part.length)) count++;
  return count;
}

function join(separator: string, values: unknown): string {
  if (!Array.isArray(values)) return text(values);
  const parts = values.map(text);
  checkLength(parts.reduce((sum, part) => sum + part.length + text(separator).length, 0));
  return parts.join(text(separator));
}

function regexReplaceAll(pattern: string, value: unknown, by: string): string {
  const whole = text(value);
  const matches = regex(pattern).matcher(whole);
  let count = 0;
  while (matches.find()) count++;
  // A replacement may repeat what was found as often as it has dollar signs.
  const dollars = text(by).split("$").length;
  checkLength(whole.length * dollars + count * text(by).length);
  return regex(pattern)
    .matcher(whole)
    .replaceAll(text(by).replace(/\$\{(\w+)\}/g, "$$$1"));
}

function trunc(length: number, value: unknown): string {
  const whole = text(value);
  return length < 0 ? whole.slice(Math.max(0, whole.length + length)) : whole.slice(0, length);
}

function trimAll(characters: string, value: unknown): string {
  const set = new Set(characters);
  const all = [...text(value)];
  const first = all.findIndex((char) => !set.has(char));
  if (first < 0) return "";
  return all.slice(first, all.findLastIndex((char) => !set.has(char)) + 1).join("");
}

function regex(pattern: string): Exclude<ReturnType<typeof compileRe2>, string> {
  const compiled = compileRe2(pattern);
  if (typeof compiled === "string") throw new TemplateError(compiled);
  return compiled;
}

function goJson(value: unknown, space?: string): string {
  try {
    return JSON.stringify(sorted(value), undefined, space);
  } catch {
    throw new TemplateError("the value cannot be written as JSON");
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted((value as Record<string, unknown>)[key])]),
  );
}

function parsed(value: unknown, parse: (source: string) => unknown): unknown {
  try {
    return parse(text(value));
  } catch {
    return "";
  }
}

const words = (value: unknown): string[] =>
  text(value)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "");
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** Functions of sprig over text. */
export const stringFunctions: Record<string, TemplateFunction> = {
  trim: (value: unknown) => text(value).trim(),
  trimAll,
  trimall: trimAll,
  trimSuffix: (suffix: string, value: unknown) =>
    suffix !== "" && text(value).endsWith(suffix) ? text(value).slice(0, -suffix.length) : text(value),
  trimPrefix: (prefix: string, value: unknown) =>
    text(value).startsWith(prefix) ? text(value).slice(prefix.length) : text(value),
  upper: (value: unknown) => text(value).toUpperCase(),
  lower: (value: unknown) => text(value).toLowerCase(),
  title: (value: unknown) =>
    text(value).replace(/(^|[^A-Za-z0-9_'])([a-z])/g, (_, before, char) => before + char.toUpperCase()),
  untitle: (value: unknown) => text(value).replace(/(^|\s)([A-Z])/g, (_, before, char) => before + char.toLowerCase()),
  camelcase: (value: unknown) => words(value).map(capital).join(""),
  snakecase: (value: unknown) => words(value).join("_").toLowerCase(),
  kebabcase: (value: unknown) => words(value).join("-").toLowerCase(),
  repeat,
  substr: (start: number, end: number, value: unknown) =>
    text(value).slice(Math.max(0, start), end < 0 ? undefined : end),
  trunc,
  nospace: (value: unknown) => text(value).replace(/\s+/g, ""),
  contains: (part: string, value: unknown) => text(value).includes(part),
  hasPrefix: (prefix: string, value: unknown) => text(value).startsWith(prefix),
  hasSuffix: (suffix: string, value: unknown) => text(value).endsWith(suffix),
  quote: (...values: unknown[]) =>
    values
      .filter((value) => value !== null && value !== undefined)
      .map((value) => JSON.stringify(text(value)))
      .join(" "),
  squote: (...values: unknown[]) =>
    values
      .filter((value) => value !== null && value !== undefined)
      .map((value) => `'${text(value)}'`)
      .join(" "),
  cat: (...values: unknown[]) =>
    values
      .filter((value) => value !== null && value !== undefined)
      .map(text)
      .join(" "),
  indent,
  nindent: (spaces: number, value: unknown) => `\n${indent(spaces, value)}`,
  replace,
  toString: text,
  join,
  split: (separator: string, value: unknown) =>
    Object.fromEntries(
      text(value)
        .split(separator)
        .map((part, i) => [`_${i}`, part]),
    ),
  splitList: (separator: string, value: unknown) => text(value).split(separator),
  toJson: (value: unknown) => goJson(value),
  toRawJson: (value: unknown) => goJson(value),
  toPrettyJson: (value: unknown) => goJson(value, "  "),
  fromJson: (value: unknown) => parsed(value, (source) => JSON.parse(source) as unknown),
  toYaml: (value: unknown) => toYaml(value).trimEnd(),
  fromYaml: (value: unknown) => parsed(value, parseYaml),
  b64enc: (value: unknown) => Buffer.from(text(value)).toString("base64"),
  b64dec: (value: unknown) => Buffer.from(text(value), "base64").toString("utf8"),
  sha256sum: (value: unknown) => createHash("sha256").update(text(value)).digest("hex"),
  sha1sum: (value: unknown) => createHash("sha1").update(text(value)).digest("hex"),
  regexMatch: (pattern: string, value: unknown) => regex(pattern).matcher(text(value)).find(),
  regexFind: (pattern: string, value: unknown) => {
    const matcher = regex(pattern).matcher(text(value));
    return matcher.find() ? (matcher.group() ?? "") : "";
  },
  regexReplaceAll,
};
