const MAX_MESSAGE = 1_000;

/** An error in a template, with its position. */
export class TemplateError extends Error {
  constructor(message: string) {
    // It may quote a value, which may be of any length; errors are kept in conditions.
    super(message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)} …` : message);
    this.name = "TemplateError";
  }
}

/** A piece of a template: literal text, or the tokens of an action. */
export type Piece = { type: "text"; text: string } | { type: "action"; tokens: Token[]; source: string };

/** One token of an action. */
export type Token =
  | { type: "string"; value: string }
  | { type: "number"; value: number }
  | { type: "name"; value: string }
  | { type: "variable"; value: string }
  | { type: "field"; value: string }
  | { type: "dot" }
  | { type: "symbol"; value: "(" | ")" | "|" | "," | ":=" | "=" };

const WORD = new RegExp(
  [
    String.raw`(?<space>[ \t\r\n]+)`,
    String.raw`(?<raw>\x60[^\x60]*\x60)`,
    String.raw`(?<string>"(?:[^"\\\n]|\\.)*")`,
    String.raw`(?<char>'(?:[^'\\\n]|\\.)')`,
    String.raw`(?<number>[+-]?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+))`,
    String.raw`(?<field>(?:\.[A-Za-z_][A-Za-z0-9_]*)+)`,
    String.raw`(?<variable>\$[A-Za-z0-9_]*)`,
    String.raw`(?<name>[A-Za-z_][A-Za-z0-9_]*)`,
    String.raw`(?<symbol>:=|=|\(|\)|\||,)`,
    String.raw`(?<dot>\.)`,
  ].join("|"),
  "y",
);

/** Splits a template into text and actions; `{{-` and `-}}` trim the adjacent white space. */
export function split(template: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let trimNext = false;
  const text = (to: number, trimEnd: boolean): void => {
    let value = template.slice(at, to);
    if (trimNext) value = value.trimStart();
    if (trimEnd) value = value.trimEnd();
    if (value !== "") pieces.push({ type: "text", text: value });
  };
  for (;;) {
    const open = template.indexOf("{{", at);
    if (open < 0) break;
    const trimBefore = /^-\s/.test(template.slice(open + 2, open + 4));
    text(open, trimBefore);
    const begin = open + (trimBefore ? 3 : 2);
    const close = closing(template, begin);
    const trimAfter = /\s-$/.test(template.slice(Math.max(begin, close - 2), close));
    const source = template.slice(begin, trimAfter ? close - 1 : close);
    if (!/^\s*\/\*[\s\S]*\*\/\s*$/.test(source)) pieces.push({ type: "action", tokens: tokens(source), source });
    trimNext = trimAfter;
    at = close + 2;
  }
  text(template.length, false);
  return pieces;
}

/** Finds the end of an action: strings may contain braces. */
function closing(template: string, begin: number): number {
  let quote = "";
  for (let i = begin; i < template.length; i++) {
    const char = template[i] ?? "";
    if (quote !== "") {
      if (char === "\\" && quote === '"') i++;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "`") quote = char;
    else if (char === "}" && template[i + 1] === "}") return i;
  }
  throw new TemplateError(`unclosed action: ${template.slice(begin, begin + 40)}`);
}

function tokens(source: string): Token[] {
  const found: Token[] = [];
  WORD.lastIndex = 0;
  while (WORD.lastIndex < source.length) {
    const at = WORD.lastIndex;
    const groups = WORD.exec(source)?.groups;
    if (groups === undefined) throw new TemplateError(`unexpected ${JSON.stringify(source.slice(at, at + 20))}`);
    const token = tokenOf(groups);
    if (token !== undefined) found.push(token);
  }
  return found;
}

function tokenOf(groups: Record<string, string | undefined>): Token | undefined {
  const { raw, string, char, number, field, variable, name, symbol, dot } = groups;
  if (raw !== undefined) return { type: "string", value: raw.slice(1, -1) };
  if (string !== undefined) return { type: "string", value: unquote(string) };
  if (char !== undefined) return { type: "number", value: unquote(char).codePointAt(0) ?? 0 };
  if (number !== undefined) return { type: "number", value: Number(number) };
  if (field !== undefined) return { type: "field", value: field.slice(1) };
  if (variable !== undefined) return { type: "variable", value: variable };
  if (name !== undefined) return { type: "name", value: name };
  if (symbol !== undefined) return { type: "symbol", value: symbol as Extract<Token, { type: "symbol" }>["value"] };
  if (dot !== undefined) return { type: "dot" };
  return undefined;
}

const ESCAPES: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  '"': '"',
  "'": "'",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
};

function unquote(text: string): string {
  return text.slice(1, -1).replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/g, (_, code: string) => {
    if (code.length > 1) return String.fromCodePoint(Number.parseInt(code.slice(1), 16));
    const plain = ESCAPES[code];
    if (plain === undefined) throw new TemplateError(`unknown escape \\${code}`);
    return plain;
  });
}
