import { declOf } from "../cel/decl.ts";
import { compileRule } from "../cel/rules.ts";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../field-error.ts";
import { GoText, goJson } from "../go-text.ts";
import { NODES_AT_ONCE, type Steps } from "../steps.ts";
import { normalizeFieldPath } from "./field-path.ts";
import { nodeOf } from "./node.ts";
import { propertyPath } from "./structural-invariants.ts";
import { checkListExtensions } from "./structural-lists.ts";
import type { JSONSchemaProps } from "./types.ts";

const RULE_COST_LIMIT = 10_000_000;
const MAX_REQUEST = 3 * 1024 * 1024;
const MAX_UINT = 2 ** 64;
const RULES_AT_ONCE = 20;
/** Of a rule in an error. */
const MAX_SHOWN = 64 * 1024;
const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const REASONS = ["FieldValueRequired", "FieldValueInvalid", "FieldValueForbidden", "FieldValueDuplicate"];

/** Adds up what the rules of a schema may cost. */
export class CostBook {
  total = 0;
  readonly #expensive: { path: string; cost: number }[] = [];

  observe(path: string, cost: number): void {
    this.total = Math.min(this.total + cost, MAX_UINT);
    if (cost >= 1_000_000) this.#expensive.push({ path, cost });
  }

  /** The four rules that cost most. */
  mostExpensive(): string[] {
    return this.#expensive
      .sort((a, b) => b.cost - a.cost)
      .slice(0, 4)
      .map(({ path }) => path);
  }
}

/** How often a node can occur in one object, undefined when nothing limits it. */
interface RuleContext {
  readonly cardinality: number | undefined;
  readonly costs: CostBook;
  readonly root: boolean;
}

/** The context of the root, which occurs once. */
export function rootContext(_schema: JSONSchemaProps, costs: CostBook): RuleContext {
  return { cardinality: 1, costs, root: true };
}

interface Surroundings {
  readonly root: boolean;
  readonly defaultsForbidden?: string;
  readonly insideMeta: boolean;
  /** The path above which old and new values cannot be matched. */
  readonly uncorrelatable?: string;
}

/** Errors about keywords and errors about rules; the latter come after the former. */
export interface OpenApiErrors {
  readonly schemaErrors: FieldError[];
  readonly celErrors: FieldError[];
}

/** Checks keywords and, when a context is given, compiles rules and estimates their cost. */
export function* checkOpenApi(
  schema: JSONSchemaProps,
  path: string,
  context: RuleContext | undefined,
): Steps<OpenApiErrors> {
  return yield* visit(schema, path, { root: true, insideMeta: false }, context);
}

function* visit(
  schema: JSONSchemaProps,
  path: string,
  around: Surroundings,
  context: RuleContext | undefined,
): Steps<OpenApiErrors> {
  const out: OpenApiErrors = { schemaErrors: keywordErrors(schema, path, around), celErrors: [] };
  const add = (more: OpenApiErrors): void => {
    out.schemaErrors.push(...more.schemaErrors);
    out.celErrors.push(...more.celErrors);
  };
  const inside: Surroundings = { ...around, root: false };
  const child = childContext(schema, context);
  if (schema.uniqueItems === true) {
    out.schemaErrors.push(
      forbiddenField(
        `${path}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  }
  if (schema.additionalProperties !== undefined) {
    if (Object.keys(schema.properties ?? {}).length > 0 && schema.additionalProperties !== true) {
      out.schemaErrors.push(
        forbiddenField(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
      );
    }
    if (typeof schema.additionalProperties === "object") {
      const below = around.insideMeta
        ? { ...inside, defaultsForbidden: "inside additionalProperties applying to object metadata" }
        : inside;
      add(yield* visit(schema.additionalProperties, `${path}.additionalProperties`, below, child));
    }
  }
  let nodes = 0;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (++nodes % NODES_AT_ONCE === 0) yield;
    const resource = around.root || schema["x-kubernetes-embedded-resource"] === true;
    const meta = resource && ["metadata", "kind", "apiVersion"].includes(name);
    const below: Surroundings = {
      ...inside,
      insideMeta: around.insideMeta || meta,
      ...(meta && around.root ? { defaultsForbidden: `in top-level ${name}` } : {}),
    };
    add(yield* visit(property, propertyPath(path, name), below, child));
  }
  if (schema.not !== undefined) add(yield* visit(schema.not, `${path}.not`, inside, undefined));
  for (const junctor of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [i, part] of (schema[junctor] ?? []).entries())
      add(yield* visit(part, `${path}.${junctor}[${i}]`, inside, undefined));
  }
  if (schema.items !== undefined && !Array.isArray(schema.items)) {
    const below =
      schema["x-kubernetes-list-type"] === "map" || inside.uncorrelatable !== undefined
        ? inside
        : { ...inside, uncorrelatable: path };
    add(yield* visit(schema.items, `${path}.items`, below, child));
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    out.schemaErrors.push(
      invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"),
    );
  }
  out.schemaErrors.push(...checkListExtensions(schema, path), ...ruleTextErrors(schema, path));
  if (out.schemaErrors.length === 0 && context !== undefined) {
    out.celErrors.push(...(yield* ruleErrors(schema, path, around, context)));
  }
  return out;
}

function childContext(schema: JSONSchemaProps, context: RuleContext | undefined): RuleContext | undefined {
  if (context === undefined) return undefined;
  let factor: number | undefined = 1;
  if (schema.type === "array") factor = schema.maxItems === undefined ? undefined : Math.max(schema.maxItems, 0);
  else if (schema.type === "object" && schema.additionalProperties !== undefined) {
    factor = schema.maxProperties === undefined ? undefined : Math.max(schema.maxProperties, 0);
  }
  const cardinality =
    context.cardinality === undefined || factor === undefined
      ? undefined
      : Math.min(context.cardinality * factor, MAX_UINT);
  return { ...context, cardinality, root: false };
}

function keywordErrors(schema: JSONSchemaProps, path: string, around: Surroundings): FieldError[] {
  const errors: FieldError[] = [];
  const type = schema.type ?? "";
  if (type !== "" && !TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, TYPES));
  if (schema.default !== undefined && around.defaultsForbidden !== undefined) {
    errors.push(forbiddenField(`${path}.default`, `must not be set ${around.defaultsForbidden}`));
  }
  for (const key of ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] as const) {
    // Empty maps and texts are nothing in Go.
    if (isGiven(schema[key])) errors.push(forbiddenField(`${path}.${key}`, `${key} is not supported`));
  }
  if (type === "null") {
    errors.push(forbiddenField(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  }
  if (Array.isArray(schema.items))
    errors.push(forbiddenField(`${path}.items`, "items must be a schema object and not an array"));
  if (around.insideMeta && schema["x-kubernetes-embedded-resource"] === true) {
    errors.push(forbiddenField(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
  }
  return errors;
}

function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

const LINE_BREAK = /[\n\r]/;

function ruleTextErrors(schema: JSONSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  schema["x-kubernetes-validations"]?.forEach((rule, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const text = rule.rule.trim();
    const message = (rule.message ?? "").trim();
    if (text === "") errors.push(required(`${at}.rule`, "rule is not specified"));
    else if ((rule.message ?? "") !== "" && message === "") {
      errors.push(invalidValue(`${at}.message`, rule.message, "must be non-empty if specified"));
    } else if (LINE_BREAK.test(message)) {
      errors.push(invalidValue(`${at}.message`, rule.message, "must not contain line breaks"));
    } else if (LINE_BREAK.test(text) && message === "") {
      errors.push(required(`${at}.message`, "message must be specified if rule contains line breaks"));
    }
    if ((rule.messageExpression ?? "") !== "" && (rule.messageExpression ?? "").trim() === "") {
      errors.push(required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"));
    }
    if (rule.reason !== undefined && !REASONS.includes(rule.reason)) {
      errors.push(notSupported(`${at}.reason`, rule.reason, [...REASONS].sort()));
    }
    const fieldPath = rule.fieldPath ?? "";
    if (fieldPath === "") return;
    if (fieldPath.trim() === "")
      errors.push(invalidValue(`${at}.fieldPath`, fieldPath, "must be non-empty if specified"));
    if (LINE_BREAK.test(fieldPath))
      errors.push(invalidValue(`${at}.fieldPath`, fieldPath, "must not contain line breaks"));
    if (normalizeFieldPath(fieldPath, schema) === undefined) {
      errors.push(invalidValue(`${at}.fieldPath`, fieldPath, "must be a valid path"));
    }
  });
  return errors;
}

function* ruleErrors(
  schema: JSONSchemaProps,
  path: string,
  around: Surroundings,
  context: RuleContext,
): Steps<FieldError[]> {
  const rules = schema["x-kubernetes-validations"];
  if (rules === undefined || rules.length === 0) return [];
  const errors: FieldError[] = [];
  const node = nodeOf(schema);
  const decl = declOf(node, context.root || node.embedded);
  if (decl === undefined) {
    const detail =
      "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
    return [{ type: "InternalError", field: `${path}.x-kubernetes-validations`, detail }];
  }
  const cardinality = context.cardinality ?? Math.floor(MAX_REQUEST / (decl.minSize + 1));
  for (const [i, rule] of rules.entries()) {
    // Compiling takes its time.
    if (i % RULES_AT_ONCE === 0) yield;
    const compiled = compileRule(rule, decl);
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const cost = Math.min(compiled.maxCost * cardinality, MAX_UINT);
    if (cost > RULE_COST_LIMIT)
      errors.push(forbiddenField(`${at}.rule`, costMessage("estimated rule cost", cost, RULE_COST_LIMIT)));
    context.costs.observe(`${at}.rule`, cost);
    if (compiled.error !== undefined) errors.push(invalidValue(`${at}.rule`, shownRule(rule), compiled.error));
    if (compiled.messageError !== undefined)
      errors.push(invalidValue(`${at}.messageExpression`, shownRule(rule), compiled.messageError));
    else if (compiled.message !== undefined) {
      if (compiled.messageMaxCost > RULE_COST_LIMIT) {
        const detail = costMessage("estimated messageExpression cost", compiled.messageMaxCost, RULE_COST_LIMIT);
        errors.push(forbiddenField(`${at}.messageExpression`, detail));
      }
      context.costs.observe(`${at}.messageExpression`, compiled.messageMaxCost);
    }
    if (compiled.usesOldSelf) {
      if (around.uncorrelatable !== undefined) {
        const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${around.uncorrelatable}`;
        errors.push(invalidValue(`${at}.rule`, compiled.rule.rule, detail));
      }
    } else if (compiled.rule.optionalOldSelf !== undefined) {
      const detail = "may not be set if oldSelf is not used in rule";
      errors.push(invalidValue(`${at}.optionalOldSelf`, compiled.rule.optionalOldSelf, detail));
    }
  }
  return errors;
}

/** The rule as the internal Go type prints it in an error. */
function shownRule(rule: {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}): GoText {
  const fields: readonly (readonly [string, unknown])[] = [
    ["Rule", rule.rule.slice(0, MAX_SHOWN)],
    ["Message", rule.message ?? ""],
    ["MessageExpression", rule.messageExpression ?? ""],
    ["Reason", rule.reason ?? null],
    ["FieldPath", rule.fieldPath ?? ""],
    ["OptionalOldSelf", rule.optionalOldSelf ?? null],
  ];
  return new GoText(`{${fields.map(([name, value]) => `"${name}":${goJson(value)}`).join(",")}}`);
}

/** How far a cost is above its limit. */
export function costMessage(name: string, cost: number, limit: number): string {
  const times = cost / limit;
  const factor = times > 100 ? "more than 100x" : times < 1.5 ? `${times.toFixed(6)}x` : `${times.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
