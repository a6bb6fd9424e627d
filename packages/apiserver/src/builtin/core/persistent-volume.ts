import {
  compareQuantity,
  deepEqual,
  type FieldError,
  forbiddenField,
  invalidValue,
  isDns1123Subdomain,
  isObject,
  notSupported,
  parseQuantity,
  quantityValue,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import { AGE, column, NAME, wide } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { quantityOf } from "../pod/container-errors.ts";
import { sourceErrors } from "../pod/volume-errors.ts";
import { canonicalQuantities } from "../quantities.ts";
import { at, child, list, obj, setDefault, text, texts } from "../read.ts";

const SHORT_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};
const MODES = Object.keys(SHORT_MODES);

/** Access modes in the fixed order and short form of kubectl. */
function shortModes(modes: unknown): string {
  const given = new Set(texts(modes));
  return MODES.filter((m) => given.has(m))
    .map((m) => SHORT_MODES[m])
    .join(",");
}

function phase(o: Unstructured): string {
  return o.metadata.deletionTimestamp === undefined ? text(at(o, "status", "phase")) : "Terminating";
}

const quantity = (value: unknown): string => (value === undefined ? "" : String(value as string | number));
const orUnset = (value: unknown): string => (typeof value === "string" ? value : "<unset>");

/** core/v1 PersistentVolume. */
export const persistentVolume = defineBuiltin({
  group: "",
  kind: "PersistentVolume",
  shortNames: ["pv"],
  namespaced: false,
  status: true,
  columns: [
    NAME,
    column("Capacity", (o) => quantity(at(o, "spec", "capacity", "storage") ?? 0)),
    column("Access Modes", (o) => shortModes(at(o, "spec", "accessModes"))),
    column("Reclaim Policy", (o) => text(at(o, "spec", "persistentVolumeReclaimPolicy"))),
    column("Status", phase),
    column("Claim", (o) => {
      const ref = at(o, "spec", "claimRef");
      return isObject(ref) ? `${text(ref.namespace)}/${text(ref.name)}` : "";
    }),
    column("StorageClass", (o) => text(at(o, "spec", "storageClassName"))),
    column("VolumeAttributesClass", (o) => orUnset(at(o, "spec", "volumeAttributesClassName"))),
    column("Reason", (o) => text(at(o, "status", "reason"))),
    AGE,
    wide("VolumeMode", (o) => orUnset(at(o, "spec", "volumeMode"))),
  ],
  strategy: {
    noGeneration: true,
    applyDefaults: (object) => {
      const spec = child(object, "spec");
      setDefault(spec, "persistentVolumeReclaimPolicy", "Retain");
      setDefault(spec, "volumeMode", "Filesystem");
      if (isObject(spec.hostPath)) setDefault(spec.hostPath, "type", "");
      canonicalQuantities(spec.capacity);
    },
    prepareForCreate: (object) => {
      object.status = { phase: "Pending", lastPhaseTransitionTime: object.metadata.creationTimestamp };
    },
    validate: volumeErrors,
    validateUpdate: volumeUpdateErrors,
  },
});

const NOT_SOURCES = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
]);

function volumeErrors(object: Unstructured): FieldError[] {
  const spec = obj(object.spec);
  const errors = modeErrors(spec.accessModes);
  const capacity = obj(spec.capacity);
  const names = Object.keys(capacity);
  if (names.length === 0) errors.push(required("spec.capacity"));
  if (names.length !== 1 || capacity.storage === undefined)
    errors.push(notSupported("spec.capacity", spec.capacity ?? null, ["storage"]));
  for (const [name, value] of Object.entries(capacity)) {
    const amount = quantityOf(value);
    if (amount === undefined) continue;
    if (compareQuantity(amount, parseQuantity("0")) < 0)
      errors.push(invalidValue(`spec.capacity[${name}]`, quantityValue(amount), "must be a valid resource quantity"));
    if (compareQuantity(amount, parseQuantity("0")) <= 0)
      errors.push(
        invalidValue(`spec.capacity[${name}]`, String(value as string | number), "must be greater than zero"),
      );
  }
  const policy = text(spec.persistentVolumeReclaimPolicy);
  if (!RECLAIM_POLICIES.includes(policy))
    errors.push(notSupported("spec.persistentVolumeReclaimPolicy", policy, RECLAIM_POLICIES));
  errors.push(...sourceErrors(spec, "spec", NOT_SOURCES));
  if (spec.local !== undefined && spec.nodeAffinity === undefined)
    errors.push(required("spec.nodeAffinity", "Local volume requires node affinity"));
  if (!Object.keys(spec).some((key) => !NOT_SOURCES.has(key)))
    errors.push(required("spec", "must specify a volume type"));
  const storageClass = text(spec.storageClassName);
  if (storageClass !== "")
    errors.push(...isDns1123Subdomain(storageClass).map((m) => invalidValue("spec.storageClassName", storageClass, m)));
  errors.push(...volumeModeErrors(spec.volumeMode));
  return errors;
}

const RECLAIM_POLICIES = ["Delete", "Recycle", "Retain"];
const VOLUME_MODES = ["Block", "Filesystem"];

function volumeModeErrors(mode: unknown): FieldError[] {
  return VOLUME_MODES.includes(text(mode)) ? [] : [notSupported("spec.volumeMode", mode, VOLUME_MODES)];
}

function volumeUpdateErrors(object: Unstructured, old: Unstructured, subresource: string): FieldError[] {
  if (subresource !== "") return [];
  const errors = volumeErrors(object);
  if (!deepEqual(at(object, "spec", "volumeMode"), at(old, "spec", "volumeMode")))
    errors.push(invalidValue("volumeMode", at(object, "spec", "volumeMode"), "field is immutable"));
  const source = (volume: Unstructured): object =>
    Object.fromEntries(Object.entries(obj(volume.spec)).filter(([key]) => !NOT_SOURCES.has(key)));
  if (!deepEqual(source(object), source(old)))
    errors.push(
      forbiddenField("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"),
    );
  return errors;
}

function modeErrors(modes: unknown, detail = ""): FieldError[] {
  if (list(modes).length === 0) return [required("spec.accessModes", detail)];
  const errors = texts(modes)
    .filter((m) => !MODES.includes(m))
    .map((m) => notSupported("spec.accessModes", m, [...MODES].sort()));
  if (texts(modes).includes("ReadWriteOncePod") && new Set(texts(modes)).size > 1)
    errors.push(forbiddenField("spec.accessModes", "may not use ReadWriteOncePod with other access modes"));
  return errors;
}

/** core/v1 PersistentVolumeClaim. */
export const persistentVolumeClaim = defineBuiltin({
  group: "",
  kind: "PersistentVolumeClaim",
  shortNames: ["pvc"],
  namespaced: true,
  status: true,
  columns: [
    NAME,
    column("Status", phase),
    column("Volume", (o) => text(at(o, "spec", "volumeName"))),
    column("Capacity", (o) =>
      text(at(o, "spec", "volumeName")) === "" ? "" : quantity(at(o, "status", "capacity", "storage") ?? 0),
    ),
    column("Access Modes", (o) =>
      text(at(o, "spec", "volumeName")) === "" ? "" : shortModes(at(o, "status", "accessModes")),
    ),
    column("StorageClass", (o) => text(at(o, "spec", "storageClassName"))),
    column("VolumeAttributesClass", (o) => orUnset(at(o, "spec", "volumeAttributesClassName"))),
    AGE,
    wide("VolumeMode", (o) => orUnset(at(o, "spec", "volumeMode"))),
  ],
  strategy: {
    noGeneration: true,
    applyDefaults: (object) => applyClaimDefaults(object),
    prepareForCreate: (object) => {
      object.status = { phase: "Pending" };
    },
    validate: claimErrors,
    validateUpdate: claimUpdateErrors,
  },
});

/** Defaults of a claim, also of one inside a StatefulSet. */
export function applyClaimDefaults(claim: Record<string, unknown>): void {
  const spec = child(claim, "spec");
  setDefault(spec, "volumeMode", "Filesystem");
  canonicalQuantities(at(spec, "resources", "requests"));
  canonicalQuantities(at(spec, "resources", "limits"));
}

function claimErrors(object: Unstructured): FieldError[] {
  const errors = modeErrors(at(object, "spec", "accessModes"), "at least 1 access mode is required");
  const asked = at(object, "spec", "resources", "requests", "storage");
  const amount = quantityOf(asked);
  if (asked === undefined) errors.push(required("spec.resources[storage]"));
  else if (amount !== undefined && compareQuantity(amount, parseQuantity("0")) <= 0)
    errors.push(invalidValue("spec.resources[storage]", String(asked as string | number), "must be greater than zero"));
  const storageClass = text(at(object, "spec", "storageClassName"));
  if (storageClass !== "")
    errors.push(...isDns1123Subdomain(storageClass).map((m) => invalidValue("spec.storageClassName", storageClass, m)));
  errors.push(...volumeModeErrors(at(object, "spec", "volumeMode")));
  return errors;
}

const CLAIM_IMMUTABLE =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

function claimUpdateErrors(object: Unstructured, old: Unstructured, subresource: string): FieldError[] {
  if (subresource !== "") return [];
  const errors = claimErrors(object);
  const fixed = (claim: Unstructured): unknown => {
    const { resources: _resources, volumeAttributesClassName: _class, ...spec } = obj(claim.spec);
    // A binder names the volume once.
    if (text(at(old, "spec", "volumeName")) === "") delete spec.volumeName;
    return spec;
  };
  if (!deepEqual(fixed(object), fixed(old))) errors.push(forbiddenField("spec", CLAIM_IMMUTABLE));
  return errors;
}
