import {
  type FieldError,
  forbiddenField,
  invalidValue,
  isObject,
  notSupported,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import { at, list, num, text } from "../read.ts";

const TYPES = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const SOURCES = ["containerResource", "external", "object", "pods", "resource"];
const POSITIVE = "must be greater than 0";

/** What is wrong with an autoscaling/v2 HorizontalPodAutoscaler. */
export function autoscalerErrors(object: Unstructured): FieldError[] {
  const { spec } = object;
  const errors: FieldError[] = [];
  const min = at(spec, "minReplicas");
  const max = num(at(spec, "maxReplicas"));
  if (typeof min === "number" && min < 0)
    errors.push(invalidValue("spec.minReplicas", min, "must be greater than or equal to 0"));
  if (typeof min === "number" && max < min)
    errors.push(invalidValue("spec.maxReplicas", max, "must be greater than or equal to `minReplicas`"));
  errors.push(...referenceErrors(at(spec, "scaleTargetRef"), "spec.scaleTargetRef"));
  const ref = text(at(spec, "scaleTargetRef", "apiVersion"));
  if (!ref.includes("/"))
    errors.push(invalidValue("spec.scaleTargetRef.apiVersion", ref, "apiVersion must specify API group"));
  const metrics = list(at(spec, "metrics"));
  metrics.forEach((metric, i) => errors.push(...metricErrors(metric, `spec.metrics[${i}]`)));
  if (min === 0 && !metrics.some((m) => ["Object", "External"].includes(text(at(m, "type")))))
    errors.push(
      forbiddenField(
        "spec.metrics",
        "must specify at least one Object or External metric to support scaling to zero replicas",
      ),
    );
  for (const direction of ["scaleUp", "scaleDown"])
    errors.push(...rulesErrors(at(spec, "behavior", direction), `spec.behavior.${direction}`));
  if (max === 0) errors.push(required("spec.maxReplicas"));
  else if (max < 0) errors.push(invalidValue("spec.maxReplicas", max, "must be greater than or equal to 1"));
  return errors;
}

function referenceErrors(reference: unknown, path: string): FieldError[] {
  return ["kind", "name"].flatMap((field): FieldError[] => {
    const value = text(at(reference, field));
    if (value === "") return [required(`${path}.${field}`)];
    const problem = [".", ".."].includes(value)
      ? `may not be '${value}'`
      : ["/", "%"].filter((c) => value.includes(c)).map((c) => `may not contain '${c}'`)[0];
    return problem === undefined ? [] : [invalidValue(`${path}.${field}`, value, problem)];
  });
}

function metricErrors(metric: unknown, path: string): FieldError[] {
  const type = text(at(metric, "type"));
  if (type === "") return [required(`${path}.type`, "must specify a metric source type")];
  if (!TYPES.includes(type)) return [notSupported(`${path}.type`, type, TYPES)];
  const source = SOURCES[TYPES.indexOf(type)] ?? "";
  const value = at(metric, source);
  if (!isObject(value)) return [required(`${path}.${source}`, "must populate information for the given metric source")];
  const at_ = `${path}.${source}`;
  const target = at(value, "target");
  if (source === "resource" || source === "containerResource") {
    const errors = text(at(value, "name")) === "" ? [required(`${at_}.name`, "must specify a resource name")] : [];
    if (source === "containerResource" && text(at(value, "container")) === "")
      errors.push(required(`${at_}.container`, "must specify a container"));
    return [...errors, ...resourceTargetErrors(target, `${at_}.target`)];
  }
  const errors = source === "object" ? referenceErrors(at(value, "describedObject"), `${at_}.describedObject`) : [];
  if (text(at(value, "metric", "name")) === "")
    errors.push(required(`${at_}.metric.name`, "must specify a metric name"));
  const average = at(target, "averageValue");
  if (source === "pods") {
    if (average === undefined)
      errors.push(required(`${at_}.target.averageValue`, "must specify a positive target averageValue"));
  } else if (average === undefined && at(target, "value") === undefined)
    errors.push(required(`${at_}.target.averageValue`, "must set either a target value or averageValue"));
  return errors;
}

function resourceTargetErrors(target: unknown, path: string): FieldError[] {
  const used = at(target, "averageUtilization");
  const average = at(target, "averageValue");
  const errors: FieldError[] = [];
  if (typeof used === "number" && used < 1) errors.push(invalidValue(`${path}.averageUtilization`, used, POSITIVE));
  if (used === undefined && average === undefined)
    errors.push(required(`${path}.averageUtilization`, "must set either a target raw value or a target utilization"));
  if (used !== undefined && average !== undefined)
    errors.push(forbiddenField(`${path}.averageValue`, "may not set both a target raw value and a target utilization"));
  return errors;
}

function rulesErrors(rules: unknown, path: string): FieldError[] {
  if (!isObject(rules)) return [];
  const errors: FieldError[] = [];
  const window = at(rules, "stabilizationWindowSeconds");
  if (typeof window === "number" && window < 0)
    errors.push(invalidValue(`${path}.stabilizationWindowSeconds`, window, "must be greater than or equal to zero"));
  if (typeof window === "number" && window > 3600)
    errors.push(invalidValue(`${path}.stabilizationWindowSeconds`, window, "must be less than or equal to 3600"));
  const select = text(at(rules, "selectPolicy"));
  if (!["Disabled", "Max", "Min"].includes(select))
    errors.push(notSupported(`${path}.selectPolicy`, select, ["Disabled", "Max", "Min"]));
  const policies = list(at(rules, "policies"));
  if (policies.length === 0) errors.push(required(`${path}.policies`, "must specify at least one Policy"));
  policies.forEach((policy, i) => errors.push(...policyErrors(policy, `${path}.policies[${i}]`)));
  return errors;
}

function policyErrors(policy: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = text(at(policy, "type"));
  if (!["Percent", "Pods"].includes(type)) errors.push(notSupported(`${path}.type`, type, ["Percent", "Pods"]));
  const value = num(at(policy, "value"));
  if (value <= 0) errors.push(invalidValue(`${path}.value`, value, "must be greater than zero"));
  const period = num(at(policy, "periodSeconds"));
  if (period <= 0) errors.push(invalidValue(`${path}.periodSeconds`, period, "must be greater than zero"));
  if (period > 1800) errors.push(invalidValue(`${path}.periodSeconds`, period, "must be less than or equal to 1800"));
  return errors;
}
