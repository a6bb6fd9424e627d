import { split, TemplateError, type Token } from "./lexer.ts";

/** Something with a value. */
export type Operand =
  | { type: "literal"; value: unknown }
  | { type: "dot" }
  | { type: "field"; path: string[] }
  | { type: "variable"; name: string; path: string[] }
  | { type: "call"; name: string }
  | { type: "group"; pipeline: Pipeline; path: string[] };

/** An operand, or a function with its arguments. */
export interface Command {
  operands: Operand[];
}

/** Commands whose results are passed on, and the variables that take the last. */
export interface Pipeline {
  declares: string[];
  assigns: boolean;
  commands: Command[];
}

/** A part of a template. */
export type Node =
  | { type: "text"; text: string }
  | { type: "output"; pipeline: Pipeline }
  | { type: "if" | "with" | "range"; pipeline: Pipeline; body: Node[]; otherwise: Node[] }
  | { type: "break" | "continue" };

const MAX_DEPTH = 50;

/** Parses a template; throws TemplateError with the cause. */
export function parse(template: string): Node[] {
  const parser = new Parser(template);
  const nodes = parser.list(0);
  if (parser.ended !== undefined) throw new TemplateError(`unexpected {{${parser.ended}}}`);
  return nodes;
}

class Parser {
  readonly #pieces: ReturnType<typeof split>;
  #at = 0;
  /** The word that ended the last list: `end`, `else`, or `else if`. */
  ended: string | undefined;
  #elseTokens: Token[] = [];

  constructor(template: string) {
    this.#pieces = split(template);
  }

  list(depth: number): Node[] {
    if (depth > MAX_DEPTH) throw new TemplateError("blocks are nested too deeply");
    const nodes: Node[] = [];
    this.ended = undefined;
    for (let piece = this.#pieces[this.#at++]; piece !== undefined; piece = this.#pieces[this.#at++]) {
      if (piece.type === "text") {
        nodes.push(piece);
        continue;
      }
      const [first, ...rest] = piece.tokens;
      const word = first?.type === "name" ? first.value : "";
      if (word === "end" || word === "else") {
        this.ended = word;
        this.#elseTokens = rest;
        return nodes;
      }
      if (word === "if" || word === "with" || word === "range") nodes.push(this.#block(word, rest, depth));
      else if (word === "break" || word === "continue") nodes.push({ type: word });
      else if (word === "define" || word === "template" || word === "block")
        throw new TemplateError(`{{${word}}} is not supported: write the text in place`);
      else if (piece.tokens.length > 0) nodes.push({ type: "output", pipeline: pipeline(piece.tokens) });
      else throw new TemplateError("missing value for command");
    }
    return nodes;
  }

  #block(type: "if" | "with" | "range", tokens: Token[], depth: number): Node {
    const head = pipeline(tokens);
    const body = this.list(depth + 1);
    let otherwise: Node[] = [];
    if (this.ended === "else") {
      const [next, ...rest] = this.#elseTokens;
      if (next === undefined) otherwise = this.list(depth + 1);
      else if (next.type === "name" && (next.value === "if" || next.value === "with"))
        return { type, pipeline: head, body, otherwise: [this.#block(next.value, rest, depth + 1)] };
      else throw new TemplateError("unexpected input after {{else}}");
    }
    if (this.ended !== "end") throw new TemplateError(`{{${type}}} has no {{end}}`);
    this.ended = undefined;
    return { type, pipeline: head, body, otherwise };
  }
}

function pipeline(tokens: Token[]): Pipeline {
  const declares: string[] = [];
  let rest = tokens;
  const sign = tokens.findIndex((token) => token.type === "symbol" && (token.value === ":=" || token.value === "="));
  if (sign >= 0 && tokens[0]?.type === "variable") {
    for (const token of tokens.slice(0, sign)) {
      if (token.type === "variable") declares.push(token.value);
      else if (token.type !== "symbol" || token.value !== ",") throw new TemplateError("bad variable declaration");
    }
    rest = tokens.slice(sign + 1);
  }
  const symbol = tokens[sign];
  const assigns = symbol?.type === "symbol" && symbol.value === "=";
  return { declares, assigns, commands: commands(rest) };
}

function commands(tokens: Token[]): Command[] {
  const reader = new Reader(tokens);
  const found = reader.commands();
  if (!reader.done) throw new TemplateError("unexpected )");
  return found;
}

class Reader {
  readonly #tokens: Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  get done(): boolean {
    return this.#at >= this.#tokens.length;
  }

  commands(): Command[] {
    const found: Command[] = [];
    let operands: Operand[] = [];
    const finish = (): void => {
      if (operands.length === 0) throw new TemplateError("missing value for command");
      found.push({ operands });
      operands = [];
    };
    for (let token = this.#tokens[this.#at]; token !== undefined; token = this.#tokens[this.#at]) {
      if (token.type === "symbol" && token.value === ")") break;
      this.#at++;
      if (token.type === "symbol" && token.value === "|") finish();
      else operands.push(this.#operand(token));
    }
    finish();
    return found;
  }

  #operand(token: Token): Operand {
    switch (token.type) {
      case "string":
      case "number":
        return { type: "literal", value: token.value };
      case "dot":
        return { type: "dot" };
      case "field":
        return { type: "field", path: token.value.split(".") };
      case "variable":
        return { type: "variable", name: token.value, path: this.#path() };
      case "name":
        if (token.value === "true" || token.value === "false")
          return { type: "literal", value: token.value === "true" };
        return token.value === "nil" ? { type: "literal", value: null } : { type: "call", name: token.value };
      default:
        if (token.value !== "(") throw new TemplateError(`unexpected ${token.value}`);
        return this.#group();
    }
  }

  #group(): Operand {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError("parentheses are nested too deeply");
    const inner = this.commands();
    const close = this.#tokens[this.#at++];
    if (close?.type !== "symbol" || close.value !== ")") throw new TemplateError("unclosed left paren");
    this.#depth--;
    return { type: "group", pipeline: { declares: [], assigns: false, commands: inner }, path: this.#path() };
  }

  /** Fields directly after a variable or a parenthesis. */
  #path(): string[] {
    const next = this.#tokens[this.#at];
    if (next?.type !== "field") return [];
    this.#at++;
    return next.value.split(".");
  }
}
