import { convertDyn } from "./decl.ts";
import { compileText } from "./environment.ts";
import { compileProgram } from "./program.ts";
import { type CelType, formatType, parseType } from "./types.ts";
import { CelUint, keyText, ListValue, MapValue, type Value } from "./values.ts";

/** An expression that can be evaluated. */
export interface CelProgram {
  /** Evaluates with JSON values for the variables; throws an Error on run-time failures and when it costs too much. */
  evaluate(variables: Readonly<Record<string, unknown>>, budget?: CelBudget): unknown;
  /** What the expression gives: `bool`, `string`, `dyn`… */
  readonly resultType: string;
}

/** What several expressions may cost together; evaluating takes from it, and whoever counts sees when it is below zero. */
export interface CelBudget {
  left: number;
}

/** The result of compiling: a program or the texts of what is wrong. */
export type CelCompilation = CelProgram | { readonly errors: readonly string[] };

/** The type of a variable: a name as in CEL signatures, or an object with declared fields. */
export type CelVariableType =
  | string
  | { readonly name: string; readonly fields: Readonly<Record<string, CelVariableType>> };

/** Cost of one evaluation at most. */
const PER_CALL_LIMIT = 1_000_000;

/**
 * Compiles an expression over named variables, such as the match conditions of webhooks
 * (`object`, `oldObject`, `request`). Types are written as in CEL signatures: `dyn`, `string`, `list<int>`; values of objects are
 * maps when the expression runs.
 */
export function compileCel(expression: string, variables: Readonly<Record<string, CelVariableType>>): CelCompilation {
  const types = new Map<string, CelType>();
  for (const [name, type] of Object.entries(variables)) types.set(name, typeOf(type));
  const compiled = compileText(expression, types);
  if ("error" in compiled) return { errors: [compiled.error] };
  const names = [...types.keys()];
  const step = compileProgram(compiled.checked, new Map(names.map((name, i) => [name, i])));
  return {
    resultType: formatType(compiled.checked.type),
    evaluate(values, budget) {
      const slots = names.map((name) => (Object.hasOwn(values, name) ? convertDyn(values[name]) : undefined));
      const frame = { slots, cost: 0, limit: PER_CALL_LIMIT };
      try {
        return toJson(step(frame));
      } finally {
        if (budget !== undefined) budget.left -= frame.cost;
      }
    },
  };
}

function typeOf(type: CelVariableType): CelType {
  if (typeof type === "string") return parseType(type);
  const fields = Object.entries(type.fields).map(([name, field]): [string, CelType] => [name, typeOf(field)]);
  return { kind: "object", params: [], name: type.name, fields: new Map(fields) };
}

function toJson(value: Value): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof CelUint) return Number(value.value);
  if (value instanceof ListValue) return value.values().map(toJson);
  if (!(value instanceof MapValue)) return value;
  return Object.fromEntries(value.keys().map((key) => [keyText(key).slice(1), toJson(value.get(key) ?? null)]));
}
