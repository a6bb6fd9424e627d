import type { Expr, Literal } from "./ast.ts";
import { type Checked, literalText, qualifiedName, typeByName } from "./checker.ts";
import type { Overload } from "./functions.ts";
import { callCost } from "./runtime-cost.ts";
import type { CelType } from "./types.ts";
import {
  ArrayList,
  CelCostExceeded,
  CelError,
  CelOptional,
  CelTypeValue,
  CelUint,
  EntryMap,
  fits,
  GrowingList,
  GrowingMap,
  keyText,
  ListValue,
  MapValue,
  type Value,
} from "./values.ts";

/** State of one evaluation: values of variables by slot, and the cost so far. */
export interface Frame {
  readonly slots: (Value | undefined)[];
  cost: number;
  readonly limit: number;
}

/** A compiled expression. */
export type Step = (frame: Frame) => Value;

/** Compiles a checked expression into closures; `slots` gives the variables their places. */
export function compileProgram(checked: Checked, slots: ReadonlyMap<string, number>): Step {
  return new Compiler(checked, slots).compile(checked.expr);
}

function charge(frame: Frame, cost: number): void {
  frame.cost += cost;
  if (frame.cost > frame.limit) throw new CelCostExceeded();
}

class Compiler {
  readonly #checked: Checked;
  readonly #scopes: [string, number][];
  #next: number;

  constructor(checked: Checked, slots: ReadonlyMap<string, number>) {
    this.#checked = checked;
    this.#scopes = [...slots];
    this.#next = slots.size;
  }

  compile(expr: Expr): Step {
    switch (expr.kind) {
      case "literal": {
        const value = literalValue(expr.value);
        return () => value;
      }
      case "ident":
        return this.#ident(expr.name);
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

  #slot(name: string): number | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const scope = this.#scopes[i];
      if (scope?.[0] === name) return scope[1];
    }
    return undefined;
  }

  #ident(name: string): Step {
    const slot = this.#slot(name);
    if (slot === undefined) return typeStep(name);
    return (frame) => {
      charge(frame, 1);
      const value = frame.slots[slot];
      if (value === undefined) throw new CelError(`no such attribute(s): ${name}`);
      return value;
    };
  }

  #select(expr: Extract<Expr, { kind: "select" }>): Step {
    const name = qualifiedName(expr);
    if (name !== undefined && this.#slot(name) !== undefined) return this.#ident(name);
    const root = name?.split(".")[0];
    if (name !== undefined && root !== undefined && this.#slot(root) === undefined) return typeStep(name);
    const operand = this.compile(expr.operand);
    const field = expr.field;
    if (expr.testOnly) return (frame) => testField(operand(frame), field);
    return (frame) => {
      const value = getField(operand(frame), field);
      charge(frame, 1);
      return value;
    };
  }

  #list(expr: Extract<Expr, { kind: "list" }>): Step {
    const steps = expr.elements.map((element) => this.compile(element));
    const optional = expr.optional;
    return (frame) => {
      const items: Value[] = [];
      for (let i = 0; i < steps.length; i++) {
        const value = steps[i]?.(frame) ?? null;
        if (!optional.has(i)) items.push(value);
        else if (value instanceof CelOptional) {
          if (value.value !== undefined) items.push(value.value);
        } else throw new CelError("no such overload");
      }
      charge(frame, 10);
      return new ArrayList(items);
    };
  }

  #map(expr: Extract<Expr, { kind: "map" }>): Step {
    const steps = expr.entries.map(({ key, value, optional }) => ({
      key: this.compile(key),
      value: this.compile(value),
      optional,
    }));
    return (frame) => {
      const entries = new Map<string, readonly [Value, Value]>();
      for (const step of steps) {
        const key = step.key(frame);
        const value = step.value(frame);
        const text = keyText(key);
        if (entries.has(text)) throw new CelError(`Failed with repeated key: ${text.slice(1)}`);
        if (!step.optional) entries.set(text, [key, value]);
        else if (value instanceof CelOptional && value.value !== undefined) entries.set(text, [key, value.value]);
      }
      charge(frame, 30);
      return new EntryMap(entries);
    };
  }

  #fold(expr: Extract<Expr, { kind: "comprehension" }>): Step {
    const range = this.compile(expr.iterRange);
    const init = growing(expr.accuInit) ?? this.compile(expr.accuInit);
    const depth = this.#scopes.length;
    const accu = this.#next++;
    this.#scopes.push([expr.accuVar, accu]);
    const first = this.#next++;
    this.#scopes.push([expr.iterVar, first]);
    const second = expr.iterVar2 === undefined ? -1 : this.#next++;
    if (expr.iterVar2 !== undefined) this.#scopes.push([expr.iterVar2, second]);
    const condition = expr.loopCondition.kind === "literal" ? undefined : this.compile(expr.loopCondition);
    const step = this.compile(expr.loopStep);
    this.#scopes.length = depth + 1;
    const result = this.compile(expr.result);
    this.#scopes.length = depth;
    return (frame) => {
      const over = range(frame);
      const slots = frame.slots;
      // Errors of single rounds are kept as values: `all` and `exists` may absorb them later.
      let failure: CelError | undefined;
      slots[accu] = init(frame);
      const round = (): boolean => {
        if (condition !== undefined && failure === undefined && condition(frame) === false) return false;
        try {
          const value = step(frame);
          // A definite answer of && or || wins over an earlier error.
          slots[accu] = value;
          if (failure !== undefined && condition !== undefined && decisive(value, expr)) failure = undefined;
        } catch (error) {
          if (!(error instanceof CelError) || condition === undefined) throw error;
          failure ??= error;
        }
        return true;
      };
      iterate(over, second >= 0, (a, b) => {
        slots[first] = a;
        if (second >= 0) slots[second] = b;
        return round();
      });
      if (failure !== undefined) throw failure;
      return result(frame);
    };
  }

  #call(expr: Extract<Expr, { kind: "call" }>): Step {
    const args = [...(expr.target === undefined ? [] : [expr.target]), ...expr.args];
    const [operand, name] = args;
    if (expr.fn === "_?._" && operand !== undefined && name?.kind === "literal") {
      return optionalSelect(this.compile(operand), literalText(name.value));
    }
    const steps = args.map((arg) => this.compile(arg));
    const [a, b, c] = steps;
    if (expr.fn === "_&&_" && a !== undefined && b !== undefined) return and(a, b);
    if (expr.fn === "_||_" && a !== undefined && b !== undefined) return or(a, b);
    if (expr.fn === "_?_:_" && a !== undefined && b !== undefined && c !== undefined) return conditional(a, b, c);
    const overloads = this.#checked.overloads.get(expr.id) ?? [];
    const types = args.map((arg) => this.#checked.types.get(arg.id));
    const only = overloads.length === 1 && types.every(isConcrete) ? overloads[0] : undefined;
    return only === undefined ? dynamicCall(steps, overloads) : staticCall(steps, only);
  }
}

function isConcrete(type: CelType | undefined): boolean {
  return type !== undefined && type.kind !== "dyn" && type.kind !== "param" && type.kind !== "error";
}

function staticCall(steps: readonly Step[], overload: Overload): Step {
  const { run } = overload;
  const cost = callCost(overload.fn, overload.id);
  const [a, b] = steps;
  if (cost === undefined && a !== undefined && steps.length === 1) {
    return (frame) => {
      const value = run(a(frame));
      charge(frame, 1);
      return value;
    };
  }
  if (a !== undefined && b !== undefined && steps.length === 2) {
    return (frame) => {
      const x = a(frame);
      const y = b(frame);
      if (cost === undefined) charge(frame, 1);
      else if (PRICED_BEFORE.has(overload.id)) charge(frame, cost([x, y], null));
      const value = run(x, y);
      if (cost !== undefined && !PRICED_BEFORE.has(overload.id)) charge(frame, cost([x, y], value));
      return value;
    };
  }
  return (frame) => {
    const values = steps.map((step) => step(frame));
    const value = run(...values);
    charge(frame, cost === undefined ? 1 : cost(values, value));
    return value;
  };
}

/** Calls whose price does not depend on the result are paid before the work is done. */
const PRICED_BEFORE: ReadonlySet<string> = new Set([
  "matches_string",
  "matches",
  "equals",
  "not_equals",
  "in_list",
  "contains_string",
  "string_find_string",
  "string_find_all_string",
]);

function dynamicCall(steps: readonly Step[], overloads: readonly Overload[]): Step {
  return (frame) => {
    const values = steps.map((step) => step(frame));
    const chosen = overloads.find((overload) => overload.params.every((param, i) => fits(values[i] ?? null, param)));
    if (chosen === undefined) throw new CelError("no such overload");
    const value = chosen.run(...values);
    charge(frame, callCost(chosen.fn, chosen.id)?.(values, value) ?? 1);
    return value;
  };
}

function truth(value: Value): boolean {
  if (typeof value !== "boolean") throw new CelError("no such overload");
  return value;
}

function and(a: Step, b: Step): Step {
  return (frame) => {
    let left = true;
    let failure: CelError | undefined;
    try {
      left = truth(a(frame));
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      failure = error;
    }
    if (!left) return false;
    const right = truth(b(frame));
    if (right && failure !== undefined) throw failure;
    return right;
  };
}

function or(a: Step, b: Step): Step {
  return (frame) => {
    let left = false;
    let failure: CelError | undefined;
    try {
      left = truth(a(frame));
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      failure = error;
    }
    if (left) return true;
    const right = truth(b(frame));
    if (!right && failure !== undefined) throw failure;
    return right;
  };
}

function conditional(test: Step, yes: Step, no: Step): Step {
  return (frame) => (truth(test(frame)) ? yes(frame) : no(frame));
}

function decisive(value: Value, expr: Extract<Expr, { kind: "comprehension" }>): boolean {
  return expr.accuInit.kind === "literal" && value === !(expr.accuInit.value === true);
}

function growing(init: Expr): Step | undefined {
  if (init.kind === "list" && init.elements.length === 0) {
    return (frame) => {
      charge(frame, 10);
      return new GrowingList();
    };
  }
  if (init.kind === "map" && init.entries.length === 0) {
    return (frame) => {
      charge(frame, 30);
      return new GrowingMap();
    };
  }
  return undefined;
}

function iterate(range: Value, two: boolean, visit: (a: Value, b: Value) => boolean): void {
  if (range instanceof ListValue) {
    for (let i = 0; i < range.size; i++) {
      const item = range.at(i);
      if (!visit(two ? BigInt(i) : item, item)) return;
    }
  } else if (range instanceof MapValue) {
    for (const key of range.keys()) {
      if (!visit(key, two ? (range.get(key) ?? null) : null)) return;
    }
  } else throw new CelError("got a non-iterable value");
}

function typeStep(name: string): Step {
  const type = typeByName(name);
  const value = new CelTypeValue(name);
  return () => {
    if (type === undefined) throw new CelError(`no such attribute(s): ${name}`);
    return value;
  };
}

function getField(value: Value, field: string): Value {
  if (value instanceof MapValue) {
    const found = value.field(field);
    if (found === undefined) throw new CelError(`no such key: ${field}`);
    return found;
  }
  if (value instanceof CelOptional) {
    return value.value === undefined ? value : maybeField(value.value, field);
  }
  throw new CelError("no such overload");
}

function testField(value: Value, field: string): boolean {
  if (value instanceof MapValue) return value.hasField(field);
  if (value instanceof CelOptional) return value.value instanceof MapValue && value.value.hasField(field);
  throw new CelError("no such overload");
}

function maybeField(value: Value, field: string): CelOptional {
  if (value instanceof CelOptional) return value.value === undefined ? value : maybeField(value.value, field);
  if (!(value instanceof MapValue)) throw new CelError("no such overload");
  return new CelOptional(value.hasField(field) ? value.field(field) : undefined);
}

function optionalSelect(operand: Step, field: string): Step {
  return (frame) => {
    const value = maybeField(operand(frame), field);
    charge(frame, 1);
    return value;
  };
}

/** A literal as a run-time value. */
export function literalValue(value: Literal): Value {
  return typeof value === "object" && value !== null && "uint" in value ? new CelUint(value.uint) : value;
}
