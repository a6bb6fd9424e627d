import { FUNCTIONS } from "./functions.ts";
import { TemplateError } from "./lexer.ts";
import { type Node, type Operand, type Pipeline, parse } from "./parser.ts";

/** These stop at the operand that decides, so the renderer carries them out itself. */
const DECIDING = ["and", "or"];

/** Returns errors of a template that do not depend on its data: syntax, unknown functions and undefined variables. */
export function templateProblem(template: string): string | undefined {
  try {
    const nodes = parse(template);
    const pipelines = pipelinesOf(nodes);
    const operands = pipelines.flatMap(operandsOf);
    const declared = new Set(["$", ...pipelines.flatMap(({ declares, assigns }) => (assigns ? [] : declares))]);
    const assigned = pipelines.flatMap(({ declares, assigns }) => (assigns ? declares : []));
    for (const operand of operands)
      if (operand.type === "call" && !isFunction(operand.name)) return `function "${operand.name}" not defined`;
    const used = operands.flatMap((operand) => (operand.type === "variable" ? [operand.name] : []));
    const unknown = [...used, ...assigned].find((name) => !declared.has(name));
    return unknown === undefined ? undefined : `undefined variable ${unknown}`;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

function isFunction(name: string): boolean {
  return DECIDING.includes(name) || Object.hasOwn(FUNCTIONS, name);
}

function pipelinesOf(nodes: readonly Node[]): Pipeline[] {
  return nodes.flatMap((node) => {
    switch (node.type) {
      case "output":
        return [node.pipeline];
      case "if":
      case "with":
      case "range":
        return [node.pipeline, ...pipelinesOf(node.body), ...pipelinesOf(node.otherwise)];
      default:
        return [];
    }
  });
}

/** Operands of a pipeline, those in parentheses too. */
function operandsOf(pipeline: Pipeline): Operand[] {
  return pipeline.commands.flatMap(({ operands }) =>
    operands.flatMap((operand) => (operand.type === "group" ? operandsOf(operand.pipeline) : [operand])),
  );
}
