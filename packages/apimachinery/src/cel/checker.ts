import { CelIssue, type Expr, type Literal } from "./ast.ts";
import { type Overload, overloadsOf } from "./functions.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  ERROR,
  elementOf,
  formatType,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  paramOf,
  parseType,
  STRING,
  typeOf,
  UINT,
} from "./types.ts";

/** What type checking found out about an expression. */
export interface Checked {
  readonly expr: Expr;
  readonly type: CelType;
  /** Types by expression id. */
  readonly types: ReadonlyMap<number, CelType>;
  /** Variants of functions that a call may resolve to, by expression id. */
  readonly overloads: ReadonlyMap<number, readonly Overload[]>;
  /** Names of variables that are used. */
  readonly variables: ReadonlySet<string>;
  readonly issues: readonly CelIssue[];
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  bool: "bool",
  int: "int",
  uint: "uint",
  double: "double",
  string: "string",
  bytes: "bytes",
  null_type: "null",
  list: "list<dyn>",
  map: "map<dyn,dyn>",
  type: "type",
  "google.protobuf.Timestamp": "timestamp",
  "google.protobuf.Duration": "duration",
  optional_type: "optional<dyn>",
  "net.IP": "IP",
  "net.CIDR": "CIDR",
  "kubernetes.Quantity": "Quantity",
  "kubernetes.URL": "URL",
  "kubernetes.Semver": "Semver",
  "kubernetes.NamedFormat": "Format",
};

/** The type that a name denotes, when it denotes one. */
export function typeByName(name: string): CelType | undefined {
  return Object.hasOwn(TYPE_NAMES, name) ? parseType(TYPE_NAMES[name] ?? "dyn") : undefined;
}

/** Checks an expression against the types of variables. */
export function check(expr: Expr, variables: ReadonlyMap<string, CelType>): Checked {
  return new Checker(variables).run(expr);
}

class Checker {
  readonly #variables: ReadonlyMap<string, CelType>;
  readonly #locals: [string, CelType][] = [];
  readonly #types = new Map<number, CelType>();
  readonly #overloads = new Map<number, readonly Overload[]>();
  readonly #used = new Set<string>();
  readonly #issues: CelIssue[] = [];
  readonly #bindings = new Map<string, CelType>();
  /** Names in the order they were bound, so that a failed attempt can be rolled back. */
  readonly #trail: string[] = [];
  #fresh = 0;
  /** Inside the arguments of format(), where literals may mix types. */
  #mixed = false;

  constructor(variables: ReadonlyMap<string, CelType>) {
    this.#variables = variables;
  }

  run(expr: Expr): Checked {
    const type = this.#resolve(this.#visit(expr), true);
    const types = new Map([...this.#types].map(([id, t]) => [id, this.#resolve(t, true)]));
    return { expr, type, types, overloads: this.#overloads, variables: this.#used, issues: this.#issues };
  }

  #issue(expr: Expr, message: string): CelType {
    this.#issues.push(new CelIssue(expr.pos, message));
    return ERROR;
  }

  #visit(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    this.#types.set(expr.id, type);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case "literal":
        return literalType(expr.value);
      case "ident":
        return this.#ident(expr, expr.name);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "comprehension":
        return this.#fold(expr);
    }
  }

  #lookup(name: string): CelType | undefined {
    for (let i = this.#locals.length - 1; i >= 0; i--) {
      const local = this.#locals[i];
      if (local?.[0] === name) return local[1];
    }
    const variable = this.#variables.get(name);
    if (variable !== undefined) {
      this.#used.add(name);
      return variable;
    }
    const type = typeByName(name);
    return type === undefined ? undefined : typeOf(type);
  }

  #ident(expr: Expr, name: string): CelType {
    return this.#lookup(name) ?? this.#issue(expr, `undeclared reference to '${name}' (in container '')`);
  }

  #select(expr: Extract<Expr, { kind: "select" }>): CelType {
    const qualified = qualifiedName(expr);
    const variable = this.#qualified(qualified);
    if (variable !== undefined) return variable;
    if (qualified !== undefined && !expr.testOnly && this.#lookupRoot(expr) === undefined) {
      const type = typeByName(qualified);
      if (type !== undefined) return typeOf(type);
    }
    const operand = this.#resolve(this.#visit(expr.operand), false);
    const field = this.#field(expr, operand, expr.field);
    return expr.testOnly && field !== ERROR ? BOOL : field;
  }

  /** The type of a variable whose name has a dot in it. */
  #qualified(name: string | undefined): CelType | undefined {
    const type = name === undefined ? undefined : this.#variables.get(name);
    if (name !== undefined && type !== undefined) this.#used.add(name);
    return type;
  }

  #lookupRoot(expr: Expr): CelType | undefined {
    let root = expr;
    while (root.kind === "select") root = root.operand;
    return root.kind === "ident" ? this.#lookup(root.name) : DYN;
  }

  #field(expr: Expr, operand: CelType, name: string): CelType {
    switch (operand.kind as string) {
      case "error":
      case "dyn":
      case "param":
        return DYN;
      case "map":
        return elementOf(operand);
      case "object":
        return operand.fields?.get(name) ?? this.#issue(expr, `undefined field '${name}'`);
      case "optional": {
        const inner = this.#field(expr, this.#resolve(elementOf(operand), false), name);
        return inner === ERROR ? ERROR : optionalOf(inner);
      }
      default:
        return this.#issue(expr, `type '${formatType(this.#resolve(operand, true))}' does not support field selection`);
    }
  }

  #list(expr: Extract<Expr, { kind: "list" }>): CelType {
    let element: CelType | undefined;
    expr.elements.forEach((item, i) => {
      let type = this.#visit(item);
      if (expr.optional.has(i)) type = this.#unwrapOptional(item, type);
      element = this.#join(item, element, type);
    });
    return listOf(element ?? this.#param());
  }

  #map(expr: Extract<Expr, { kind: "map" }>): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of expr.entries) {
      key = this.#join(entry.key, key, this.#visit(entry.key));
      let type = this.#visit(entry.value);
      if (entry.optional) type = this.#unwrapOptional(entry.value, type);
      value = this.#join(entry.value, value, type);
    }
    return mapOf(key ?? this.#param(), value ?? this.#param());
  }

  #unwrapOptional(expr: Expr, type: CelType): CelType {
    const resolved = this.#resolve(type, false);
    if (resolved.kind === "optional") return elementOf(resolved);
    if (resolved.kind === "dyn" || resolved.kind === "error") return DYN;
    return this.#issue(expr, `expected type 'optional_type(dyn)' but found '${formatType(resolved)}'`);
  }

  /** Elements of a literal must agree in type. */
  #join(expr: Expr, known: CelType | undefined, type: CelType): CelType {
    if (known === undefined) return type;
    if (this.#mixed) return DYN;
    if (this.#assignable(known, type)) return known.kind === "error" || known.kind === "null" ? type : known;
    if (this.#assignable(type, known)) return type;
    this.#issue(
      expr,
      `expected type '${formatType(this.#resolve(known, true))}' but found '${formatType(this.#resolve(type, true))}'`,
    );
    return known;
  }

  #fold(expr: Extract<Expr, { kind: "comprehension" }>): CelType {
    const range = this.#resolve(this.#visit(expr.iterRange), false);
    const accu = this.#visit(expr.accuInit);
    let first: CelType = DYN;
    let second: CelType = DYN;
    if (range.kind === "list") {
      first = expr.iterVar2 === undefined ? elementOf(range) : INT;
      second = elementOf(range);
    } else if (range.kind === "map") {
      first = range.params[0] ?? DYN;
      second = elementOf(range);
    } else if (range.kind !== "dyn" && range.kind !== "error" && range.kind !== "param") {
      this.#issue(
        expr.iterRange,
        `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      );
    }
    const depth = this.#locals.length;
    this.#locals.push([expr.accuVar, accu]);
    this.#locals.push([expr.iterVar, first]);
    if (expr.iterVar2 !== undefined) this.#locals.push([expr.iterVar2, second]);
    this.#expect(expr.loopCondition, BOOL, this.#visit(expr.loopCondition));
    this.#expect(expr.loopStep, accu, this.#visit(expr.loopStep));
    this.#locals.length = depth + 1;
    const result = this.#visit(expr.result);
    this.#locals.length = depth;
    return result;
  }

  #expect(expr: Expr, wanted: CelType, found: CelType): void {
    if (this.#assignable(wanted, found)) return;
    this.#issue(
      expr,
      `expected type '${formatType(this.#resolve(wanted, true))}' but found '${formatType(this.#resolve(found, true))}'`,
    );
  }

  #call(expr: Extract<Expr, { kind: "call" }>): CelType {
    if (expr.fn === "_?._") return this.#optionalSelect(expr);
    const all = overloadsOf(expr.fn);
    const outer = this.#mixed;
    this.#mixed ||= expr.fn === "format" && expr.target !== undefined;
    const args = [...(expr.target === undefined ? [] : [expr.target]), ...expr.args].map((arg) => this.#visit(arg));
    this.#mixed = outer;
    if (all === undefined) return this.#issue(expr, `undeclared reference to '${expr.fn}' (in container '')`);
    const found: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of all) {
      if (overload.member !== (expr.target !== undefined) || overload.params.length !== args.length) continue;
      const rename = new Map<string, CelType>();
      const mark = this.#trail.length;
      const matches = overload.params.every((param, i) =>
        this.#assignable(this.#instantiate(param, rename), args[i] ?? DYN),
      );
      if (!matches) {
        for (const name of this.#trail.splice(mark)) this.#bindings.delete(name);
        continue;
      }
      found.push(overload);
      const type = this.#resolve(this.#instantiate(overload.result, rename), false);
      result = result === undefined || this.#same(result, type) ? (result ?? type) : DYN;
    }
    if (result === undefined) {
      if (args.some((type) => this.#resolve(type, false).kind === "error")) return ERROR;
      return this.#issue(
        expr,
        `found no matching overload for '${expr.fn}' applied to '${this.#signature(args, expr.target !== undefined)}'`,
      );
    }
    this.#overloads.set(expr.id, found);
    return result;
  }

  #optionalSelect(expr: Extract<Expr, { kind: "call" }>): CelType {
    const [operand, name] = expr.args;
    if (operand === undefined || name?.kind !== "literal") return ERROR;
    this.#visit(name);
    const type = this.#field(expr, this.#resolve(this.#visit(operand), false), literalText(name.value));
    if (type === ERROR) return ERROR;
    return type.kind === "optional" ? type : optionalOf(type);
  }

  #signature(args: readonly CelType[], member: boolean): string {
    const names = args.map((type) => formatType(this.#resolve(type, true)));
    return member ? `${names[0] ?? ""}.(${names.slice(1).join(", ")})` : `(${names.join(", ")})`;
  }

  #param(): CelType {
    return paramOf(`_var${this.#fresh++}`);
  }

  #instantiate(type: CelType, rename: Map<string, CelType>): CelType {
    if (type.kind === "param") {
      let fresh = rename.get(type.name);
      if (fresh === undefined) {
        fresh = this.#param();
        rename.set(type.name, fresh);
      }
      return fresh;
    }
    if (type.params.length === 0) return type;
    return { ...type, params: type.params.map((param) => this.#instantiate(param, rename)) };
  }

  /** Replaces bound parameters; with `final`, unbound ones become dyn. */
  #resolve(type: CelType, final: boolean): CelType {
    if (type.kind === "param") {
      const bound = this.#bindings.get(type.name);
      if (bound !== undefined) return this.#resolve(bound, final);
      return final ? DYN : type;
    }
    if (type.params.length === 0) return type;
    return { ...type, params: type.params.map((param) => this.#resolve(param, final)) };
  }

  #same(a: CelType, b: CelType): boolean {
    if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false;
    if (a.kind === "object" && a.fields !== b.fields) return false;
    return a.params.every((param, i) => this.#same(param, b.params[i] ?? DYN));
  }

  #assignable(wanted: CelType, found: CelType): boolean {
    const a = this.#resolve(wanted, false);
    const b = this.#resolve(found, false);
    if (a.kind === "param" && b.kind === "param" && a.name === b.name) return true;
    if (a.kind === "param") return this.#bind(a.name, b);
    if (b.kind === "param") return this.#bind(b.name, a);
    if (a.kind === "dyn" || b.kind === "dyn" || a.kind === "error" || b.kind === "error") return true;
    if (a.kind === "null" || b.kind === "null") return nullable(a) && nullable(b);
    if (a.kind !== b.kind || a.name !== b.name) return false;
    if (a.kind === "object") return a.fields === b.fields;
    if (a.kind === "type") return true;
    return a.params.every((param, i) => this.#assignable(param, b.params[i] ?? DYN));
  }

  #bind(name: string, type: CelType): boolean {
    if (occurs(name, type)) return false;
    this.#bindings.set(name, type);
    this.#trail.push(name);
    return true;
  }
}

function occurs(name: string, type: CelType): boolean {
  return (type.kind === "param" && type.name === name) || type.params.some((param) => occurs(name, param));
}

function nullable(type: CelType): boolean {
  return ["null", "object", "opaque", "optional", "timestamp", "duration"].includes(type.kind);
}

/** The text of a string literal. */
export function literalText(value: Literal): string {
  return typeof value === "string" ? value : "";
}

function literalType(value: Literal): CelType {
  if (value === null) return NULL;
  if (typeof value === "boolean") return BOOL;
  if (typeof value === "bigint") return INT;
  if (typeof value === "number") return DOUBLE;
  if (typeof value === "string") return STRING;
  return value instanceof Uint8Array ? BYTES : UINT;
}

/** `a.b.c` when the expression is only names. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select" || expr.testOnly) return undefined;
  const parent = qualifiedName(expr.operand);
  return parent === undefined ? undefined : `${parent}.${expr.field}`;
}
