import { isObject } from "@capstan/apimachinery";

/** Lines are broken at the first space behind this column. */
const WIDTH = 80;

/** YAML byte for byte as Go's library writes plain data, so that rendered data is the same whoever renders it. */
export function goYaml(value: unknown): string {
  return block(value, 0, "");
}

/** A value behind its key or dash: on the same line, or as a block below. */
function block(value: unknown, indent: number, lead: string): string {
  if (Array.isArray(value)) return value.length === 0 ? `${lead}[]\n` : listItems(value, indent, lead);
  if (isObject(value)) return Object.keys(value).length === 0 ? `${lead}{}\n` : mapEntries(value, indent, lead);
  return `${lead}${scalar(value, indent, lead.length)}\n`;
}

/** Lists of a map are not indented further than their key. */
function listItems(items: readonly unknown[], indent: number, lead: string): string {
  const before = lead === "" || lead.endsWith("- ") ? lead : `${lead.trimEnd()}\n${" ".repeat(indent)}`;
  return items.map((item, i) => block(item, indent + 2, `${i === 0 ? before : " ".repeat(indent)}- `)).join("");
}

function mapEntries(map: Readonly<Record<string, unknown>>, indent: number, lead: string): string {
  const before = lead === "" || lead.endsWith("- ") ? lead : `${lead.trimEnd()}\n${" ".repeat(indent)}`;
  return Object.keys(map)
    .sort(naturally)
    .map((key, i) => {
      const head = `${i === 0 ? before : " ".repeat(indent)}${keyText(key)}: `;
      const value = map[key];
      return block(value, isObject(value) ? indent + 2 : indent, head);
    })
    .join("");
}

/** Keys are never broken into lines. */
function keyText(key: string): string {
  return key.includes("\n") ? doubleQuoted(key) : text(key, Number.NEGATIVE_INFINITY, "");
}

function scalar(value: unknown, indent: number, column: number): string {
  if (typeof value !== "string") return value === undefined ? "null" : JSON.stringify(value);
  const inner = " ".repeat(Math.max(indent, 0) + 2);
  if (value.includes("\n") && !isSpecial(value)) return literal(value, inner);
  return text(value, column % 4096, inner);
}

function text(value: string, column: number, inner: string): string {
  if (isSpecial(value) || resolvesToOther(value)) return doubleQuoted(value);
  if (isPlain(value)) return broken(value, column, inner);
  return `'${broken(value.replaceAll("'", "''"), column + 1, inner)}'`;
}

/** A text with its lines as they are. */
function literal(value: string, inner: string): string {
  const hint = /^[ \n]/.test(value) ? "2" : "";
  const chomp = value.endsWith("\n") ? (/(^|\n)\n$/.test(value) ? "+" : "") : "-";
  const lines = value.replace(/\n$/, "").split("\n");
  return `|${hint}${chomp}\n${lines.map((line) => (line === "" ? "" : `${inner}${line}`)).join("\n")}`;
}

/** A long text goes on in the next line, indented. */
function broken(value: string, column: number, inner: string): string {
  let out = "";
  let at = column;
  const characters = [...value];
  for (const [i, character] of characters.entries()) {
    const mayBreak = character === " " && characters[i - 1] !== " " && characters[i + 1] !== " ";
    if (mayBreak && at > WIDTH && i > 0 && i < characters.length - 1) {
      out += `\n${inner}`;
      at = inner.length;
    } else {
      out += character;
      at++;
    }
  }
  return out;
}

const ESCAPES: Record<string, string> = {
  "\0": "\\0",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\x1b": "\\e",
  '"': '\\"',
  "\\": "\\\\",
  "\u0085": "\\N",
  "\u00a0": "\\_",
  "\u2028": "\\L",
  "\u2029": "\\P",
};

function doubleQuoted(value: string): string {
  const characters = [...value].map((character) => {
    const known = ESCAPES[character];
    if (known !== undefined) return known;
    if (isPrintable(character)) return character;
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16).toUpperCase();
    if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
    return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  });
  return `"${characters.join("")}"`;
}

/** Characters of the basic plane but control characters and the byte order mark. */
function isPrintable(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return (
    code === 0x0a ||
    (code >= 0x20 && code <= 0x7e) ||
    (code >= 0xa0 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd && code !== 0xfeff)
  );
}

/** Texts that only double quotes can hold. */
function isSpecial(value: string): boolean {
  return ![...value].every(isPrintable) || / \n|\n /.test(value);
}

function isPlain(value: string): boolean {
  if (value === "" || value.startsWith(" ") || value.endsWith(" ")) return false;
  if (value.startsWith("---") || value.startsWith("...")) return false;
  if (/^[#,[\]{}&*!|>'"%@`]/.test(value)) return false;
  if (/^[?-](\s|$)/.test(value)) return false;
  return !/:(\s|$)|\s#/.test(value);
}

const BOOLEANS = new Set(["y", "yes", "n", "no", "true", "false", "on", "off"]);
const NUMBER = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const INTEGER = /^[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const DATE = /^\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?$/;

/** Whether YAML would read the text as something else. */
function resolvesToOther(value: string): boolean {
  const lower = value.toLowerCase();
  const isCased =
    value === lower || value === value.toUpperCase() || value === lower.charAt(0).toUpperCase() + lower.slice(1);
  if (value === "" || value === "~") return true;
  if (isCased && (BOOLEANS.has(lower) || lower === "null")) return true;
  if (/^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/.test(value)) return true;
  if (SEXAGESIMAL.test(value) || DATE.test(value)) return true;
  const digits = value.replaceAll("_", "");
  return /^[-+.0-9]/.test(value) && (NUMBER.test(digits) || INTEGER.test(digits));
}

/** Letters behind the rest, numbers by their value, as people sort. */
function naturally(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x = "", y = ""] = [left[i], right[i]];
    if (x === y) continue;
    const [xLetter, yLetter] = [isLetter(x), isLetter(y)];
    if (xLetter && yLetter) return x < y ? -1 : 1;
    if (xLetter || yLetter) return yLetter ? -1 : 1;
    const afterDigit = (x === "0" || y === "0") && followsNumber(left, i);
    const [m, n] = [numberAt(left, i, afterDigit), numberAt(right, i, afterDigit)];
    if (m.value !== n.value) return m.value < n.value ? -1 : 1;
    if (m.end !== n.end) return m.end < n.end ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return left.length - right.length;
}

const isLetter = (character: string): boolean => /^\p{L}$/u.test(character);
const isDigit = (character: string | undefined): boolean => character !== undefined && /^\p{Nd}$/u.test(character);

/** Whether a digit other than zero stands in the number that goes on here. */
function followsNumber(characters: readonly string[], index: number): boolean {
  for (let j = index - 1; isDigit(characters[j]); j--) if (characters[j] !== "0") return true;
  return false;
}

function numberAt(characters: readonly string[], index: number, goesOn: boolean): { value: bigint; end: number } {
  let value = goesOn ? 1n : 0n;
  let end = index;
  for (; isDigit(characters[end]); end++) value = value * 10n + BigInt(characters[end] ?? 0);
  return { value, end };
}
