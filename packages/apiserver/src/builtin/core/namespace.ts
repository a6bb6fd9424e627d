import { type FieldError, invalidValue, isObject, isQualifiedName, type Unstructured } from "@capstan/apimachinery";
import { AGE, column, NAME } from "../columns.ts";
import { ALL_VERBS, defineBuiltin } from "../define.ts";
import { at, child, text, texts } from "../read.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";

/** core/v1 Namespace. Deleting one is finished by the namespace controller through the `finalize` subresource. */
export const namespace = defineBuiltin({
  group: "",
  kind: "Namespace",
  shortNames: ["ns"],
  namespaced: false,
  verbs: ALL_VERBS.filter((v) => v !== "deletecollection"),
  status: true,
  subresources: [{ name: "finalize", kind: "Namespace", verbs: ["update"], keeps: [["status"]] }],
  columns: [NAME, column("Status", (o) => text(at(o, "status", "phase"))), AGE],
  fieldSelectors: { "status.phase": (o) => text(at(o, "status", "phase")), name: (o) => text(o.metadata.name) },
  strategy: {
    noGeneration: true,
    nameRule: "dns-label",
    applyDefaults: nameLabel,
    prepareForCreate,
    prepareForUpdate,
    extraFinalizers: (o) => texts(at(o, "spec", "finalizers")),
    prepareForDelete: (o) => {
      child(o, "status")["phase"] = "Terminating";
    },
    validate: finalizerErrors,
    validateUpdate,
  },
});

/** The label by which namespace selectors name a namespace cannot be chosen. */
function nameLabel(object: Unstructured): void {
  const { name } = object.metadata;
  if (name === undefined || name === "") return;
  object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: name };
}

function prepareForCreate(object: Unstructured): void {
  nameLabel(object);
  const spec = child(object, "spec");
  const finalizers = texts(spec.finalizers);
  spec.finalizers = finalizers.includes("kubernetes") ? finalizers : [...finalizers, "kubernetes"];
  object.status = { phase: "Active" };
}

/** spec.finalizers change only through the `finalize` subresource. */
function prepareForUpdate(object: Unstructured, old: Unstructured, subresource: string): void {
  if (subresource !== "finalize" && isObject(old.spec)) object.spec = { ...old.spec };
}

function finalizerErrors(object: Unstructured): FieldError[] {
  const path = "spec.finalizers";
  return texts(at(object, "spec", "finalizers")).flatMap((name) => {
    const errors = isQualifiedName(name).map((m) => invalidValue(path, name, m));
    if (errors.length === 0 && !name.includes("/") && name !== "kubernetes")
      errors.push(invalidValue(path, name, "name is neither a standard finalizer name nor is it fully qualified"));
    return errors;
  });
}

function validateUpdate(object: Unstructured, _old: Unstructured, subresource: string): FieldError[] {
  const errors = finalizerErrors(object);
  if (subresource !== "status") return errors;
  const phase = text(at(object, "status", "phase"));
  const deleted = object.metadata.deletionTimestamp !== undefined;
  if (!deleted && phase !== "Active")
    errors.push(invalidValue("status.phase", phase, "may only be 'Active' if `deletionTimestamp` is empty"));
  if (deleted && phase !== "Terminating")
    errors.push(invalidValue("status.phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty"));
  return errors;
}
