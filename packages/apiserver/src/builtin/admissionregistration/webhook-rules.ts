import { type FieldError, invalidValue, notSupported, required } from "@capstan/apimachinery";
import { at, text, texts } from "../read.ts";

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];

/** What is wrong with one rule of an admission webhook. */
export function webhookRuleErrors(rule: unknown, path: string): FieldError[] {
  const operations = texts(at(rule, "operations"));
  const errors = listErrors(operations, `${path}.operations`, "operations");
  operations.forEach((operation, i) => {
    if (!OPERATIONS.includes(operation)) errors.push(notSupported(`${path}.operations[${i}]`, operation, OPERATIONS));
  });
  errors.push(...listErrors(texts(at(rule, "apiGroups")), `${path}.apiGroups`, "API groups"));
  const versions = texts(at(rule, "apiVersions"));
  errors.push(...listErrors(versions, `${path}.apiVersions`, "API versions"));
  versions.forEach((v, i) => {
    if (v === "") errors.push(required(`${path}.apiVersions[${i}]`));
  });
  errors.push(...resourceErrors(texts(at(rule, "resources")), `${path}.resources`));
  const scope = at(rule, "scope");
  if (scope !== undefined && !SCOPES.includes(text(scope))) errors.push(notSupported(`${path}.scope`, scope, SCOPES));
  return errors;
}

function listErrors(values: readonly string[], field: string, noun: string): FieldError[] {
  if (values.length === 0) return [required(field)];
  if (values.length > 1 && values.includes("*"))
    return [invalidValue(field, values, `if '*' is present, must not specify other ${noun}`)];
  return [];
}

/** `x/*` and `*` + `/y` swallow others; naming both is most likely a mistake. */
function resourceErrors(resources: readonly string[], field: string): FieldError[] {
  if (resources.length === 0) return [required(field)];
  const errors: FieldError[] = [];
  const wholeResources = new Set<string>();
  const everywhere = new Set<string>();
  resources.forEach((entry, i) => {
    if (entry === "") errors.push(required(`${field}[${i}]`));
    const slash = entry.indexOf("/");
    if (slash < 0) return;
    const [resource, sub] = [entry.slice(0, slash), entry.slice(slash + 1)];
    if (wholeResources.has(resource))
      errors.push(invalidValue(`${field}[${i}]`, entry, `if '${resource}/*' is present, must not specify ${entry}`));
    if (everywhere.has(sub))
      errors.push(invalidValue(`${field}[${i}]`, entry, `if '*/${sub}' is present, must not specify ${entry}`));
    if (sub === "*") wholeResources.add(resource);
    if (resource === "*") everywhere.add(sub);
  });
  if (resources.length > 1 && resources.includes("*/*"))
    errors.push(invalidValue(field, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes("*") && resources.some((r) => r !== "*" && r !== "" && !r.includes("/")))
    errors.push(
      invalidValue(field, resources, "if '*' is present, must not specify other resources without subresources"),
    );
  return errors;
}
