import { goQuote } from "../go-text.ts";
import { compileRe2 } from "../schema/pattern.ts";
import { formatString } from "./format-string.ts";
import { define } from "./functions.ts";
import { runeCount } from "./lib-standard.ts";
import { ArrayList, CelError, type ListValue, type Value } from "./values.ts";

const s = (v: Value | undefined): string => v as string;
const n = (v: Value | undefined): number => Number(v as bigint);

const texts = (v: Value | undefined): string[] => (v as ListValue).values() as string[];

/** A text as code points, and positions counted in them. */
function runes(text: string): string[] {
  return Array.from(text);
}

define("charAt", "string_char_at_int", "string.(int):string", (text, index) => {
  const all = runes(s(text));
  if (n(index) < 0 || n(index) > all.length) throw new CelError(`index out of range: ${n(index)}`);
  return all[n(index)] ?? "";
});

function indexOf(text: string, part: string, from: number): bigint {
  const all = runes(text);
  if (from < 0) throw new CelError(`index out of range: ${from}`);
  const offset = all.slice(0, from).join("").length;
  const at = text.indexOf(part, offset);
  return at < 0 ? -1n : BigInt(runeCount(text.slice(0, at)));
}

function lastIndexOf(text: string, part: string, from: number | undefined): bigint {
  const all = runes(text);
  if (from !== undefined && (from < 0 || from > all.length)) throw new CelError(`index out of range: ${from}`);
  const offset = from === undefined ? text.length : all.slice(0, from).join("").length;
  const at = text.lastIndexOf(part, offset);
  return at < 0 ? -1n : BigInt(runeCount(text.slice(0, at)));
}

define("indexOf", "string_index_of_string", "string.(string):int", (a, b) => indexOf(s(a), s(b), 0));
define("indexOf", "string_index_of_string_int", "string.(string,int):int", (a, b, from) =>
  indexOf(s(a), s(b), n(from)),
);
define("lastIndexOf", "string_last_index_of_string", "string.(string):int", (a, b) =>
  lastIndexOf(s(a), s(b), undefined),
);
define("lastIndexOf", "string_last_index_of_string_int", "string.(string,int):int", (a, b, from) =>
  lastIndexOf(s(a), s(b), n(from)),
);
define("lowerAscii", "string_lower_ascii", "string.():string", (a) =>
  s(a).replace(/[A-Z]+/g, (part) => part.toLowerCase()),
);
define("upperAscii", "string_upper_ascii", "string.():string", (a) =>
  s(a).replace(/[a-z]+/g, (part) => part.toUpperCase()),
);
define("trim", "string_trim", "string.():string", (a) => s(a).trim());
define("replace", "string_replace_string_string", "string.(string,string):string", (a, from, to) =>
  replace(s(a), s(from), s(to), -1),
);
define("replace", "string_replace_string_string_int", "string.(string,string,int):string", (a, from, to, count) =>
  replace(s(a), s(from), s(to), n(count)),
);

const MAX_RESULT = 10 * 1024 * 1024;

function replace(text: string, from: string, to: string, count: number): string {
  if (count === 0) return text;
  const parts = from === "" ? ["", ...runes(text), ""] : text.split(from);
  const limit = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1);
  if (text.length + limit * to.length > MAX_RESULT) throw new CelError("string is too long");
  return `${parts.slice(0, limit + 1).join(to)}${parts
    .slice(limit + 1)
    .map((part) => from + part)
    .join("")}`;
}

function split(text: string, separator: string, count: number): Value {
  if (count === 0) return new ArrayList([]);
  const parts = separator === "" ? runes(text) : text.split(separator);
  if (count < 0 || parts.length <= count) return new ArrayList(parts);
  return new ArrayList([...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)]);
}

define("split", "string_split_string", "string.(string):list<string>", (a, b) => split(s(a), s(b), -1));
define("split", "string_split_string_int", "string.(string,int):list<string>", (a, b, count) =>
  split(s(a), s(b), n(count)),
);

function substring(text: string, start: number, end: number | undefined): string {
  const all = runes(text);
  const to = end ?? all.length;
  if (start < 0 || start > all.length) throw new CelError(`index out of range: ${start}`);
  if (to < 0 || to > all.length) throw new CelError(`index out of range: ${to}`);
  if (start > to) throw new CelError(`invalid substring range. start: ${start}, end: ${to}`);
  return all.slice(start, to).join("");
}

define("substring", "string_substring_int", "string.(int):string", (a, start) => substring(s(a), n(start), undefined));
define("substring", "string_substring_int_int", "string.(int,int):string", (a, start, end) =>
  substring(s(a), n(start), n(end)),
);
define("join", "list_join", "list<string>.():string", (list) => texts(list).join(""));
define("join", "list_join_string", "list<string>.(string):string", (list, by) => texts(list).join(s(by)));
define("strings.quote", "strings_quote", "(string):string", (a) => goQuote(s(a)));
define("format", "string_format", "string.(list<dyn>):string", (text, args) =>
  formatString(s(text), (args as ListValue).values()),
);

function program(pattern: Value | undefined) {
  const compiled = compileRe2(s(pattern));
  if (typeof compiled === "string") throw new CelError(`Illegal regex: ${compiled}`);
  return compiled;
}

function findAll(text: string, pattern: Value | undefined, limit: number): Value {
  const matcher = program(pattern).matcher(text);
  const found: Value[] = [];
  while ((limit < 0 || found.length < limit) && matcher.find()) found.push(matcher.group() ?? "");
  return new ArrayList(found);
}

define("find", "string_find_string", "string.(string):string", (text, pattern) => {
  const matcher = program(pattern).matcher(s(text));
  return matcher.find() ? (matcher.group() ?? "") : "";
});
define("findAll", "string_find_all_string", "string.(string):list<string>", (text, pattern) =>
  findAll(s(text), pattern, -1),
);
define("findAll", "string_find_all_string_int", "string.(string,int):list<string>", (text, pattern, limit) =>
  findAll(s(text), pattern, n(limit)),
);
