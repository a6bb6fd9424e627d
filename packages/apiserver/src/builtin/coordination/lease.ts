import { type FieldError, invalidValue, type Unstructured } from "@capstan/apimachinery";
import { AGE, column, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { at, obj, text } from "../read.ts";

/** coordination.k8s.io/v1 Lease: what leader election writes. */
export const lease = defineBuiltin({
  group: "coordination.k8s.io",
  kind: "Lease",
  namespaced: true,
  columns: [NAME, column("Holder", (o) => text(at(o, "spec", "holderIdentity"))), AGE],
  strategy: {
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    noGeneration: true,
    validate,
    validateUpdate: validate,
  },
});

function validate(object: Unstructured): FieldError[] {
  const spec = obj(object.spec);
  const errors: FieldError[] = [];
  const duration = spec.leaseDurationSeconds;
  if (typeof duration === "number" && duration <= 0)
    errors.push(invalidValue("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  const transitions = spec.leaseTransitions;
  if (typeof transitions === "number" && transitions < 0)
    errors.push(invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  return errors;
}
