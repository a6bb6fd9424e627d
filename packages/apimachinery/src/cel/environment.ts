import "./lib-standard.ts";
import "./lib-strings.ts";
import "./lib-lists.ts";
import "./lib-network.ts";
import "./lib-kubernetes.ts";
import "./lib-authorizer.ts";
import { parseGoDurationNs } from "../schema/format-duration.ts";
import { compilePattern } from "../schema/pattern.ts";
import { CelIssue, type Expr, formatIssues } from "./ast.ts";
import { type Checked, check } from "./checker.ts";
import { parse } from "./parser.ts";
import { literalValue } from "./program.ts";
import { parseTimestamp } from "./time.ts";
import type { CelType } from "./types.ts";
import { CelError } from "./values.ts";

/** A checked expression, or the text of what is wrong with it. */
export type Compiled = { readonly checked: Checked } | { readonly error: string };

/** Parses and checks an expression with Kubernetes' functions. */
export function compileText(source: string, variables: ReadonlyMap<string, CelType>): Compiled {
  let expr: Expr;
  try {
    expr = parse(source);
  } catch (error) {
    if (error instanceof CelIssue) return { error: formatIssues(source, [error]) };
    throw error;
  }
  const checked = check(expr, variables);
  const issues = checked.issues.length > 0 ? checked.issues : literalIssues(expr);
  return issues.length > 0
    ? {
        error: formatIssues(
          source,
          [...issues].sort((a, b) => a.pos - b.pos),
        ),
      }
    : { checked };
}

/** Literal patterns, durations and timestamps are checked when the rule is written, not when it runs. */
function literalIssues(expr: Expr): CelIssue[] {
  const issues: CelIssue[] = [];
  walk(expr, (node) => {
    if (node.kind !== "call") return;
    const arg = node.args[node.args.length - 1];
    if (arg?.kind !== "literal" || typeof arg.value !== "string") return;
    if (node.fn === "matches") {
      const { error } = compilePattern(arg.value);
      if (error !== undefined) issues.push(new CelIssue(arg.pos, "invalid matches argument"));
    } else if (node.fn === "duration" && parseGoDurationNs(arg.value) === undefined) {
      issues.push(new CelIssue(arg.pos, "invalid duration argument"));
    } else if (node.fn === "timestamp" && parseTimestamp(arg.value) === undefined) {
      issues.push(new CelIssue(arg.pos, "invalid timestamp argument"));
    }
  });
  return issues;
}

const CONVERSIONS: ReadonlySet<string> = new Set(["int", "uint", "double", "bool", "string", "bytes"]);

/** Conversions of literals are carried out when a rule is written; the text of the first one that fails. */
export function constantFailure(checked: Checked): string | undefined {
  let failure: string | undefined;
  walk(checked.expr, (node) => {
    const arg = node.kind === "call" && CONVERSIONS.has(node.fn) ? node.args[0] : undefined;
    if (failure !== undefined || arg?.kind !== "literal") return;
    const [only, ...others] = checked.overloads.get(node.id) ?? [];
    if (only === undefined || others.length > 0) return;
    try {
      only.run(literalValue(arg.value));
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      failure = error.message;
    }
  });
  return failure;
}

function walk(expr: Expr, visit: (node: Expr) => void): void {
  visit(expr);
  switch (expr.kind) {
    case "literal":
    case "ident":
      break;
    case "select":
      walk(expr.operand, visit);
      break;
    case "call":
      if (expr.target !== undefined) walk(expr.target, visit);
      for (const arg of expr.args) walk(arg, visit);
      break;
    case "list":
      for (const element of expr.elements) walk(element, visit);
      break;
    case "map":
      for (const entry of expr.entries) {
        walk(entry.key, visit);
        walk(entry.value, visit);
      }
      break;
    case "comprehension":
      for (const part of [expr.iterRange, expr.accuInit, expr.loopCondition, expr.loopStep, expr.result])
        walk(part, visit);
      break;
  }
}
