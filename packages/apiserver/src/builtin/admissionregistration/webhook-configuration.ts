import {
  duplicate,
  type FieldError,
  invalidValue,
  isDns1035Label,
  isDns1123Subdomain,
  isObject,
  isQualifiedName,
  notSupported,
  required,
  tooMany,
  type Unstructured,
} from "@capstan/apimachinery";
import { matchConditionProblem } from "../../admission/match-condition.ts";
import { AGE, integer, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { labelSelectorErrors } from "../label-selector-errors.ts";
import { at, list, objects, setDefault, text, texts } from "../read.ts";
import { webhookRuleErrors } from "./webhook-rules.ts";

const VERSIONS = ["v1", "v1beta1"];
const SIDE_EFFECTS = ["None", "NoneOnDryRun"];
const MAX_MATCH_CONDITIONS = 64;

/** admissionregistration.k8s.io/v1 MutatingWebhookConfiguration. */
export const mutatingWebhookConfiguration = configuration("MutatingWebhookConfiguration", true);

/** admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration. */
export const validatingWebhookConfiguration = configuration("ValidatingWebhookConfiguration", false);

function configuration(kind: string, mutating: boolean): ReturnType<typeof defineBuiltin> {
  return defineBuiltin({
    group: "admissionregistration.k8s.io",
    kind,
    categories: ["api-extensions"],
    namespaced: false,
    columns: [NAME, integer("Webhooks", (o) => list(o.webhooks).length), AGE],
    strategy: {
      allowUnconditionalUpdate: false,
      applyDefaults: (object) => applyDefaults(object, mutating),
      judgeAhead: judgeConditions,
      validate,
    },
  });
}

/** What judgeConditions found, by condition. */
const judged = new WeakMap<object, string | undefined>();
/** Compiling that many characters takes some milliseconds. */
const CHARACTERS_AT_ONCE = 10_000;

/** Compiles the match conditions of a large configuration in pieces; `validate` finds the outcome. */
async function judgeConditions(object: Unstructured, pause: () => Promise<void>): Promise<void> {
  let characters = 0;
  for (const hook of objects(object.webhooks))
    for (const condition of objects(hook.matchConditions).slice(0, MAX_MATCH_CONDITIONS)) {
      const expression = text(condition.expression).trim();
      if (expression === "") continue;
      judged.set(condition, matchConditionProblem(expression));
      // A short one costs as much as its surroundings.
      characters += expression.length + 200;
      if (characters < CHARACTERS_AT_ONCE) continue;
      characters = 0;
      await pause();
    }
}

function problemOf(condition: unknown, expression: string): string | undefined {
  return isObject(condition) && judged.has(condition) ? judged.get(condition) : matchConditionProblem(expression);
}

function applyDefaults(object: Unstructured, mutating: boolean): void {
  for (const hook of objects(object.webhooks)) {
    setDefault(hook, "failurePolicy", "Fail");
    setDefault(hook, "matchPolicy", "Equivalent");
    setDefault(hook, "namespaceSelector", {});
    setDefault(hook, "objectSelector", {});
    setDefault(hook, "timeoutSeconds", 10);
    if (mutating) setDefault(hook, "reinvocationPolicy", "Never");
    for (const rule of objects(hook.rules)) setDefault(rule, "scope", "*");
    const service = at(hook, "clientConfig", "service");
    if (isObject(service)) setDefault(service, "port", 443);
  }
}

function validate(object: Unstructured): FieldError[] {
  const names = new Set<string>();
  return list(object.webhooks).flatMap((hook, i) => {
    const path = `webhooks[${i}]`;
    const name = text(at(hook, "name"));
    const errors = webhookErrors(hook, path);
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    return errors;
  });
}

function webhookErrors(hook: unknown, path: string): FieldError[] {
  const errors = nameErrors(text(at(hook, "name")), `${path}.name`);
  list(at(hook, "rules")).forEach((rule, i) => errors.push(...webhookRuleErrors(rule, `${path}.rules[${i}]`)));
  const choice = (field: string, allowed: readonly string[]): void => {
    const value = at(hook, field);
    if (value !== undefined && !allowed.includes(text(value)))
      errors.push(notSupported(`${path}.${field}`, value, allowed));
  };
  choice("failurePolicy", ["Fail", "Ignore"]);
  choice("matchPolicy", ["Equivalent", "Exact"]);
  if (at(hook, "sideEffects") === undefined)
    errors.push(required(`${path}.sideEffects`, `must specify one of ${SIDE_EFFECTS.join(", ")}`));
  choice("sideEffects", SIDE_EFFECTS);
  const timeout = at(hook, "timeoutSeconds");
  if (typeof timeout === "number" && (timeout > 30 || timeout < 1))
    errors.push(invalidValue(`${path}.timeoutSeconds`, timeout, "the timeout value must be between 1 and 30 seconds"));
  errors.push(...labelSelectorErrors(at(hook, "namespaceSelector"), `${path}.namespaceSelector`));
  errors.push(...labelSelectorErrors(at(hook, "objectSelector"), `${path}.objectSelector`));
  choice("reinvocationPolicy", ["IfNeeded", "Never"]);
  errors.push(...clientConfigErrors(at(hook, "clientConfig"), `${path}.clientConfig`));
  errors.push(...matchConditionErrors(list(at(hook, "matchConditions")), `${path}.matchConditions`));
  errors.push(...versionErrors(texts(at(hook, "admissionReviewVersions")), `${path}.admissionReviewVersions`));
  return errors;
}

function nameErrors(name: string, field: string): FieldError[] {
  if (name === "") return [required(field)];
  const errors = isDns1123Subdomain(name).map((m) => invalidValue(field, name, m));
  if (errors.length === 0 && name.split(".").length < 3)
    errors.push(invalidValue(field, name, "should be a domain with at least three segments separated by dots"));
  return errors;
}

function clientConfigErrors(config: unknown, path: string): FieldError[] {
  const url = at(config, "url");
  const service = at(config, "service");
  if ((url === undefined) === (service === undefined))
    return [required(path, "exactly one of url or service is required")];
  if (url !== undefined) return urlErrors(text(url), `${path}.url`);
  const errors: FieldError[] = [];
  for (const key of ["name", "namespace"])
    if (text(at(service, key)) === "") errors.push(required(`${path}.service.${key}`));
  const port = at(service, "port");
  if (typeof port === "number" && (port < 1 || port > 65535))
    errors.push(
      invalidValue(`${path}.service.port`, port, "port is not valid: must be between 1 and 65535, inclusive"),
    );
  return errors;
}

function matchConditionErrors(conditions: readonly unknown[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > MAX_MATCH_CONDITIONS) return [tooMany(path, conditions.length, MAX_MATCH_CONDITIONS)];
  const names = new Set<string>();
  conditions.forEach((condition, i) => {
    const expression = text(at(condition, "expression")).trim();
    const name = text(at(condition, "name"));
    const problem = expression === "" ? undefined : problemOf(condition, expression);
    if (expression === "") errors.push(required(`${path}[${i}].expression`));
    else if (problem !== undefined) errors.push(invalidValue(`${path}[${i}].expression`, expression, problem));
    if (name === "") errors.push(required(`${path}[${i}].name`));
    else errors.push(...isQualifiedName(name).map((m) => invalidValue(`${path}[${i}].name`, name, m)));
    if (name !== "" && names.has(name)) errors.push(duplicate(`${path}[${i}].name`, name));
    names.add(name);
  });
  return errors;
}

const FORM = "; desired format: https://host[/path]";

function urlErrors(value: string, field: string): FieldError[] {
  if (!URL.canParse(value)) return [required(field, `url must be a valid URL${FORM}`)];
  const url = new URL(value);
  const errors: FieldError[] = [];
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== "https") errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (url.host === "") errors.push(invalidValue(field, url.host, `host must be specified${FORM}`));
  if (url.username !== "" || url.password !== "")
    errors.push(invalidValue(field, url.username, `user information is not permitted in the URL${FORM}`));
  if (url.hash !== "") errors.push(invalidValue(field, url.hash.slice(1), "fragments are not permitted in the URL"));
  if (url.search !== "")
    errors.push(invalidValue(field, url.search.slice(1), "query parameters are not permitted in the URL"));
  return errors;
}

function versionErrors(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field, `must specify one of ${VERSIONS.join(", ")}`)];
  const errors: FieldError[] = [];
  versions.forEach((v, i) => {
    if (versions.indexOf(v) < i) errors.push(invalidValue(`${field}[${i}]`, v, "duplicate version"));
    else errors.push(...isDns1035Label(v).map((m) => invalidValue(`${field}[${i}]`, v, m)));
  });
  if (!versions.some((v) => VERSIONS.includes(v)))
    errors.push(invalidValue(field, versions, `must include at least one of ${VERSIONS.join(", ")}`));
  return errors;
}
