import {
  deepEqual,
  type FieldError,
  forbiddenField,
  invalidValue,
  isDns1123Subdomain,
  notSupported,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import { AGE, column, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { at, obj, setDefault, text } from "../read.ts";

const RECLAIM = ["Delete", "Retain"];
const BINDING = ["Immediate", "WaitForFirstConsumer"];

/** storage.k8s.io/v1 StorageClass. */
export const storageClass = defineBuiltin({
  group: "storage.k8s.io",
  kind: "StorageClass",
  plural: "storageclasses",
  shortNames: ["sc"],
  namespaced: false,
  columns: [
    NAME,
    column("Provisioner", (o) => text(o.provisioner)),
    column("ReclaimPolicy", (o) => text(o.reclaimPolicy) || "Delete"),
    column("VolumeBindingMode", (o) => text(o.volumeBindingMode) || "<unset>"),
    column("AllowVolumeExpansion", (o) => o.allowVolumeExpansion === true),
    AGE,
  ],
  strategy: {
    noGeneration: true,
    applyDefaults: (object) => {
      setDefault(object, "reclaimPolicy", "Delete");
      setDefault(object, "volumeBindingMode", "Immediate");
    },
    validate: classErrors,
    validateUpdate: (object, old) => [...classErrors(object), ...classChanges(object, old)],
  },
});

function classErrors(object: Unstructured): FieldError[] {
  const errors: FieldError[] = [];
  if (text(object.provisioner) === "") errors.push(required("provisioner"));
  const policy = text(object.reclaimPolicy);
  if (!RECLAIM.includes(policy)) errors.push(notSupported("reclaimPolicy", policy, RECLAIM));
  const mode = text(object.volumeBindingMode);
  if (!BINDING.includes(mode)) errors.push(notSupported("volumeBindingMode", mode, BINDING));
  return errors;
}

function classChanges(object: Unstructured, old: Unstructured): FieldError[] {
  const changed = (field: string): boolean => !deepEqual(object[field] ?? null, old[field] ?? null);
  return ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"]
    .filter(changed)
    .map((field) => invalidValue(field, null, "field is immutable"));
}

/** storage.k8s.io/v1 VolumeAttachment. */
export const volumeAttachment = defineBuiltin({
  group: "storage.k8s.io",
  kind: "VolumeAttachment",
  namespaced: false,
  status: true,
  columns: [
    NAME,
    { ...column("Attacher", (o) => text(at(o, "spec", "attacher"))), format: "name" },
    column("PV", (o) => text(at(o, "spec", "source", "persistentVolumeName"))),
    column("Node", (o) => text(at(o, "spec", "nodeName"))),
    { name: "Attached", type: "boolean", value: (o) => at(o, "status", "attached") === true },
    AGE,
  ],
  strategy: {
    allowUnconditionalUpdate: false,
    noGeneration: true,
    prepareForCreate: (object) => {
      object.status = { attached: false };
    },
    validate: attachmentErrors,
    validateUpdate: (object, old) => [...attachmentErrors(object), ...attachmentChanges(object, old)],
  },
});

function attachmentErrors(object: Unstructured): FieldError[] {
  const spec = obj(object.spec);
  const errors: FieldError[] = [];
  const attacher = text(spec.attacher);
  const { source } = spec;
  const given = ["inlineVolumeSpec", "persistentVolumeName"].filter((key) => at(source, key) !== undefined);
  if (given.length === 0)
    errors.push(required("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName"));
  if (given.length === 2)
    errors.push(forbiddenField("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName"));
  const name = text(spec.nodeName);
  errors.push(...isDns1123Subdomain(name).map((m) => invalidValue("spec.nodeName", name, m)));
  if (attacher === "") errors.push(required("spec.attacher"));
  else
    errors.push(...isDns1123Subdomain(attacher.toLowerCase()).map((m) => invalidValue("spec.attacher", attacher, m)));
  return errors;
}

function attachmentChanges(object: Unstructured, old: Unstructured): FieldError[] {
  return deepEqual(object.spec, old.spec) ? [] : [invalidValue("spec", null, "field is immutable")];
}
