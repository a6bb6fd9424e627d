import { getOwn, isObject } from "@capstan/apimachinery";
import { UserDataError } from "../errors.ts";

/** The value of an expression; `missing` names an undefined variable. */
export interface JinjaValue {
  readonly value: unknown;
  readonly missing: boolean;
  readonly name: string;
}

type Token = { readonly kind: "name" | "string" | "number" | "mark"; readonly text: string };

const TOKEN =
  /\s*(?:([A-Za-z_][A-Za-z0-9_]*)|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\d+(?:\.\d+)?)|(==|!=|[.|()[\],]))/y;

/** Evaluates `path | filter(argument)`, comparisons with `==` and `!=`, `and`, `or`, `not`. */
export function evaluate(expression: string, variables: Record<string, unknown>): JinjaValue {
  const reader = new Reader(tokens(expression), variables, expression.trim());
  const value = reader.or();
  reader.end();
  return value;
}

function tokens(expression: string): Token[] {
  const found: Token[] = [];
  const end = expression.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(expression);
    if (match === null) throw new UserDataError(`jinja: cannot read the expression {{ ${expression.trim()} }}`);
    const [, name, single, double, number, mark] = match;
    if (name !== undefined) found.push({ kind: "name", text: name });
    else if (number !== undefined) found.push({ kind: "number", text: number });
    else if (mark !== undefined) found.push({ kind: "mark", text: mark });
    else found.push({ kind: "string", text: (single ?? double ?? "").replace(/\\(.)/g, "$1") });
  }
  return found;
}

class Reader {
  #position = 0;
  readonly #tokens: readonly Token[];
  readonly #variables: Record<string, unknown>;
  readonly #text: string;

  constructor(tokens: readonly Token[], variables: Record<string, unknown>, text: string) {
    this.#tokens = tokens;
    this.#variables = variables;
    this.#text = text;
  }

  end(): void {
    if (this.#position < this.#tokens.length) this.#fail();
  }

  or(): JinjaValue {
    let left = this.#and();
    while (this.#takeName("or")) {
      const right = this.#and();
      left = holds(left) ? left : right;
    }
    return left;
  }

  #and(): JinjaValue {
    let left = this.#not();
    while (this.#takeName("and")) {
      const right = this.#not();
      left = holds(left) ? right : left;
    }
    return left;
  }

  #not(): JinjaValue {
    return this.#takeName("not") ? known(!holds(this.#not())) : this.#comparison();
  }

  #comparison(): JinjaValue {
    const left = this.#filtered();
    if (this.#take("==")) return known(left.value === this.#filtered().value);
    if (this.#take("!=")) return known(left.value !== this.#filtered().value);
    if (!this.#takeName("is")) return left;
    const negated = this.#takeName("not");
    if (!this.#takeName("defined")) this.#fail();
    return known(left.missing === negated);
  }

  #filtered(): JinjaValue {
    let value = this.#primary();
    while (this.#take("|")) {
      const name = this.#next("name");
      const given: unknown[] = [];
      if (this.#take("(")) {
        while (!this.#take(")")) {
          given.push(this.or().value);
          this.#take(",");
        }
      }
      value = filter(name, value, given);
    }
    return value;
  }

  #primary(): JinjaValue {
    if (this.#take("(")) {
      const inner = this.or();
      if (!this.#take(")")) this.#fail();
      return inner;
    }
    const token = this.#tokens[this.#position++];
    if (token?.kind === "string") return known(token.text);
    if (token?.kind === "number") return known(Number(token.text));
    if (token?.kind !== "name") return this.#fail();
    const constant = { true: true, True: true, false: false, False: false, none: null, None: null }[token.text];
    return constant === undefined ? this.#path(token.text) : known(constant);
  }

  #path(first: string): JinjaValue {
    let value = member(this.#variables, first);
    let name = first;
    for (;;) {
      if (this.#take(".")) {
        name = this.#next("name");
        value = member(value, name);
      } else if (this.#take("[")) {
        const key = this.or().value;
        if (!this.#take("]")) this.#fail();
        name = String(key);
        value = member(value, name);
      } else return { value, missing: value === undefined, name };
    }
  }

  #next(kind: Token["kind"]): string {
    const token = this.#tokens[this.#position++];
    return token?.kind === kind ? token.text : this.#fail();
  }

  #take(mark: string): boolean {
    const token = this.#tokens[this.#position];
    if (token?.kind !== "mark" || token.text !== mark) return false;
    this.#position++;
    return true;
  }

  #takeName(name: string): boolean {
    const token = this.#tokens[this.#position];
    if (token?.kind !== "name" || token.text !== name) return false;
    this.#position++;
    return true;
  }

  #fail(): never {
    throw new UserDataError(`jinja: cannot read the expression {{ ${this.#text} }}`);
  }
}

function known(value: unknown): JinjaValue {
  return { value, missing: false, name: "" };
}

function holds(value: JinjaValue): boolean {
  return !value.missing && Boolean(value.value);
}

/** Own members only; cloud-init also offers keys with `-` under `_`. */
function member(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value[Number(name)];
  if (!isObject(value)) return undefined;
  return getOwn(value, name) ?? Object.entries(value).find(([key]) => key.replaceAll("-", "_") === name)?.[1];
}

const FILTERS: Record<string, (text: string, given: readonly unknown[]) => unknown> = {
  __proto__: null as never,
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  trim: (text) => text.trim(),
  string: (text) => text,
  int: (text) => Number.parseInt(text, 10) || 0,
  replace: (text, given) => text.replaceAll(String(given[0]), String(given[1])),
};

function filter(name: string, value: JinjaValue, given: readonly unknown[]): JinjaValue {
  if (name === "default" || name === "d") return value.missing ? known(given[0] ?? "") : value;
  const convert = FILTERS[name];
  if (convert === undefined)
    throw new UserDataError(`jinja: no filter ${name}: there are default, ${Object.keys(FILTERS).join(", ")}`);
  return value.missing ? value : known(convert(String(value.value), given));
}
