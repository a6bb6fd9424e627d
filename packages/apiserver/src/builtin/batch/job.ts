import {
  deepEqual,
  type FieldError,
  formatAge,
  invalidValue,
  isObject,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import { CONTAINER_COLUMNS, SELECTOR_COLUMN, templateLabelErrors } from "../apps/workloads.ts";
import { AGE, column, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { NOTHING_RUNS } from "../pod/pod.ts";
import { applyTemplateDefaults } from "../pod/pod-defaults.ts";
import { podTemplateErrors } from "../pod/pod-errors.ts";
import { at, child, list, num, obj, setDefault, text } from "../read.ts";

/** batch/v1 Job. */
export const job = defineBuiltin({
  group: "batch",
  kind: "Job",
  categories: ["all"],
  namespaced: true,
  status: true,
  columns: [
    NAME,
    column("Status", jobStatus),
    column("Completions", completions),
    column("Duration", duration),
    AGE,
    ...CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
  ],
  fieldSelectors: { "status.successful": (o) => String(num(at(o, "status", "succeeded"))) },
  strategy: {
    applyDefaults,
    prepareForCreate,
    validate,
    validateUpdate: (o, old, subresource) => [...validate(o), ...(subresource === "" ? changes(o, old) : [])],
  },
  createWarning: NOTHING_RUNS,
});

const STATES = [
  ["Complete", "Complete"],
  ["Failed", "Failed"],
] as const;
const LATER_STATES = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];

function jobStatus(o: Unstructured): string {
  const has = (type: string): boolean =>
    list(at(o, "status", "conditions")).some((c) => at(c, "type") === type && at(c, "status") === "True");
  for (const [type, word] of STATES) if (has(type)) return word;
  if (o.metadata.deletionTimestamp !== undefined) return "Terminating";
  return LATER_STATES.find(has) ?? "Running";
}

function completions(o: Unstructured): string {
  const succeeded = num(at(o, "status", "succeeded"));
  const wanted = at(o, "spec", "completions");
  if (typeof wanted === "number") return `${succeeded}/${wanted}`;
  const parallelism = num(at(o, "spec", "parallelism"));
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function duration(o: Unstructured, nowMs: number): string {
  const start = Date.parse(text(at(o, "status", "startTime")));
  if (Number.isNaN(start)) return "";
  const end = Date.parse(text(at(o, "status", "completionTime")));
  return formatAge((Number.isNaN(end) ? nowMs : end) - start);
}

function applyDefaults(object: Unstructured): void {
  const spec = child(object, "spec");
  // The server asks for a policy instead of choosing Always, which no Job may have.
  const policy = at(spec, "template", "spec", "restartPolicy");
  applyTemplateDefaults(spec);
  if (policy === undefined) child(child(spec, "template"), "spec")["restartPolicy"] = "";
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  setDefault(spec, "parallelism", 1);
  setDefault(spec, "backoffLimit", 6);
  setDefault(spec, "completionMode", "NonIndexed");
  setDefault(spec, "suspend", false);
  setDefault(spec, "manualSelector", false);
  setDefault(spec, "podReplacementPolicy", isObject(spec.podFailurePolicy) ? "Failed" : "TerminatingOrFailed");
}

/** Labels and selector by the Job's own uid, unless it brings a selector. */
function prepareForCreate(object: Unstructured): void {
  object.status = {};
  const spec = child(object, "spec");
  const { uid, name } = object.metadata;
  if (spec.manualSelector === true || uid === undefined || name === undefined) return;
  const labels = {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  const template = child(child(spec, "template"), "metadata");
  template.labels = { ...obj(template.labels), ...labels };
  object.metadata.labels ??= { ...labels };
  spec.selector = { matchLabels: { "batch.kubernetes.io/controller-uid": uid } };
}

const COUNTS = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];

function validate(object: Unstructured): FieldError[] {
  const spec = obj(object.spec);
  const errors: FieldError[] = [];
  for (const field of COUNTS) {
    const value = spec[field];
    if (typeof value === "number" && value < 0)
      errors.push(invalidValue(`spec.${field}`, value, "must be greater than or equal to 0"));
  }
  if (spec.selector === undefined) errors.push(required("spec.selector"));
  else errors.push(...templateLabelErrors(spec.selector, spec.template));
  const policy = text(at(spec, "template", "spec", "restartPolicy"));
  const template = podTemplateErrors(spec.template, "spec.template");
  const field = "spec.template.spec.restartPolicy";
  errors.push(...template.filter((e) => e.field !== field));
  if (policy === "" || policy === "Always") errors.push(required(field, 'valid values: "OnFailure", "Never"'));
  else if (policy !== "OnFailure" && policy !== "Never")
    errors.push({
      type: "FieldValueNotSupported",
      field,
      badValue: policy,
      detail: 'supported values: "OnFailure", "Never"',
    });
  return errors;
}

function changes(object: Unstructured, old: Unstructured): FieldError[] {
  return ["completions", "selector", "template", "completionMode"]
    .filter((field) => !deepEqual(at(object, "spec", field), at(old, "spec", field)))
    .map((field) => invalidValue(`spec.${field}`, at(object, "spec", field) ?? null, "field is immutable"));
}
