import { badRequest } from "./errors.ts";
import { goQuote } from "./go-text.ts";

/** One step of a path. */
export type Step =
  | { type: "fields"; names: string[] }
  | { type: "wildcard" }
  | { type: "descend" }
  | { type: "slice"; from: number | undefined; to: number | undefined; step: number }
  | { type: "index"; index: number }
  | { type: "filter"; left: Operand; operator: string; right: Operand | undefined };

/** One side of a filter's comparison. */
export type Operand = { type: "path"; steps: Step[] } | { type: "literal"; value: string | number | boolean | null };

const MAX_LENGTH = 4096;
const OPERATORS = ["==", "!=", "<=", ">=", "<", ">"];

/** Parses kubectl's JSONPath, with or without braces and the leading `$`; throws BadRequest with the position. */
export function parseJsonPath(expression: string): Step[] {
  let text = expression.trim();
  if (text.startsWith("{") && text.endsWith("}")) text = text.slice(1, -1).trim();
  if (text.length > MAX_LENGTH) throw badRequest(`a JSONPath may have at most ${MAX_LENGTH} characters`);
  if (text.startsWith("$") || text.startsWith("@")) text = text.slice(1);
  else if (text !== "" && !/^[.[]/.test(text)) text = `.${text}`;
  return new Parser(text, expression).parse();
}

class Parser {
  #at = 0;
  readonly #text: string;
  readonly #whole: string;

  constructor(text: string, whole: string) {
    this.#text = text;
    this.#whole = whole;
  }

  parse(): Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) {
      if (this.#text.startsWith("..", this.#at)) {
        this.#at += 2;
        steps.push({ type: "descend" });
        if (this.#text[this.#at] !== "[") steps.push(this.#field());
      } else if (this.#text[this.#at] === ".") {
        this.#at++;
        // A lone dot is the object itself, and kubectl lets a dot stand before a bracket.
        if (this.#at < this.#text.length && this.#text[this.#at] !== "[") steps.push(this.#field());
      } else if (this.#text[this.#at] === "[") steps.push(this.#bracket());
      else this.#fail("expected a dot or a bracket");
    }
    return steps;
  }

  #fail(problem: string): never {
    throw badRequest(`invalid JSONPath ${goQuote(this.#whole)} at position ${this.#at}: ${problem}`);
  }

  #field(): Step {
    let name = "";
    const start = this.#at;
    while (this.#at < this.#text.length) {
      const c = this.#text.charAt(this.#at);
      if (c === "." || c === "[") break;
      if (/[\s\]()'"@$?,|&=<>!]/.test(c)) this.#fail(`unexpected ${goQuote(c)} in a field name`);
      if (c === "\\" && this.#at + 1 < this.#text.length) this.#at++;
      name += this.#text.charAt(this.#at++);
    }
    if (this.#at === start) this.#fail("expected a field name");
    return name === "*" && this.#text[start] === "*" ? { type: "wildcard" } : { type: "fields", names: [name] };
  }

  #bracket(): Step {
    const end = this.#closing();
    const inner = this.#text.slice(this.#at + 1, end).trim();
    const step = this.#bracketStep(inner);
    this.#at = end + 1;
    return step;
  }

  #bracketStep(inner: string): Step {
    if (inner === "*") return { type: "wildcard" };
    if (/^-?\d{1,9}$/.test(inner)) return { type: "index", index: Number(inner) };
    if (inner.startsWith("?(") && inner.endsWith(")")) return this.#filter(inner.slice(2, -1).trim());
    const slice = /^(-?\d{1,9})?\s*:\s*(-?\d{1,9})?\s*(?::\s*(-?\d{1,9}))?$/.exec(inner);
    if (slice !== null) {
      const step = slice[3] === undefined ? 1 : Number(slice[3]);
      if (step <= 0) this.#fail("the step of a slice must be positive");
      return { type: "slice", from: optional(slice[1]), to: optional(slice[2]), step };
    }
    const names = splitList(inner).map((part) => unquote(part));
    if (names.length === 0 || names.includes(undefined))
      this.#fail("expected an index, a quoted name, a slice, * or ?( )");
    return { type: "fields", names: names.filter((n) => n !== undefined) };
  }

  #filter(text: string): Step {
    const found = findOperator(text);
    if (found === undefined) return { type: "filter", left: this.#operand(text), operator: "exists", right: undefined };
    const { operator, at } = found;
    const right = this.#operand(text.slice(at + operator.length));
    return { type: "filter", left: this.#operand(text.slice(0, at)), operator, right };
  }

  #operand(text: string): Operand {
    const trimmed = text.trim();
    if (trimmed.startsWith("@") || trimmed.startsWith("$")) {
      return { type: "path", steps: new Parser(trimmed.slice(1), this.#whole).parse() };
    }
    const quoted = unquote(trimmed);
    if (quoted !== undefined) return { type: "literal", value: quoted };
    if (/^-?\d+(\.\d+)?$/.test(trimmed)) return { type: "literal", value: Number(trimmed) };
    if (trimmed === "true" || trimmed === "false") return { type: "literal", value: trimmed === "true" };
    if (trimmed === "null") return { type: "literal", value: null };
    return this.#fail(`cannot compare with ${goQuote(trimmed)}: quote texts, begin paths with @`);
  }

  /** The bracket that closes the one at the current position. */
  #closing(): number {
    let depth = 0;
    let quote = "";
    for (let i = this.#at; i < this.#text.length; i++) {
      const c = this.#text.charAt(i);
      if (quote !== "") {
        if (c === "\\") i++;
        else if (c === quote) quote = "";
      } else if (c === "'" || c === '"') quote = c;
      else if (c === "[") depth++;
      else if (c === "]" && --depth === 0) return i;
    }
    return this.#fail("unterminated bracket");
  }
}

function optional(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function unquote(text: string): string | undefined {
  const trimmed = text.trim();
  const quote = trimmed.charAt(0);
  if ((quote !== "'" && quote !== '"') || trimmed.length < 2 || !trimmed.endsWith(quote)) return undefined;
  return trimmed.slice(1, -1).replace(/\\(.)/g, "$1");
}

/** Splits at commas outside of quotes. */
function splitList(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  eachUnquoted(text, (i) => {
    if (text[i] !== ",") return false;
    parts.push(text.slice(start, i));
    start = i + 1;
    return false;
  });
  parts.push(text.slice(start));
  return parts;
}

function findOperator(text: string): { operator: string; at: number } | undefined {
  let found: { operator: string; at: number } | undefined;
  eachUnquoted(text, (i) => {
    const operator = OPERATORS.find((op) => text.startsWith(op, i));
    if (operator === undefined) return false;
    found = { operator, at: i };
    return true;
  });
  return found;
}

/** Calls for each position outside of quotes until the callback stops it. */
function eachUnquoted(text: string, visit: (at: number) => boolean): void {
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (quote !== "") {
      if (c === "\\") i++;
      else if (c === quote) quote = "";
    } else if (c === "'" || c === '"') quote = c;
    else if (visit(i)) return;
  }
}
