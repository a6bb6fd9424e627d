import { CelIssue, type Literal } from "./ast.ts";

/** A token of CEL source. */
export interface Token {
  readonly type: "ident" | "literal" | "op" | "end";
  readonly text: string;
  readonly pos: number;
  readonly value?: Literal;
}

const OPERATORS = [
  "&&",
  "||",
  "==",
  "!=",
  "<=",
  ">=",
  "?",
  ":",
  "<",
  ">",
  "+",
  "-",
  "*",
  "/",
  "%",
  "!",
  ".",
  ",",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
];
const INT_MAX = (1n << 63n) - 1n;
const UINT_MAX = (1n << 64n) - 1n;

/** Splits CEL source into tokens. Sign and digits of negative numbers are separate tokens, joined by the parser. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let pos = 0;
  while (pos < source.length) {
    const rest = source.slice(pos, pos + 3);
    const ch = rest[0] ?? "";
    if (/\s/.test(ch)) {
      pos++;
      continue;
    }
    if (rest.startsWith("//")) {
      const end = source.indexOf("\n", pos);
      pos = end < 0 ? source.length : end;
      continue;
    }
    const token = number(source, pos) ?? quoted(source, pos) ?? identifier(source, pos) ?? operator(source, pos);
    if (token === undefined) {
      throw new CelIssue(pos, `Syntax error: token recognition error at: '${ch}'`);
    }
    tokens.push(token.token);
    pos = token.end;
  }
  tokens.push({ type: "end", text: "<EOF>", pos: source.length });
  return tokens;
}

type Lexed = { token: Token; end: number } | undefined;

function operator(source: string, pos: number): Lexed {
  const text = OPERATORS.find((op) => source.startsWith(op, pos));
  return text === undefined ? undefined : { token: { type: "op", text, pos }, end: pos + text.length };
}

function identifier(source: string, pos: number): Lexed {
  if (source[pos] === "`") {
    const end = source.indexOf("`", pos + 1);
    const text = end < 0 ? "" : source.slice(pos + 1, end);
    if (!/^[A-Za-z0-9_.\-/ ]+$/.test(text)) return undefined;
    return { token: { type: "ident", text, pos }, end: end + 1 };
  }
  const match = /^[A-Za-z_][A-Za-z0-9_]*/.exec(source.slice(pos, pos + 1000));
  if (match === null) return undefined;
  const text = match[0];
  const end = pos + text.length;
  if (text === "true" || text === "false")
    return { token: { type: "literal", text, pos, value: text === "true" }, end };
  if (text === "null") return { token: { type: "literal", text, pos, value: null }, end };
  return { token: { type: "ident", text, pos }, end };
}

function number(source: string, pos: number): Lexed {
  const slice = source.slice(pos, pos + 400);
  const match =
    /^0[xX][0-9a-fA-F]+[uU]?/.exec(slice) ??
    /^(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/.exec(slice) ??
    /^[0-9]+[uU]?/.exec(slice);
  if (match === null) return undefined;
  const text = match[0];
  const end = pos + text.length;
  const hex = /^0[xX]/.test(text);
  if (!hex && /[.eE]/.test(text)) return { token: { type: "literal", text, pos, value: Number(text) }, end };
  const unsigned = /[uU]$/.test(text);
  const digits = BigInt(unsigned ? text.slice(0, -1) : text);
  if (unsigned) {
    if (digits > UINT_MAX) throw new CelIssue(pos, "Syntax error: invalid uint literal");
    return { token: { type: "literal", text, pos, value: { uint: digits } }, end };
  }
  // One more than the largest int is allowed here: it may be the operand of a minus sign.
  if (digits > INT_MAX + 1n) throw new CelIssue(pos, "Syntax error: invalid int literal");
  return { token: { type: "literal", text, pos, value: digits }, end };
}

function quoted(source: string, pos: number): Lexed {
  const match = /^([rRbB]{0,2})("""|'''|"|')/.exec(source.slice(pos, pos + 5));
  if (match === null) return undefined;
  const prefix = (match[1] ?? "").toLowerCase();
  if (prefix.length === 2 && (prefix === "rr" || prefix === "bb")) return undefined;
  const raw = prefix.includes("r");
  const bytes = prefix.includes("b");
  const quote = match[2] ?? '"';
  const start = pos + match[0].length;
  let i = start;
  while (i < source.length && !source.startsWith(quote, i)) {
    if (quote.length === 1 && (source[i] === "\n" || source[i] === "\r")) i = source.length;
    else i += source[i] === "\\" && !raw ? 2 : 1;
  }
  if (i >= source.length) throw new CelIssue(pos, `Syntax error: token recognition error at: '${source.slice(pos)}'`);
  const body = source.slice(start, i);
  const end = i + quote.length;
  const text = source.slice(pos, end);
  const value = bytes ? bytesOf(body, raw, pos) : raw ? body : unescapeText(body, pos);
  return { token: { type: "literal", text, pos, value }, end };
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "`": "`",
  "?": "?",
};

const ESCAPE =
  /\\(?:([abfnrtv\\'"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]?))/g;

function unescapeText(body: string, pos: number): string {
  return body.replace(ESCAPE, (_all, simple: string, hex: string, u4: string, u8: string, octal: string) => {
    if (simple !== undefined) return SIMPLE[simple] ?? "";
    const code = hex ?? u4 ?? u8;
    if (code !== undefined || octal !== undefined) {
      const point = octal === undefined ? Number.parseInt(code ?? "0", 16) : Number.parseInt(octal, 8);
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
        throw new CelIssue(pos, "Syntax error: invalid unicode code point");
      }
      return String.fromCodePoint(point);
    }
    throw new CelIssue(pos, "Syntax error: unable to unescape string");
  });
}

function bytesOf(body: string, raw: boolean, pos: number): Uint8Array {
  if (raw) return new TextEncoder().encode(body);
  const parts: number[] = [];
  let last = 0;
  const text = (until: number): void => {
    parts.push(...new TextEncoder().encode(body.slice(last, until)));
  };
  for (const match of body.matchAll(ESCAPE)) {
    text(match.index);
    last = match.index + match[0].length;
    const [, simple, hex, , , octal] = match;
    if (simple !== undefined) parts.push(...new TextEncoder().encode(SIMPLE[simple] ?? ""));
    else if (hex !== undefined) parts.push(Number.parseInt(hex, 16));
    else if (octal !== undefined) parts.push(Number.parseInt(octal, 8));
    else throw new CelIssue(pos, "Syntax error: unable to unescape bytes");
  }
  text(body.length);
  return Uint8Array.from(parts);
}
