import { CelIssue, type Expr, type Literal, type MapEntry } from "./ast.ts";
import { type Token, tokenize } from "./lexer.ts";
import { expandMacro } from "./macros.ts";

const RESERVED: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while in".split(" "),
);
const MAX_DEPTH = 250;
const MAX_SOURCE = 100_000;

/** Makes expressions with fresh ids. */
export class Builder {
  #next = 1;
  #id(): number {
    return this.#next++;
  }
  literal(pos: number, value: Literal): Expr {
    return { id: this.#id(), pos, kind: "literal", value };
  }
  ident(pos: number, name: string): Expr {
    return { id: this.#id(), pos, kind: "ident", name };
  }
  select(pos: number, operand: Expr, field: string, testOnly = false): Expr {
    return { id: this.#id(), pos, kind: "select", operand, field, testOnly };
  }
  call(pos: number, fn: string, args: readonly Expr[], target?: Expr): Expr {
    return { id: this.#id(), pos, kind: "call", fn, args, ...(target === undefined ? {} : { target }) };
  }
  list(pos: number, elements: readonly Expr[], optional: ReadonlySet<number> = new Set()): Expr {
    return { id: this.#id(), pos, kind: "list", elements, optional };
  }
  map(pos: number, entries: readonly MapEntry[]): Expr {
    return { id: this.#id(), pos, kind: "map", entries };
  }
  fold(
    pos: number,
    f: Omit<Extract<Expr, { kind: "comprehension" }>, "id" | "pos" | "kind" | "iterVar2"> & { iterVar2?: string },
  ): Expr {
    return { id: this.#id(), pos, kind: "comprehension", ...f, iterVar2: f.iterVar2 };
  }
}

/** Parses CEL source with macros expanded; throws CelIssue on the first mistake. */
export function parse(source: string): Expr {
  if (source.length > MAX_SOURCE)
    throw new CelIssue(0, `expression code point size exceeds limit: size: ${source.length}, limit ${MAX_SOURCE}`);
  return new Parser(tokenize(source)).parse();
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #make = new Builder();
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Expr {
    const expr = this.#expr();
    if (this.#peek().type !== "end") throw this.#unexpected();
    return expr;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { type: "end", text: "<EOF>", pos: 0 };
  }

  #is(text: string): boolean {
    const token = this.#peek();
    return token.type === "op" && token.text === text;
  }

  #take(text: string): Token | undefined {
    if (!this.#is(text)) return undefined;
    const token = this.#peek();
    this.#at++;
    return token;
  }

  #expect(text: string): Token {
    const token = this.#take(text);
    if (token === undefined) {
      const found = this.#peek();
      throw new CelIssue(found.pos, `Syntax error: mismatched input '${found.text}' expecting '${text}'`);
    }
    return token;
  }

  #unexpected(close?: string): CelIssue {
    const token = this.#peek();
    if (token.type === "end") {
      const end = close === undefined ? "" : ` '${close}',`;
      return new CelIssue(
        token.pos,
        `Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(',${end} '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`,
      );
    }
    return new CelIssue(token.pos, `Syntax error: extraneous input '${token.text}' expecting <EOF>`);
  }

  #expr(): Expr {
    if (++this.#depth > MAX_DEPTH)
      throw new CelIssue(this.#peek().pos, `expression recursion limit exceeded: ${MAX_DEPTH}`);
    const condition = this.#or();
    const question = this.#take("?");
    let result = condition;
    if (question !== undefined) {
      const yes = this.#or();
      this.#expect(":");
      result = this.#make.call(question.pos, "_?_:_", [condition, yes, this.#expr()]);
    }
    this.#depth--;
    return result;
  }

  #or(): Expr {
    return this.#logical("||", "_||_", () => this.#logical("&&", "_&&_", () => this.#relation()));
  }

  /** Chains of && and || become balanced trees, as in cel-go, so that depth stays logarithmic. */
  #logical(op: string, fn: string, operand: () => Expr): Expr {
    const terms = [operand()];
    const ops: number[] = [];
    for (let token = this.#take(op); token !== undefined; token = this.#take(op)) {
      ops.push(token.pos);
      terms.push(operand());
    }
    const build = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2);
      const left = middle === low ? terms[middle] : build(low, middle - 1);
      const right = middle === high ? terms[middle + 1] : build(middle + 1, high);
      if (left === undefined || right === undefined) throw this.#unexpected();
      return this.#make.call(ops[middle] ?? 0, fn, [left, right]);
    };
    const first = terms[0];
    if (first === undefined) throw this.#unexpected();
    return ops.length === 0 ? first : build(0, ops.length - 1);
  }

  /** Chains like `a.b.c` and `1 + 2 + 3` are deep trees: they count as depth too. */
  #chain(length: number): void {
    if (length > MAX_DEPTH) {
      throw new CelIssue(this.#peek().pos, `expression recursion limit exceeded: ${MAX_DEPTH}`);
    }
  }

  #relation(): Expr {
    let left = this.#sum();
    for (let length = 0; ; length++) {
      this.#chain(length);
      const token = this.#peek();
      const isIn = token.type === "ident" && token.text === "in";
      if (!isIn && !(token.type === "op" && ["<", "<=", ">", ">=", "==", "!="].includes(token.text))) return left;
      this.#at++;
      left = this.#make.call(token.pos, isIn ? "@in" : `_${token.text}_`, [left, this.#sum()]);
    }
  }

  #sum(): Expr {
    let left = this.#product();
    for (let length = 0; ; length++) {
      this.#chain(length);
      const token = this.#take("+") ?? this.#take("-");
      if (token === undefined) return left;
      left = this.#make.call(token.pos, `_${token.text}_`, [left, this.#product()]);
    }
  }

  #product(): Expr {
    let left = this.#unary();
    for (let length = 0; ; length++) {
      this.#chain(length);
      const token = this.#take("*") ?? this.#take("/") ?? this.#take("%");
      if (token === undefined) return left;
      left = this.#make.call(token.pos, `_${token.text}_`, [left, this.#unary()]);
    }
  }

  #unary(): Expr {
    const first = this.#peek();
    let count = 0;
    if (first.type === "op" && first.text === "!") {
      while (this.#take("!")) count++;
      const operand = this.#member(this.#primary());
      return count % 2 === 0 ? operand : this.#make.call(first.pos, "!_", [operand]);
    }
    if (first.type === "op" && first.text === "-") {
      while (this.#take("-")) count++;
      const token = this.#peek();
      if (count % 2 === 1 && token.type === "literal") {
        const value = token.value;
        if (typeof value === "bigint" || typeof value === "number") {
          this.#at++;
          return this.#member(this.#make.literal(first.pos, -value));
        }
      }
      const operand = this.#member(this.#primary());
      return count % 2 === 0 ? operand : this.#make.call(first.pos, "-_", [operand]);
    }
    return this.#member(this.#primary());
  }

  #member(start: Expr): Expr {
    let expr = start;
    for (let length = 0; ; length++) {
      this.#chain(length);
      const dot = this.#take(".");
      if (dot !== undefined) {
        expr = this.#afterDot(expr, dot);
        continue;
      }
      const bracket = this.#take("[");
      if (bracket === undefined) return expr;
      const optional = this.#take("?") !== undefined;
      const index = this.#expr();
      this.#expect("]");
      expr = this.#make.call(bracket.pos, optional ? "_[?_]" : "_[_]", [expr, index]);
    }
  }

  #afterDot(expr: Expr, dot: Token): Expr {
    const optional = this.#take("?") !== undefined;
    const name = this.#peek();
    if (name.type !== "ident") {
      throw new CelIssue(name.pos, `Syntax error: no viable alternative at input '.${name.text}'`);
    }
    this.#at++;
    if (optional) return this.#make.call(dot.pos, "_?._", [expr, this.#make.literal(name.pos, name.text)]);
    const open = this.#take("(");
    if (open === undefined) return this.#make.select(dot.pos, expr, name.text);
    const args = this.#args(")");
    const qualified = qualifiedName(expr);
    return (
      expandMacro(this.#make, name.text, expr, args, open.pos) ??
      (qualified !== undefined && NAMESPACED.has(`${qualified}.${name.text}`)
        ? this.#make.call(open.pos, `${qualified}.${name.text}`, args)
        : this.#make.call(open.pos, name.text, args, expr))
    );
  }

  #args(close: string): Expr[] {
    const args: Expr[] = [];
    if (this.#take(close) !== undefined) return args;
    if (close === ")" && this.#peek().type === "end") throw this.#unexpected(close);
    for (;;) {
      args.push(this.#expr());
      if (this.#take(close) !== undefined) return args;
      this.#expect(",");
    }
  }

  #primary(): Expr {
    const token = this.#peek();
    if (token.type === "literal") {
      this.#at++;
      if (token.value === 1n << 63n) throw new CelIssue(token.pos, "Syntax error: invalid int literal");
      return this.#make.literal(token.pos, token.value ?? null);
    }
    if (this.#take("(") !== undefined) {
      const inner = this.#expr();
      this.#expect(")");
      return inner;
    }
    if (this.#take("[") !== undefined) return this.#list(token.pos);
    if (this.#take("{") !== undefined) return this.#map(token.pos);
    this.#take(".");
    const name = this.#peek();
    if (name.type !== "ident") {
      if (name.type === "end") throw this.#unexpected();
      throw new CelIssue(
        name.pos,
        `Syntax error: mismatched input '${name.text}' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`,
      );
    }
    this.#at++;
    if (RESERVED.has(name.text)) throw new CelIssue(name.pos, `reserved identifier: ${name.text}`);
    const open = this.#take("(");
    if (open === undefined) return this.#make.ident(name.pos, name.text);
    const args = this.#args(")");
    return expandMacro(this.#make, name.text, undefined, args, open.pos) ?? this.#make.call(open.pos, name.text, args);
  }

  #list(pos: number): Expr {
    const elements: Expr[] = [];
    const optional = new Set<number>();
    while (this.#take("]") === undefined) {
      if (this.#take("?") !== undefined) optional.add(elements.length);
      elements.push(this.#expr());
      if (!this.#is("]")) this.#expect(",");
    }
    return this.#make.list(pos, elements, optional);
  }

  #map(pos: number): Expr {
    const entries: MapEntry[] = [];
    while (this.#take("}") === undefined) {
      const optional = this.#take("?") !== undefined;
      const key = this.#expr();
      this.#expect(":");
      entries.push({ key, value: this.#expr(), optional });
      if (!this.#is("}")) this.#expect(",");
    }
    return this.#make.map(pos, entries);
  }
}

/** Functions whose names contain dots. */
const NAMESPACED: ReadonlySet<string> = new Set([
  "optional.of",
  "optional.ofNonZeroValue",
  "optional.none",
  "ip.isCanonical",
  "sets.contains",
  "sets.equivalent",
  "sets.intersects",
  "lists.range",
  "strings.quote",
  "format.named",
  "format.dns1123Label",
  "format.dns1123Subdomain",
  "format.dns1035Label",
  "format.qualifiedName",
  "format.dns1123LabelPrefix",
  "format.dns1123SubdomainPrefix",
  "format.dns1035LabelPrefix",
  "format.labelValue",
  "format.uri",
  "format.uuid",
  "format.byte",
  "format.date",
  "format.datetime",
]);

function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select" || expr.testOnly) return undefined;
  const parent = qualifiedName(expr.operand);
  return parent === undefined ? undefined : `${parent}.${expr.field}`;
}
