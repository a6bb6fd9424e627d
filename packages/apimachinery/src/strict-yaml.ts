import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Scalar, type YAMLMap } from "yaml";
import { plainScalar } from "./strict-yaml-scalar.ts";
import { isTooDeep } from "./yaml.ts";

/** Why a text is refused, with the cure; it never repeats values, which may be secrets. */
export class StrictYamlError extends Error {
  override name = "StrictYamlError";
}

/**
 * Characters that end a line for one reader of YAML and not for another, or that some readers refuse or fold into letters: control
 * characters other than tab and line feed, NEL, U+2028, U+2029, byte order marks, U+FFFD (what is left of bytes that are no UTF-8), lone
 * surrogates.
 */
const UNSAFE = /(?![\t\n])[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffd-\uffff]/u;

/** The first character of a text that readers of YAML disagree on, as `U+2028`; undefined when there is none. */
export function unsafeCharacter(text: string): string | undefined {
  const found = UNSAFE.exec(text)?.[0].codePointAt(0);
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Keys are letters, digits and signs of ASCII: Go takes the Kelvin sign for a k. */
const KEY = /^[\x20-\x7e]{1,316}$/;

/** The header of a block of text whose indentation is given: readers disagree on lines of spaces at its end. */
const INDENTED_BLOCK = /^[|>][-+]?[0-9]/;

/** In double quotes, without `\/` and halves of characters, which JSON has and YAML 1.1 has not; and in single quotes. */
const DOUBLE = /^"(?:[^"\\\n]|\\(?:[^/u\n]|u(?![dD][89a-fA-F])))*"$/;
const SINGLE = /^'(?:[^'\n]|'')*'$/;

/**
 * Reads one YAML document that every reader of YAML 1.1 and 1.2 reads the same, and refuses all others: no unsafe characters, aliases,
 * anchors, tags, directives, merge keys, repeated keys, further documents, or scalars that are text to one reader and a number to another.
 */
export function parseStrictYaml(given: string): unknown {
  // What Windows editors leave is read the same by all: a mark at the very start, and CR LF.
  const text = given.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const unsafe = unsafeCharacter(text);
  if (unsafe !== undefined)
    throw new StrictYamlError(`has the character ${unsafe}, which programs read differently; remove it`);
  if (isTooDeep(text)) throw new StrictYamlError("is nested too deeply; make it flatter");
  // Inside of braces a tab is a space to all. go-yaml refuses one behind the dash of a list.
  if (/^[ -]*\t/m.test(text) && !/^[ \n]*\{[^]*\}[ \n]*$/.test(text))
    throw new StrictYamlError("has a line that begins with a tab, or one behind a dash; indent it with spaces");
  return new Reader(text).read();
}

/** JSON that every reader of YAML reads the same, whatever its texts hold. */
export function toStrictYaml(value: unknown): string {
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(value, undefined, 2).replaceAll(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, escape)}\n`;
}

class Reader {
  readonly #text: string;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    const documents = parseAllDocuments(this.#text, {
      schema: "failsafe",
      uniqueKeys: false,
      logLevel: "silent",
      prettyErrors: false,
      lineCounter: this.#lines,
    });
    const [document, second] = Array.isArray(documents) ? documents : [];
    if (document === undefined) throw new StrictYamlError("is empty; write its content");
    if (second !== undefined) throw new StrictYamlError("has several documents; write each to a file of its own");
    const wrong = document.errors[0] ?? document.warnings[0];
    if (wrong !== undefined)
      throw new StrictYamlError(`cannot be read as YAML (${wrong.code}${this.#line(wrong.pos[0])}); correct it`);
    if (/^%/m.test(this.#text)) throw new StrictYamlError("has a line that begins with %; remove it");
    // go-yaml refuses the end of a document without content, and reads a block of text at the top in its own way.
    if (!isMap(document.contents) && !isSeq(document.contents))
      throw new StrictYamlError("is neither a map nor a list; correct it");
    return this.#value(document.contents);
  }

  #line(offset: number | undefined): string {
    return ` in line ${this.#lines.linePos(offset ?? 0).line}`;
  }

  #value(node: unknown, flow = false): unknown {
    if (node === null || node === undefined) return null;
    if (isAlias(node)) throw new StrictYamlError(`has an alias${this.#line(node.range?.[0])}; write the value out`);
    if (!isScalar(node) && !isMap(node) && !isSeq(node))
      throw new StrictYamlError("cannot be read as YAML; correct it");
    const line = this.#line(node.range?.[0]);
    if (node.anchor !== undefined) throw new StrictYamlError(`has an anchor${line}; remove it and write the value out`);
    if (node.tag !== undefined) throw new StrictYamlError(`has a tag${line}; remove it`);
    if (isScalar(node)) return this.#scalar(node, line, flow);
    const inside = flow || node.flow === true;
    return isMap(node) ? this.#map(node, inside) : node.items.map((item) => this.#value(item, inside));
  }

  #scalar(node: Scalar, line: string, flow: boolean): string | number | boolean | null {
    const text = String(node.value);
    const unsafe = unsafeCharacter(text);
    if (unsafe !== undefined)
      throw new StrictYamlError(
        `has the character ${unsafe} in a value${line}, which programs read differently; remove it`,
      );
    const [start = 0, end = 0] = node.range ?? [];
    const form = node.type === "QUOTE_DOUBLE" ? DOUBLE : node.type === "QUOTE_SINGLE" ? SINGLE : undefined;
    if (form?.test(this.#text.slice(start, end)) === false)
      throw new StrictYamlError(
        `has quotes${line} that do not end in their line, or an escape that not all programs know; write the characters themselves, and | instead of quotes for several lines`,
      );
    if (node.type?.startsWith("BLOCK") === true && end >= this.#text.length && !this.#text.endsWith("\n"))
      throw new StrictYamlError(`has no end of its last line; add it`);
    if (INDENTED_BLOCK.test(this.#text.slice(start, start + 3)))
      throw new StrictYamlError(`has a block of text${line} with a number for its indentation; remove the number`);
    // Some readers take a question mark between braces for the beginning of a key, and a colon for the end of one.
    const value = node.type === "PLAIN" ? (flow && /\?|^:/.test(text) ? undefined : plainScalar(text)) : text;
    if (value === undefined)
      throw new StrictYamlError(
        `has a value${line} that is text to one program and a number or true to another; put it in quotes, or write a decimal number, true or false`,
      );
    return value;
  }

  #map(node: YAMLMap, flow: boolean): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    for (const { key, value } of node.items) {
      const [start = 0, end = 0] = (isScalar(key) ? key.range : node.range) ?? [];
      const line = this.#line(start);
      if (isScalar(key) && key.value === "<<")
        throw new StrictYamlError(`has a merge key${line}; write out what it stands for`);
      const name = this.#value(key, flow);
      if (typeof name !== "string") throw new StrictYamlError(`has a key${line} that is no text; put it in quotes`);
      if (!KEY.test(name))
        throw new StrictYamlError(`has a key${line} that is too long or has other characters than ASCII; correct it`);
      const quoted = isScalar(key) && key.type !== "PLAIN";
      const colon = quoted ? /^[ \t]*:/ : /^[ \t]*:(?:\s|$)/;
      if (
        this.#text.slice(start, end).includes("\n") ||
        !colon.test(this.#text.slice(end, end + 80)) ||
        /\?[ \t]*$/.test(this.#text.slice(Math.max(0, start - 80), start))
      )
        throw new StrictYamlError(`has a key${line} without a colon and a space behind it in the same line; add them`);
      if (entries.has(name)) throw new StrictYamlError(`has the key ${JSON.stringify(name)} twice${line}; remove one`);
      entries.set(name, this.#value(value, flow));
    }
    return Object.fromEntries(entries);
  }
}
