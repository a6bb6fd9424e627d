import { ACCU, type Expr } from "./ast.ts";
import type { Checked } from "./checker.ts";
import { estimateLibraryCall, type NodeInfo } from "./cost-calls.ts";
import { type CallEstimate, fixed, type Range, sum, times, UNKNOWN, union } from "./cost-range.ts";
import type { DeclType } from "./decl.ts";
import { runeCount } from "./lib-standard.ts";
import { type CelType, DYN } from "./types.ts";

/** The worst-case cost of an expression, in the units and with the rules of cel-go's estimator. */
export function estimateCost(checked: Checked, root: DeclType | undefined): number {
  return new Estimator(checked, root).cost(checked.expr).max;
}

interface Entry {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly val: Range;
}

interface Local {
  readonly path: readonly string[] | undefined;
  readonly size: Range | undefined;
  readonly entry: Entry | undefined;
}

const ONE = fixed(1);
const ZERO = fixed(0);

class Estimator {
  readonly #checked: Checked;
  readonly #root: DeclType | undefined;
  readonly #paths = new Map<number, readonly string[]>();
  readonly #sizes = new Map<number, Range>();
  readonly #entries = new Map<number, Entry>();
  readonly #locals = new Map<string, Local[]>();

  constructor(checked: Checked, root: DeclType | undefined) {
    this.#checked = checked;
    this.#root = root;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case "ident": {
        const local = this.#local(expr.name);
        this.#setPath(expr, local === undefined ? [expr.name] : local.path);
        return ONE;
      }
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "comprehension":
        return isBind(expr) ? this.#bind(expr) : this.#fold(expr);
      case "literal":
        return ZERO;
    }
  }

  #type(expr: Expr): CelType {
    return this.#checked.types.get(expr.id) ?? DYN;
  }

  #local(name: string): Local | undefined {
    const stack = this.#locals.get(name);
    return stack?.[stack.length - 1];
  }

  #push(name: string, local: Local): void {
    const stack = this.#locals.get(name);
    if (stack === undefined) this.#locals.set(name, [local]);
    else stack.push(local);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #setPath(expr: Expr, path: readonly string[] | undefined): void {
    if (path !== undefined) this.#paths.set(expr.id, path);
  }

  #path(expr: Expr): readonly string[] | undefined {
    if (expr.kind === "ident") {
      const local = this.#local(expr.name);
      if (local !== undefined) return local.path;
    }
    return this.#paths.get(expr.id);
  }

  #select(expr: Extract<Expr, { kind: "select" }>): Range {
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return operand;
    this.#setPath(expr, [...(this.#path(expr.operand) ?? []), expr.field]);
    const { kind } = this.#type(expr.operand);
    return kind === "map" || kind === "object" || kind === "param" ? sum(operand, ONE) : operand;
  }

  #list(expr: Extract<Expr, { kind: "list" }>): Range {
    let total = fixed(10);
    let item: Range = expr.elements.length === 0 ? ZERO : { min: UNKNOWN.max, max: 0 };
    for (const element of expr.elements) {
      total = sum(total, this.cost(element));
      item = union(item, this.#sizeOrUnknown(element));
    }
    this.#entries.set(expr.id, { container: "list", key: ONE, val: item });
    return total;
  }

  #map(expr: Extract<Expr, { kind: "map" }>): Range {
    let total = fixed(30);
    const none: Range = expr.entries.length === 0 ? ZERO : { min: UNKNOWN.max, max: 0 };
    let [key, val] = [none, none];
    for (const entry of expr.entries) {
      total = sum(total, this.cost(entry.key), this.cost(entry.value));
      key = union(key, this.#sizeOrUnknown(entry.key));
      val = union(val, this.#sizeOrUnknown(entry.value));
    }
    this.#entries.set(expr.id, { container: "map", key, val });
    return total;
  }

  #fold(expr: Extract<Expr, { kind: "comprehension" }>): Range {
    let total = sum(this.cost(expr.iterRange), this.cost(expr.accuInit));
    this.#push(expr.accuVar, {
      path: this.#path(expr.accuInit),
      size: this.#size(expr.accuInit),
      entry: this.#entry(expr.accuInit),
    });
    this.#pushIteration(expr);
    const round = sum(this.cost(expr.loopCondition), this.cost(expr.loopStep));
    this.#pop(expr.iterVar);
    if (expr.iterVar2 !== undefined) this.#pop(expr.iterVar2);
    total = sum(total, this.cost(expr.result));
    this.#pop(expr.accuVar);
    const count = this.#sizeOrUnknown(expr.iterRange);
    if (expr.accuInit.kind === "literal") this.#setSize(expr, this.#size(expr.accuInit));
    else if (expr.accuInit.kind === "list" || expr.accuInit.kind === "map") {
      this.#setSize(expr, count);
      const entry = this.#entry(expr.loopStep);
      if (entry !== undefined) this.#entries.set(expr.id, entry);
    }
    return sum(total, times(count, round));
  }

  #pushIteration(expr: Extract<Expr, { kind: "comprehension" }>): void {
    const entry = this.#entry(expr.iterRange);
    const path = this.#path(expr.iterRange);
    const list = (entry?.container ?? this.#type(expr.iterRange).kind) === "list";
    const at = (name: string): readonly string[] | undefined => [...(path ?? []), name];
    const value: Local = { path: at(list ? "@items" : "@values"), size: entry?.val, entry: undefined };
    if (expr.iterVar2 !== undefined) {
      this.#push(expr.iterVar, { path: at(list ? "@indices" : "@keys"), size: entry?.key, entry: undefined });
      this.#push(expr.iterVar2, value);
    } else this.#push(expr.iterVar, list ? value : { path: at("@keys"), size: entry?.key, entry: undefined });
  }

  #bind(expr: Extract<Expr, { kind: "comprehension" }>): Range {
    const total = sum(this.cost(expr.iterRange), this.cost(expr.accuInit));
    this.#push(expr.accuVar, {
      path: this.#path(expr.accuInit),
      size: this.#size(expr.accuInit),
      entry: this.#entry(expr.accuInit),
    });
    const result = this.cost(expr.result);
    const size = this.#size(expr.result);
    const entry = this.#entry(expr.result);
    this.#pop(expr.accuVar);
    this.#setSize(expr, size);
    if (entry !== undefined) this.#entries.set(expr.id, entry);
    return sum(total, result);
  }

  #call(expr: Extract<Expr, { kind: "call" }>): Range {
    if (expr.fn === "dyn" && expr.args[0] !== undefined) {
      const cost = this.cost(expr.args[0]);
      this.#setSize(expr, this.#size(expr.args[0]));
      return sum(ONE, cost);
    }
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.#info(arg));
    let total = ZERO;
    let target: NodeInfo | undefined;
    if (expr.target !== undefined) {
      total = this.cost(expr.target);
      target = this.#info(expr.target);
    }
    if (expr.fn === "_?._") return sum(total, ONE, ...argCosts);
    const overloads = this.#checked.overloads.get(expr.id) ?? [];
    let cost: Range = { min: UNKNOWN.max, max: 0 };
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimate = this.#overload(expr, overload.id, target, args, argCosts);
      cost = union(cost, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size);
      const from = expr.args[0];
      if (from !== undefined && (overload.id === "index_list" || overload.id === "index_map")) {
        size = this.#entry(from)?.val;
        this.#setPath(expr, [...(this.#path(from) ?? []), overload.id === "index_list" ? "@items" : "@values"]);
      }
      size ??= this.#size(expr);
    }
    this.#setSize(expr, size);
    return overloads.length === 0 ? ZERO : sum(total, cost);
  }

  #overload(
    expr: Extract<Expr, { kind: "call" }>,
    id: string,
    target: NodeInfo | undefined,
    args: readonly NodeInfo[],
    argCosts: readonly Range[],
  ): CallEstimate {
    const [first = ZERO, second = ZERO, third = ZERO] = argCosts;
    if (id === "logical_and" || id === "logical_or") return { cost: { min: first.min, max: sum(first, second).max } };
    if (id === "conditional") {
      const [, yes, no] = expr.args;
      const left = yes === undefined ? undefined : this.#entry(yes);
      const right = no === undefined ? undefined : this.#entry(no);
      if (left !== undefined && right !== undefined) this.#entries.set(expr.id, mergeEntries(left, right));
      return {
        cost: sum(first, union(second, third)),
        size: union(args[1]?.size ?? UNKNOWN, args[2]?.size ?? UNKNOWN),
      };
    }
    if (id === "add_string" || id === "add_bytes" || id === "add_list") {
      const [a, b] = expr.args;
      const left = a === undefined ? undefined : this.#entry(a);
      const right = b === undefined ? undefined : this.#entry(b);
      if (left !== undefined && right !== undefined) this.#entries.set(expr.id, mergeEntries(left, right));
    }
    const estimate = estimateLibraryCall(expr.fn, id, target, args);
    return { ...estimate, cost: sum(estimate.cost, ...argCosts) };
  }

  #info(expr: Expr): NodeInfo {
    const path = this.#path(expr);
    const rooted = path !== undefined && path[0] !== ACCU ? path : undefined;
    const type = this.#type(expr);
    return {
      type,
      size: this.#size(expr),
      expr,
      elementSize: () => (rooted === undefined ? undefined : this.#pathSize([...rooted, "@items"])),
    };
  }

  #setSize(expr: Expr, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(expr.id, size);
  }

  #sizeOrUnknown(expr: Expr): Range {
    return this.#size(expr) ?? UNKNOWN;
  }

  #size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (known !== undefined) return known;
    const path = this.#path(expr);
    const declared = path === undefined ? undefined : this.#pathSize(path);
    if (declared !== undefined) return declared;
    if (isScalar(this.#type(expr))) return ONE;
    return expr.kind === "ident" ? this.#local(expr.name)?.size : undefined;
  }

  #entry(expr: Expr): Entry | undefined {
    return this.#entries.get(expr.id) ?? (expr.kind === "ident" ? this.#local(expr.name)?.entry : undefined);
  }

  /** The size limit that the schema gives to what a path leads to; the first step is always self or oldSelf. */
  #pathSize(path: readonly string[]): Range | undefined {
    let decl = this.#root;
    if (decl === undefined || path.length === 0) return undefined;
    for (const step of path.slice(1)) {
      if (step === "@items" || step === "@values") decl = decl.elem;
      else if (step === "@keys") return decl.elem !== undefined && decl.type.kind === "map" ? ZERO : undefined;
      else decl = decl.fields?.get(step)?.decl;
      if (decl === undefined) return undefined;
    }
    return { min: 0, max: decl.maxElements };
  }
}

function mergeEntries(a: Entry, b: Entry): Entry {
  return { container: a.container, key: union(a.key, b.key), val: union(a.val, b.val) };
}

function isBind(expr: Extract<Expr, { kind: "comprehension" }>): boolean {
  return expr.loopCondition.kind === "literal" && expr.loopCondition.value === false && expr.accuVar !== ACCU;
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === "list") return fixed(expr.elements.length);
  if (expr.kind === "map") return fixed(expr.entries.length);
  if (expr.kind !== "literal") return undefined;
  if (typeof expr.value === "string") return fixed(runeCount(expr.value));
  return fixed(expr.value instanceof Uint8Array ? expr.value.length : 1);
}

function isScalar(type: CelType): boolean {
  if (type.kind === "optional") return isScalar(type.params[0] ?? DYN);
  return ["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind);
}
