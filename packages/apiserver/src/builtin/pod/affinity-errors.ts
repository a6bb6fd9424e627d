import {
  type FieldError,
  forbiddenField,
  invalidValue,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isObject,
  isQualifiedName,
  required,
} from "@capstan/apimachinery";
import { labelSelectorErrors } from "../label-selector-errors.ts";
import { at, list, num, obj, text, texts } from "../read.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

/** What is wrong with the affinity of a PodSpec. */
export function affinityErrors(affinity: unknown, path: string): FieldError[] {
  return [
    ...nodeAffinityErrors(at(affinity, "nodeAffinity"), `${path}.nodeAffinity`),
    ...podAffinityErrors(at(affinity, "podAffinity"), `${path}.podAffinity`),
    ...podAffinityErrors(at(affinity, "podAntiAffinity"), `${path}.podAntiAffinity`),
  ];
}

function nodeAffinityErrors(affinity: unknown, path: string): FieldError[] {
  const must = at(affinity, REQUIRED);
  const errors = isObject(must) ? nodeSelectorErrors(must, `${path}.${REQUIRED}`) : [];
  list(at(affinity, PREFERRED)).forEach((wish, i) => {
    const here = `${path}.${PREFERRED}[${i}]`;
    // What is only preferred may name values that no label can have.
    errors.push(...weightErrors(wish, here), ...termErrors(at(wish, "preference"), `${here}.preference`, false));
  });
  return errors;
}

function nodeSelectorErrors(selector: unknown, path: string): FieldError[] {
  const terms = list(at(selector, "nodeSelectorTerms"));
  if (terms.length === 0) return [required(`${path}.nodeSelectorTerms`, "must have at least one node selector term")];
  return terms.flatMap((term, i) => termErrors(term, `${path}.nodeSelectorTerms[${i}]`, true));
}

function termErrors(term: unknown, path: string, strict: boolean): FieldError[] {
  return [
    ...list(at(term, "matchExpressions")).flatMap((e, i) =>
      labelRuleErrors(e, `${path}.matchExpressions[${i}]`, strict),
    ),
    ...list(at(term, "matchFields")).flatMap((e, i) => fieldRuleErrors(e, `${path}.matchFields[${i}]`)),
  ];
}

function labelRuleErrors(rule: unknown, path: string, strict: boolean): FieldError[] {
  const operator = text(at(rule, "operator"));
  const values = texts(at(rule, "values"));
  const errors = operatorErrors(operator, values.length, path);
  const key = text(at(rule, "key"));
  errors.push(...isQualifiedName(key).map((m) => invalidValue(`${path}.key`, key, m)));
  if (strict)
    values.forEach((value, i) => {
      errors.push(...isLabelValue(value).map((m) => invalidValue(`${path}.values[${i}]`, value, m)));
    });
  return errors;
}

function operatorErrors(operator: string, count: number, path: string): FieldError[] {
  switch (operator) {
    case "In":
    case "NotIn":
      return count > 0 ? [] : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      if (count === 0) return [];
      return [forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case "Gt":
    case "Lt":
      if (count === 1) return [];
      return [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalidValue(`${path}.operator`, operator, "not a valid selector operator")];
  }
}

/** Nodes can be chosen by one field alone, their name. */
function fieldRuleErrors(rule: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const operator = text(at(rule, "operator"));
  const values = texts(at(rule, "values"));
  if (operator !== "In" && operator !== "NotIn")
    errors.push(invalidValue(`${path}.operator`, operator, "not a valid selector operator"));
  else if (values.length !== 1)
    errors.push(
      required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"),
    );
  const key = text(at(rule, "key"));
  if (key !== "metadata.name") errors.push(invalidValue(`${path}.key`, key, "not a valid field selector key"));
  else
    values.forEach((value, i) => {
      errors.push(...isDns1123Subdomain(value).map((m) => invalidValue(`${path}.values[${i}]`, value, m)));
    });
  return errors;
}

function podAffinityErrors(affinity: unknown, path: string): FieldError[] {
  const errors = list(at(affinity, REQUIRED)).flatMap((term, i) => podTermErrors(term, `${path}.${REQUIRED}[${i}]`));
  list(at(affinity, PREFERRED)).forEach((wish, i) => {
    const here = `${path}.${PREFERRED}[${i}]`;
    errors.push(...weightErrors(wish, here), ...podTermErrors(at(wish, "podAffinityTerm"), `${here}.podAffinityTerm`));
  });
  return errors;
}

function weightErrors(wish: unknown, path: string): FieldError[] {
  const weight = num(at(wish, "weight"));
  return weight >= 1 && weight <= 100 ? [] : [invalidValue(`${path}.weight`, weight, "must be in the range 1-100")];
}

function podTermErrors(term: unknown, path: string): FieldError[] {
  const errors = [
    ...labelSelectorErrors(at(term, "labelSelector"), `${path}.labelSelector`),
    ...labelSelectorErrors(at(term, "namespaceSelector"), `${path}.namespaceSelector`),
  ];
  for (const name of texts(at(term, "namespaces")))
    errors.push(...isDns1123Label(name).map((m) => invalidValue(`${path}.namespace`, name, m)));
  errors.push(...labelKeyErrors(term, path));
  const key = text(at(term, "topologyKey"));
  if (key === "") errors.push(required(`${path}.topologyKey`, "can not be empty"));
  errors.push(...isQualifiedName(key).map((m) => invalidValue(`${path}.topologyKey`, key, m)));
  return errors;
}

/** Errors in matchLabelKeys and mismatchLabelKeys next to a label selector. */
export function labelKeyErrors(term: unknown, path: string): FieldError[] {
  const selector = at(term, "labelSelector");
  const match = texts(at(term, "matchLabelKeys"));
  const mismatch = texts(at(term, "mismatchLabelKeys"));
  const errors: FieldError[] = [];
  for (const [field, keys] of [["matchLabelKeys", match] as const, ["mismatchLabelKeys", mismatch] as const]) {
    if (keys.length === 0) continue;
    if (selector === undefined)
      errors.push(forbiddenField(`${path}.${field}`, "must not be specified when labelSelector is not set"));
    else
      keys.forEach((key, i) => {
        errors.push(...isQualifiedName(key).map((m) => invalidValue(`${path}.${field}[${i}]`, key, m)));
      });
  }
  // A Pod's own labels were merged into the selector before: a key that appears twice was specified twice.
  const seen = new Set(Object.keys(obj(at(selector, "matchLabels"))));
  for (const expression of list(at(selector, "matchExpressions"))) {
    const key = text(at(expression, "key"));
    const i = match.lastIndexOf(key);
    if (i >= 0 && seen.has(key))
      errors.push(invalidValue(`${path}[${i}]`, key, "exists in both matchLabelKeys and labelSelector"));
    seen.add(key);
  }
  match.forEach((key, i) => {
    if (mismatch.includes(key))
      errors.push(
        invalidValue(`${path}.matchLabelKeys[${i}]`, key, "exists in both matchLabelKeys and mismatchLabelKeys"),
      );
  });
  return errors;
}
