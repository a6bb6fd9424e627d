import { isObject } from "@capstan/apimachinery";
import {
  type Codec,
  type ConversionRule,
  computed,
  OLD_CONDITIONS,
  object,
  oldOnly,
  optional,
  recode,
  string,
} from "@capstan/capi";

const text = { type: "string" } as const;
const FIELDS = ["apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid"];

/** corev1.ObjectReference to a Secret in v1beta1, its name and namespace in v1beta2. */
const secretReference: Codec = {
  up: (old) => (isObject(old) ? pick(old, ["name", "namespace"]) : undefined),
  down: (value) => (isObject(value) ? { kind: "Secret", ...pick(value, ["name", "namespace"]) } : undefined),
  canonical: (old) => (isObject(old) ? { kind: "Secret", ...old } : old),
  schema: () => ({
    type: "object",
    properties: Object.fromEntries(FIELDS.map((name) => [name, text])),
    "x-kubernetes-map-type": "atomic",
  }),
};

const machineReference = object({
  apiVersion: optional(string()),
  kind: optional(string()),
  namespace: optional(string()),
  name: optional(string()),
  uid: optional(string()),
});

/** Conversion rules for v1beta1 of a ByoHost, which differs in references, the claim, conditions and the uninstallation script. */
export const BYO_HOST_V1BETA1: readonly ConversionRule[] = [
  recode("spec.bootstrapSecret", secretReference),
  recode("spec.installationSecret", secretReference),
  oldOnly("spec.uninstallationScript", string()),
  computed("status.machineRef", machineReference, (stored) => {
    const spec = isObject(stored) ? stored["spec"] : undefined;
    return isObject(spec) ? spec["machineRef"] : undefined;
  }),
  ...OLD_CONDITIONS,
];

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}
