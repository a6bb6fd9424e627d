import { type FieldError, invalidValue, type Unstructured } from "@capstan/apimachinery";
import { AGE, column, integer, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { labelSelectorErrors } from "../label-selector-errors.ts";
import { at, num, obj } from "../read.ts";

const shown = (value: unknown): string =>
  typeof value === "number" || typeof value === "string" ? String(value) : "N/A";

/** policy/v1 PodDisruptionBudget. Its status is written by a disruption controller; without one eviction counts the pods itself. */
export const podDisruptionBudget = defineBuiltin({
  group: "policy",
  kind: "PodDisruptionBudget",
  shortNames: ["pdb"],
  namespaced: true,
  status: true,
  columns: [
    NAME,
    column("Min Available", (o) => shown(at(o, "spec", "minAvailable"))),
    column("Max Unavailable", (o) => shown(at(o, "spec", "maxUnavailable"))),
    integer("Allowed Disruptions", (o) => num(at(o, "status", "disruptionsAllowed"))),
    AGE,
  ],
  strategy: {
    allowUnconditionalUpdate: false,
    prepareForCreate: (object) => {
      object.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
    },
    validate,
  },
});

function validate(object: Unstructured): FieldError[] {
  const spec = obj(object.spec);
  const { minAvailable: min, maxUnavailable: max } = spec;
  const errors: FieldError[] = [];
  if (min !== undefined && max !== undefined) {
    // The real server prints its internal Go struct here.
    const value = {
      MinAvailable: min,
      Selector: spec.selector ?? null,
      MaxUnavailable: max,
      UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
    };
    errors.push(invalidValue("spec", value, "minAvailable and maxUnavailable cannot be both set"));
  }
  errors.push(...countOrPercentErrors(min, "spec.minAvailable"), ...countOrPercentErrors(max, "spec.maxUnavailable"));
  return [...errors, ...labelSelectorErrors(spec.selector, "spec.selector")];
}

const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

function countOrPercentErrors(value: unknown, field: string): FieldError[] {
  if (typeof value === "number")
    return value < 0 ? [invalidValue(field, value, "must be greater than or equal to 0")] : [];
  if (typeof value !== "string") return [];
  if (!/^[0-9]+%$/.test(value)) return [invalidValue(field, value, PERCENT_TEXT)];
  return Number.parseInt(value, 10) > 100 ? [invalidValue(field, value, "must not be greater than 100%")] : [];
}
