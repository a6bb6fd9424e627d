import {
  deepEqual,
  type FieldError,
  forbiddenField,
  invalidValue,
  isLabelValue,
  isQualifiedName,
  type JsonObject,
  notSupported,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import { AGE, column, NAME, wide } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { isCidr } from "../ip.ts";
import { canonicalQuantities } from "../quantities.ts";
import { at, child, list, obj, text, texts } from "../read.ts";

const ROLE_PREFIX = "node-role.kubernetes.io/";
const info = (o: Unstructured, key: string): string => text(at(o, "status", "nodeInfo", key));

/** core/v1 Node. */
export const node = defineBuiltin({
  group: "",
  kind: "Node",
  shortNames: ["no"],
  namespaced: false,
  status: true,
  columns: [
    NAME,
    column("Status", nodeStatus),
    column("Roles", roles),
    AGE,
    column("Version", (o) => info(o, "kubeletVersion")),
    wide("Internal-IP", (o) => address(o, "InternalIP")),
    wide("External-IP", (o) => address(o, "ExternalIP")),
    wide("OS-Image", (o) => info(o, "osImage") || "<unknown>"),
    wide("Kernel-Version", kernel),
    wide("Container-Runtime", (o) => info(o, "containerRuntimeVersion") || "<unknown>"),
  ],
  fieldSelectors: { "spec.unschedulable": (o) => String(at(o, "spec", "unschedulable") === true) },
  strategy: { noGeneration: true, keepStatusOnCreate: true, applyDefaults, validate, validateUpdate },
});

function nodeStatus(o: Unstructured): string {
  const ready = list(at(o, "status", "conditions")).find((c) => at(c, "type") === "Ready");
  const word = ready === undefined ? "Unknown" : at(ready, "status") === "True" ? "Ready" : "NotReady";
  return at(o, "spec", "unschedulable") === true ? `${word},SchedulingDisabled` : word;
}

function roles(o: Unstructured): string {
  const names = new Set<string>();
  for (const [key, value] of Object.entries(o.metadata.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX) && key !== ROLE_PREFIX) names.add(key.slice(ROLE_PREFIX.length));
    else if (key === "kubernetes.io/role" && value !== "") names.add(value);
  }
  return names.size === 0 ? "<none>" : [...names].sort().join(",");
}

function address(o: Unstructured, type: string): string {
  const found = list(at(o, "status", "addresses")).find((a) => at(a, "type") === type);
  return text(at(found, "address")) || "<none>";
}

/** podCIDR and podCIDRs say the same twice. */
function applyDefaults(object: Unstructured): void {
  const spec = child(object, "spec");
  const [first] = texts(spec.podCIDRs);
  const single = text(spec.podCIDR);
  if (single !== "" && first !== single) spec.podCIDRs = [single];
  if (single === "" && first !== undefined) spec.podCIDR = first;
  canonicalQuantities(at(object, "status", "capacity"));
  canonicalQuantities(at(object, "status", "allocatable"));
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function validate(object: Unstructured): FieldError[] {
  const errors = taintErrors(list(at(object, "spec", "taints")), "metadata.taints");
  texts(at(object, "spec", "podCIDRs")).forEach((cidr, i) => {
    if (!isCidr(cidr))
      errors.push(
        invalidValue(`spec.podCIDRs[${i}]`, cidr, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
      );
  });
  return errors;
}

function taintErrors(taints: readonly unknown[], path: string): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, i) => {
    const errors: FieldError[] = [];
    const [key, value, effect] = ["key", "value", "effect"].map((f) => text(at(taint, f))) as [string, string, string];
    const field = `${path}[${i}]`;
    errors.push(...isQualifiedName(key).map((m) => invalidValue(`${field}.key`, key, m)));
    errors.push(...isLabelValue(value).map((m) => invalidValue(`${field}.value`, value, m)));
    if (effect === "") errors.push(required(`${field}.effect`));
    else if (!EFFECTS.includes(effect)) errors.push(notSupported(`${field}.effect`, effect, EFFECTS));
    const pair = `${key} ${effect}`;
    if (seen.has(pair)) errors.push(duplicateTaint(field, key, value, effect));
    seen.add(pair);
    return errors;
  });
}

function duplicateTaint(field: string, key: string, value: string, effect: string): FieldError {
  const badValue = { Key: key, Value: value, Effect: effect, TimeAdded: null };
  return {
    type: "FieldValueDuplicate",
    field,
    badValue,
    detail: "taints must be unique by key and effect pair",
  };
}

function kernel(node: Unstructured): string {
  const architecture = info(node, "architecture");
  return `${info(node, "kernelVersion") || "<unknown>"}${architecture === "" ? "" : ` (${architecture})`}`;
}

function validateUpdate(object: Unstructured, old: Unstructured): FieldError[] {
  const errors = validate(object);
  const now: JsonObject = obj(object.spec);
  const before: JsonObject = obj(old.spec);
  const changed = (key: string): boolean =>
    before[key] !== undefined &&
    list(before[key]).length + text(before[key]).length > 0 &&
    !deepEqual(now[key], before[key]);
  if (changed("podCIDRs"))
    errors.push(forbiddenField("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  if (changed("providerID")) errors.push(invalidValue("spec.providerID", null, "field cannot be modified once set"));
  return errors;
}
