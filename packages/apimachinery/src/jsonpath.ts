import { badRequest } from "./errors.ts";
import { deepEqual, isObject, MAX_DEPTH, tooDeep } from "./json.ts";
import { type Operand, parseJsonPath, type Step } from "./jsonpath-parser.ts";

/** A compiled path. Missing fields simply find nothing. */
export interface JsonPath {
  find(object: unknown): unknown[];
  first(object: unknown): unknown;
}

/** Bound on intermediate results, so that nested `..` fails instead of exhausting the memory. */
const MAX_RESULTS = 100_000;

/** Compiles kubectl's JSONPath: fields, quoted fields, indices, slices, wildcards, recursion and filters. Throws BadRequest. */
export function compileJsonPath(expression: string): JsonPath {
  const steps = parseJsonPath(expression);
  const find = (object: unknown): unknown[] => run(steps, object);
  // Printer columns are nearly always plain fields: no lists on the way.
  const plain = steps.every((s) => s.type === "fields" && s.names.length === 1);
  const names = plain ? steps.flatMap((s) => (s.type === "fields" ? s.names : [])) : [];
  return { find, first: plain ? (object) => walk(names, object) : (object) => find(object)[0] };
}

function walk(names: readonly string[], object: unknown): unknown {
  let value = object;
  for (const name of names) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function run(steps: readonly Step[], object: unknown): unknown[] {
  let current: unknown[] = [object];
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of current) {
      apply(step, value, next);
      if (next.length > MAX_RESULTS) throw badRequest(`the JSONPath finds more than ${MAX_RESULTS} values: narrow it`);
    }
    current = next;
  }
  return current;
}

function apply(step: Step, value: unknown, out: unknown[]): void {
  switch (step.type) {
    case "fields":
      for (const name of step.names) {
        if (isObject(value) && Object.hasOwn(value, name) && value[name] !== undefined) out.push(value[name]);
      }
      break;
    case "wildcard":
      out.push(...children(value));
      break;
    case "descend":
      descend(value, out, 0);
      break;
    case "index":
      if (Array.isArray(value)) {
        const item: unknown = value.at(step.index);
        if (item !== undefined) out.push(item);
      }
      break;
    case "slice":
      if (Array.isArray(value)) {
        const items = value.slice(step.from, step.to);
        for (let i = 0; i < items.length; i += step.step) out.push(items[i]);
      }
      break;
    case "filter":
      for (const item of Array.isArray(value) ? value : []) if (accepts(step, item)) out.push(item);
      break;
  }
}

function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function descend(value: unknown, out: unknown[], depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  out.push(value);
  for (const child of children(value)) if (typeof child === "object") descend(child, out, depth + 1);
}

function accepts(filter: Extract<Step, { type: "filter" }>, item: unknown): boolean {
  const left = evaluate(filter.left, item);
  if (left === undefined) return false;
  if (filter.right === undefined) return true;
  const right = evaluate(filter.right, item);
  if (right === undefined) return false;
  if (filter.operator === "==") return deepEqual(left, right);
  if (filter.operator === "!=") return !deepEqual(left, right);
  if (typeof left !== typeof right || (typeof left !== "number" && typeof left !== "string")) return false;
  const order = left < (right as typeof left) ? -1 : left > (right as typeof left) ? 1 : 0;
  if (filter.operator === "<") return order < 0;
  if (filter.operator === "<=") return order <= 0;
  return filter.operator === ">" ? order > 0 : order >= 0;
}

function evaluate(operand: Operand, item: unknown): unknown {
  return operand.type === "literal" ? operand.value : run(operand.steps, item)[0];
}
