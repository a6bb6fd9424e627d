import { type FieldError, forbiddenField, invalidValue, notSupported, type Unstructured } from "@capstan/apimachinery";
import { AGE, column, integer, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { num, setDefault, text } from "../read.ts";

const HIGHEST = 1_000_000_000;
const SYSTEM = new Map([
  ["system-node-critical", 2_000_001_000],
  ["system-cluster-critical", 2_000_000_000],
]);
const POLICIES = ["PreemptLowerPriority", "Never"];

/** scheduling.k8s.io/v1 PriorityClass. */
export const priorityClass = defineBuiltin({
  group: "scheduling.k8s.io",
  kind: "PriorityClass",
  plural: "priorityclasses",
  shortNames: ["pc"],
  namespaced: false,
  columns: [
    NAME,
    integer("Value", (o) => num(o.value)),
    { name: "Global-Default", type: "boolean", value: (o) => o.globalDefault === true },
    AGE,
    column("PreemptionPolicy", (o) => text(o.preemptionPolicy)),
  ],
  strategy: {
    applyDefaults: (object) => setDefault(object, "preemptionPolicy", "PreemptLowerPriority"),
    validate,
    validateUpdate,
  },
});

function validate(object: Unstructured): FieldError[] {
  const errors: FieldError[] = [];
  const name = text(object.metadata.name);
  if (name.startsWith("system-")) {
    if (SYSTEM.get(name) !== object.value)
      errors.push(
        forbiddenField(
          "metadata.name",
          `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
        ),
      );
  } else if (num(object.value) > HIGHEST)
    errors.push(forbiddenField("value", `maximum allowed value of a user defined priority is ${HIGHEST}`));
  const policy = text(object.preemptionPolicy);
  if (!POLICIES.includes(policy)) errors.push(notSupported("preemptionPolicy", policy, POLICIES));
  return errors;
}

function validateUpdate(object: Unstructured, old: Unstructured): FieldError[] {
  const errors: FieldError[] = [];
  if (num(object.value) !== num(old.value)) errors.push(forbiddenField("value", "may not be changed in an update."));
  if (object.preemptionPolicy !== old.preemptionPolicy)
    errors.push(invalidValue("preemptionPolicy", object.preemptionPolicy, "field is immutable"));
  return errors;
}
