import type { ValidationRule } from "../schema/types.ts";
import { estimateCost } from "./cost.ts";
import type { DeclType } from "./decl.ts";
import { compileText, constantFailure } from "./environment.ts";
import { compileProgram, type Frame, type Step } from "./program.ts";
import { type CelType, optionalOf } from "./types.ts";
import { CelOptional, type Value } from "./values.ts";

/** Cost of one expression call at most. */
export const PER_CALL_LIMIT = 1_000_000;

/** A compiled rule. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly error?: string;
  readonly messageError?: string;
  readonly usesOldSelf: boolean;
  readonly maxCost: number;
  readonly messageMaxCost: number;
  readonly run?: Step;
  readonly message?: Step;
}

const SLOTS: ReadonlyMap<string, number> = new Map([
  ["self", 0],
  ["oldSelf", 1],
]);

/** Compiles the rules of one schema node; a rule with a blank text gives neither a program nor an error. */
export function compileRules(rules: readonly ValidationRule[], decl: DeclType): CompiledRule[] {
  return rules.map((rule) => compileRule(rule, decl));
}

/** Compiles one of them. */
export function compileRule(rule: ValidationRule, decl: DeclType): CompiledRule {
  const none = { rule, usesOldSelf: false, maxCost: 0, messageMaxCost: 0 };
  if (rule.rule.trim() === "") return none;
  const oldType: CelType = rule.optionalOldSelf === true ? optionalOf(decl.type) : decl.type;
  const variables = new Map([
    ["self", decl.type],
    ["oldSelf", oldType],
  ]);
  const compiled = compileText(rule.rule, variables);
  if ("error" in compiled) return { ...none, error: `compilation failed: ${compiled.error}` };
  if (compiled.checked.type.kind !== "bool") return { ...none, error: "cel expression must evaluate to a bool" };
  const failure = constantFailure(compiled.checked);
  if (failure !== undefined) return { ...none, error: `program instantiation failed: ${failure}` };
  const result = {
    ...none,
    usesOldSelf: compiled.checked.variables.has("oldSelf"),
    maxCost: estimateCost(compiled.checked, decl),
    run: compileProgram(compiled.checked, SLOTS),
  };
  if (rule.messageExpression === undefined || rule.messageExpression === "") return result;
  const message = compileText(rule.messageExpression, variables);
  if ("error" in message) return { ...result, messageError: `messageExpression compilation failed: ${message.error}` };
  if (message.checked.type.kind !== "string")
    return { ...result, messageError: "messageExpression must evaluate to a string" };
  return {
    ...result,
    messageMaxCost: estimateCost(message.checked, decl),
    message: compileProgram(message.checked, SLOTS),
  };
}

/** The variables of one evaluation. */
export function ruleFrame(self: Value, oldSelf: Value | undefined, optionalOldSelf: boolean): Frame {
  const old = optionalOldSelf ? new CelOptional(oldSelf) : oldSelf;
  return { slots: [self, old], cost: 0, limit: PER_CALL_LIMIT };
}
