import { declOf } from "../cel/decl.ts";
import { type CompiledRule, compileRules, ruleFrame } from "../cel/rules.ts";
import { CelCostExceeded, CelError, type Value } from "../cel/values.ts";
import { duplicate, type FieldError, forbiddenField, invalidValue, required } from "../field-error.ts";
import { goQuote } from "../go-text.ts";
import { isObject } from "../json.ts";
import { type Correlation, MapListIndex } from "./correlation.ts";
import { normalizeFieldPath } from "./field-path.ts";
import type { SchemaNode } from "./node.ts";

/** Cost of all rules of one object at most. */
const OBJECT_BUDGET = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;

/** Rules of a node, compiled on first use. */
const compiled = new WeakMap<SchemaNode, Map<boolean, readonly CompiledRule[]>>();

function rulesOf(node: SchemaNode, root: boolean): readonly CompiledRule[] {
  let both = compiled.get(node);
  if (both === undefined) {
    both = new Map();
    compiled.set(node, both);
  }
  let rules = both.get(root);
  if (rules === undefined) {
    const decl = declOf(node, root);
    rules = decl === undefined ? [] : compileRules(node.rules, decl);
    both.set(root, rules);
  }
  return rules;
}

const transitions = new WeakMap<SchemaNode, boolean>();

/** Whether a rule at the node or below looks at the old value: such rules also judge what did not change. */
function hasTransitionRules(node: SchemaNode): boolean {
  let has = transitions.get(node);
  if (has === undefined) {
    // Schemas do not contain themselves, but the entry must exist before the recursion below reads it.
    transitions.set(node, true);
    has =
      node.rules.some(({ rule }) => rule.includes("oldSelf")) ||
      [...node.properties.values(), node.items, node.additional].some(
        (child) => child?.features.rules === true && hasTransitionRules(child),
      );
    transitions.set(node, has);
  }
  return has;
}

interface Walk {
  readonly errors: FieldError[];
  budget: number;
}

/** Where a value stands towards its old value; `parent` is the nearest ancestor that could be matched. */
interface Ratchet {
  readonly current: Correlation | undefined;
  readonly parent: Correlation | undefined;
}

/** Runs all x-kubernetes-validations of an object and returns their errors with Kubernetes' messages. */
export function runRules(
  node: SchemaNode,
  value: unknown,
  old: unknown,
  correlation: Correlation | undefined,
): FieldError[] {
  const walk: Walk = { errors: [], budget: OBJECT_BUDGET };
  visit(walk, node, true, value, old ?? undefined, () => "", { current: correlation, parent: undefined });
  return walk.errors;
}

/** Validates a default value: the same rules, under the path of the default. */
export function runRulesAt(node: SchemaNode, root: boolean, value: unknown, old: unknown, path: string): FieldError[] {
  const walk: Walk = { errors: [], budget: OBJECT_BUDGET };
  visit(walk, node, root, value, old ?? undefined, () => path, { current: undefined, parent: undefined });
  return walk.errors;
}

function visit(
  walk: Walk,
  node: SchemaNode,
  root: boolean,
  value: unknown,
  old: unknown,
  path: () => string,
  ratchet: Ratchet,
): void {
  if (value === null || value === undefined || !node.features.rules || walk.budget < 0) return;
  // The very value that was stored: it passed these rules then, and its errors would be forgiven now.
  if (value === old && !hasTransitionRules(node)) return;
  if (node.rules.length > 0) runNode(walk, node, root, value, old, path, ratchet);
  if (walk.budget < 0) return;
  if (Array.isArray(value)) visitItems(walk, node, value, old, path, ratchet);
  else if (isObject(value)) visitFields(walk, node, value, isObject(old) ? old : undefined, path, ratchet);
}

function visitItems(
  walk: Walk,
  node: SchemaNode,
  value: readonly unknown[],
  old: unknown,
  path: () => string,
  ratchet: Ratchet,
): void {
  const items = node.items;
  if (items?.features.rules !== true) return;
  const before = Array.isArray(old) && node.listType === "map" ? new MapListIndex(node, old) : undefined;
  for (let i = 0; i < value.length; i++) {
    const next: Ratchet =
      ratchet.current === undefined ? ratchet : { current: ratchet.current.index(i), parent: ratchet.current };
    visit(walk, items, items.embedded, value[i], before?.get(value[i]), () => `${path()}[${i}]`, next);
    if (walk.budget < 0) return;
  }
}

function visitFields(
  walk: Walk,
  node: SchemaNode,
  value: Record<string, unknown>,
  old: Record<string, unknown> | undefined,
  path: () => string,
  ratchet: Ratchet,
): void {
  for (const key in value) {
    const property = node.properties.get(key);
    const child = property ?? node.additional;
    if (child?.features.rules !== true) continue;
    const below = (): string =>
      property === undefined ? `${path()}[${key}]` : path() === "" ? key : `${path()}.${key}`;
    const before = old !== undefined && Object.hasOwn(old, key) ? old[key] : undefined;
    visit(walk, child, child.embedded, value[key], before ?? undefined, below, step(ratchet, key));
    if (walk.budget < 0) return;
  }
}

function step(ratchet: Ratchet, key: string): Ratchet {
  if (ratchet.current === undefined) return ratchet;
  if (ratchet.parent === undefined && (key === "apiVersion" || key === "kind"))
    return { current: undefined, parent: undefined };
  return { current: ratchet.current.key(key), parent: ratchet.current };
}

function runNode(
  walk: Walk,
  node: SchemaNode,
  root: boolean,
  value: unknown,
  old: unknown,
  path: () => string,
  ratchet: Ratchet,
): void {
  const type = node.schema.type ?? "";
  const fieldOf = (): string => (path() === "" ? "<nil>" : path());
  const fail = (detail: string): void => void walk.errors.push(invalidValue(fieldOf(), type, detail));
  if (walk.budget <= 0) {
    fail("validation failed due to running out of cost budget, no further validation rules will be run");
    walk.budget = -1;
    return;
  }
  const decl = declOf(node, root);
  if (decl === undefined) {
    fail("rule compiler initialization error: failed to convert to declType for CEL validation rules");
    return;
  }
  let self: Value;
  let oldSelf: Value | undefined;
  try {
    self = decl.convert(value);
    oldSelf = old === undefined ? undefined : decl.convert(old);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    fail(`${error.message} evaluating rule`);
    return;
  }
  const printed = type === "object" || type === "array" ? undefined : value;
  for (const rule of rulesOf(node, root)) {
    if (rule.error !== undefined) {
      fail(`rule compile error: ${rule.error}`);
      continue;
    }
    const optional = rule.rule.optionalOldSelf === true;
    if (rule.run === undefined || (rule.usesOldSelf && oldSelf === undefined && !optional)) continue;
    runRule(walk, node, rule, self, oldSelf, optional, printed, path, fail, ratchet);
    if (walk.budget < 0) return;
  }
}

function runRule(
  walk: Walk,
  node: SchemaNode,
  compiledRule: CompiledRule,
  self: Value,
  oldSelf: Value | undefined,
  optional: boolean,
  printed: unknown,
  path: () => string,
  fail: (detail: string) => void,
  ratchet: Ratchet,
): void {
  const { rule, run } = compiledRule;
  const frame = ruleFrame(self, oldSelf, optional);
  let passed = false;
  let failure: CelError | CelCostExceeded | undefined;
  try {
    passed = run?.(frame) === true;
  } catch (error) {
    if (!(error instanceof CelError) && !(error instanceof CelCostExceeded)) throw error;
    failure = error;
  }
  const ruleText = (rule.message ?? "") === "" ? rule.rule.trim() : (rule.message ?? "").trim();
  if (failure instanceof CelCostExceeded) {
    fail(
      `'${failure.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText}`,
    );
    walk.budget = -1;
    return;
  }
  walk.budget -= frame.cost;
  if (walk.budget < 0) {
    fail(`validation failed due to running out of cost budget, no further validation rules will be run`);
    return;
  }
  if (failure !== undefined) {
    fail(
      failure.message.startsWith("no such overload")
        ? `'${failure.message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText}`
        : `${failure.message} evaluating rule: ${ruleText}`,
    );
    return;
  }
  if (passed) return;
  if (!compiledRule.usesOldSelf && (ratchet.current ?? ratchet.parent)?.equal() === true) return;
  const message =
    (compiledRule.message === undefined ? undefined : evaluateMessage(walk, compiledRule, frame.slots)) ??
    fallbackMessage(rule.message, ruleText);
  const suffix =
    rule.fieldPath === undefined || rule.fieldPath === ""
      ? ""
      : (normalizeFieldPath(rule.fieldPath, node.schema) ?? "");
  const base = path();
  const field = suffix === "" ? (base === "" ? "<nil>" : base) : base === "" ? suffix : `${base}.${suffix}`;
  walk.errors.push(errorForReason(rule.reason, field, printed, message));
}

function fallbackMessage(message: string | undefined, ruleText: string): string {
  return (message ?? "") === "" ? `failed rule: ${ruleText}` : ruleText;
}

/** The message of a failed rule; undefined when the expression fails or gives nothing usable. */
function evaluateMessage(walk: Walk, rule: CompiledRule, slots: readonly (Value | undefined)[]): string | undefined {
  const frame = { slots: [...slots], cost: 0, limit: 1_000_000 };
  try {
    const value = rule.message?.(frame);
    const text = typeof value === "string" ? value.trim() : "";
    return text === "" || text.includes("\n") || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
  } catch (error) {
    if (error instanceof CelCostExceeded) {
      walk.budget = -1;
      return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${goQuote(rule.rule.messageExpression ?? "")}`;
    }
    if (error instanceof CelError) return undefined;
    throw error;
  } finally {
    if (walk.budget >= 0) walk.budget -= frame.cost;
  }
}

function errorForReason(reason: string | undefined, field: string, value: unknown, detail: string): FieldError {
  switch (reason ?? "") {
    case "FieldValueForbidden":
      return forbiddenField(field, detail);
    case "FieldValueRequired":
      return required(field, detail);
    case "FieldValueDuplicate":
      return duplicate(field, value);
    default:
      return invalidValue(field, value, detail);
  }
}
