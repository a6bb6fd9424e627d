import { isObject } from "@capstan/apimachinery";
import { Budget } from "./budget.ts";
import { FUNCTIONS } from "./functions.ts";
import { printValue, truthy } from "./go-values.ts";
import { TemplateError } from "./lexer.ts";
import { type Command, type Node, type Operand, type Pipeline, parse } from "./parser.ts";

/** Maximum number to range over; each iteration is a step. */
const MAX_RANGE = 100_000;

/**
 * Renders a Go text/template over JSON data, with the functions of sprig that patches use. Pure: no files, no environment, no
 * time, no chance. Throws TemplateError; bounded in output, steps and work, as templates come from users.
 */
export function renderTemplate(template: string, data: unknown, budget = new Budget()): string {
  const state: State = { output: [], budget, root: data };
  walk(parse(template), data, [{ $: data }], state);
  return state.output.join("");
}

interface State {
  output: string[];
  budget: Budget;
  root: unknown;
}

type Variables = Record<string, unknown>[];
type Flow = "next" | "break" | "continue";

function write(text: string, state: State): void {
  state.budget.write(text.length);
  state.output.push(text);
}

/** Whether a value counts as true; a map is true if it has keys. */
function decides(value: unknown, { budget }: State): boolean {
  budget.call("not", [value]);
  return truthy(value);
}

function walk(nodes: readonly Node[], dot: unknown, variables: Variables, state: State): Flow {
  for (const node of nodes) {
    state.budget.step();
    if (isFlow(node)) return node.type;
    if (node.type === "text") write(node.text, state);
    else if (node.type === "output") {
      const value = run(node.pipeline, dot, variables, state);
      if (node.pipeline.declares.length > 0) continue;
      state.budget.whole(value);
      write(printValue(value), state);
    } else {
      const flow = block(node, dot, variables, state);
      if (flow !== "next") return flow;
    }
  }
  return "next";
}

function isFlow(node: Node): node is Extract<Node, { type: "break" | "continue" }> {
  return node.type === "break" || node.type === "continue";
}

function block(
  node: Extract<Node, { type: "if" | "with" | "range" }>,
  dot: unknown,
  variables: Variables,
  state: State,
): Flow {
  const scope: Variables = [...variables, {}];
  if (node.type === "range") return range(node, dot, scope, state);
  const value = run(node.pipeline, dot, scope, state);
  if (!decides(value, state)) return walk(node.otherwise, dot, scope, state);
  return walk(node.body, node.type === "with" ? value : dot, scope, state);
}

function range(
  node: Extract<Node, { type: "if" | "with" | "range" }>,
  dot: unknown,
  variables: Variables,
  state: State,
): Flow {
  const { declares, assigns, commands } = node.pipeline;
  const value = run({ declares: [], assigns, commands }, dot, variables, state);
  const items = entries(value);
  state.budget.work(items.length);
  if (items.length === 0) return walk(node.otherwise, dot, variables, state);
  for (const [key, item] of items) {
    state.budget.step();
    const [first, second] = declares;
    const own: Record<string, unknown> = {};
    if (second !== undefined) own[second] = item;
    if (first !== undefined) own[first] = second === undefined ? item : key;
    const flow = walk(node.body, item, [...variables, own], state);
    if (flow === "break") break;
  }
  return "next";
}

/** Maps are walked in the order of their keys. */
function entries(value: unknown): [unknown, unknown][] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return [...value.entries()];
  if (typeof value === "number") return Array.from({ length: Math.min(value, MAX_RANGE) }, (_, i) => [i, i]);
  if (isObject(value))
    return Object.keys(value)
      .sort()
      .map((key) => [key, value[key]]);
  throw new TemplateError(`range can't iterate over ${printValue(value)}`);
}

function run(pipeline: Pipeline, dot: unknown, variables: Variables, state: State): unknown {
  let value: unknown;
  let piped = false;
  for (const command of pipeline.commands) {
    value = execute(command, piped ? [value] : [], dot, variables, state);
    piped = true;
  }
  for (const name of pipeline.declares) {
    const scope = pipeline.assigns ? variables.findLast((one) => Object.hasOwn(one, name)) : variables.at(-1);
    if (scope === undefined) throw new TemplateError(`undefined variable ${name}`);
    scope[name] = value;
  }
  return value;
}

function execute(command: Command, piped: unknown[], dot: unknown, variables: Variables, state: State): unknown {
  state.budget.step(command.operands.length);
  const [first, ...rest] = command.operands;
  if (first?.type !== "call") {
    if (first === undefined || rest.length > 0 || piped.length > 0)
      throw new TemplateError("only functions take arguments");
    if (first.type === "literal" && first.value === null) throw new TemplateError("nil is not a command");
    return operand(first, dot, variables, state);
  }
  // These two stop at the first operand that decides.
  if (first.name === "and" || first.name === "or") {
    if (rest.length + piped.length === 0) throw new TemplateError(`wrong number of args for ${first.name}`);
    let value: unknown;
    for (const one of rest) {
      value = operand(one, dot, variables, state);
      if (decides(value, state) === (first.name === "or")) return value;
    }
    return piped.length > 0 ? piped[0] : value;
  }
  return call(first.name, [...rest.map((one) => operand(one, dot, variables, state)), ...piped], state);
}

function call(name: string, args: unknown[], { budget }: State): unknown {
  const found = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (found === undefined) throw new TemplateError(`function "${name}" not defined`);
  try {
    budget.call(name, args);
    const value = (found as (...values: unknown[]) => unknown)(...args);
    budget.made(value);
    return value;
  } catch (error) {
    if (error instanceof TemplateError) throw new TemplateError(`error calling ${name}: ${error.message}`);
    throw error;
  }
}

function operand(value: Operand, dot: unknown, variables: Variables, state: State): unknown {
  switch (value.type) {
    case "literal":
      return value.value;
    case "dot":
      return dot;
    case "field":
      return fieldOf(dot, value.path, state);
    case "variable":
      return fieldOf(lookup(value.name, variables), value.path, state);
    case "call":
      return execute({ operands: [value] }, [], dot, variables, state);
    case "group":
      return fieldOf(run(value.pipeline, dot, variables, state), value.path, state);
  }
}

function lookup(name: string, variables: Variables): unknown {
  const scope = variables.findLast((one) => Object.hasOwn(one, name));
  if (scope === undefined) throw new TemplateError(`undefined variable ${name}`);
  return scope[name];
}

/** A missing key of a map has no value; a field of anything else is an error. */
function fieldOf(value: unknown, path: readonly string[], { budget }: State): unknown {
  budget.work(path.length);
  let current = value;
  for (const name of path) {
    if (current === null || current === undefined) return undefined;
    if (!isObject(current)) throw new TemplateError(`can't evaluate field ${name} in ${printValue(current)}`);
    current = Object.hasOwn(current, name) ? current[name] : undefined;
  }
  return current;
}
