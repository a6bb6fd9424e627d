import {
  deepEqual,
  type FieldError,
  forbiddenField,
  isObject,
  type JsonObject,
  type Unstructured,
} from "@capstan/apimachinery";
import { defineBuiltin } from "../define.ts";
import { evict } from "../policy/eviction.ts";
import { at, child, list, obj, objects, setDefault, text } from "../read.ts";
import { bindPod } from "./pod-binding.ts";
import { POD_COLUMNS } from "./pod-columns.ts";
import { applyPodSpecDefaults, copyLimitsToRequests } from "./pod-defaults.ts";
import { podSpecErrors } from "./pod-errors.ts";

/** The warning at every create of a kind that needs a kubelet or a workload controller to run. */
export const NOTHING_RUNS =
  "this API server stores the object but runs no workloads: no scheduler, kubelet or workload controller is attached to it";

/** core/v1 Pod. Stored only; eviction honours PodDisruptionBudgets. */
export const pod = defineBuiltin({
  group: "",
  kind: "Pod",
  shortNames: ["po"],
  categories: ["all"],
  namespaced: true,
  status: true,
  subresources: [
    { name: "binding", kind: "Binding", verbs: ["create"], handle: bindPod },
    { name: "eviction", kind: "Eviction", group: "policy", version: "v1", verbs: ["create"], handle: evict },
  ],
  columns: POD_COLUMNS,
  fieldSelectors: {
    "spec.nodeName": (o) => text(at(o, "spec", "nodeName")),
    "spec.host": (o) => text(at(o, "spec", "nodeName")),
    "spec.restartPolicy": (o) => text(at(o, "spec", "restartPolicy")),
    "spec.schedulerName": (o) => text(at(o, "spec", "schedulerName")),
    "spec.serviceAccountName": (o) => text(at(o, "spec", "serviceAccountName")),
    "spec.hostNetwork": (o) => String(at(o, "spec", "hostNetwork") === true),
    "status.phase": (o) => text(at(o, "status", "phase")),
    "status.podIP": (o) => text(at(list(at(o, "status", "podIPs"))[0], "ip")),
    "status.podIPs": (o) => text(at(list(at(o, "status", "podIPs"))[0], "ip")),
    "status.nominatedNodeName": (o) => text(at(o, "status", "nominatedNodeName")),
  },
  strategy: {
    applyDefaults,
    prepareForCreate,
    prepareForUpdate,
    validate: (o) => podSpecErrors(o.spec, "spec"),
    validateUpdate,
  },
  createWarning: NOTHING_RUNS,
});

function applyDefaults(object: Unstructured): void {
  const spec = child(object, "spec");
  applyPodSpecDefaults(spec);
  copyLimitsToRequests(spec);
  setDefault(spec, "enableServiceLinks", true);
}

const TOLERATIONS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** What the real server's default admission plugins add, and the first status. */
function prepareForCreate(object: Unstructured): void {
  const spec = child(object, "spec");
  setDefault(spec, "priority", 0);
  setDefault(spec, "preemptionPolicy", "PreemptLowerPriority");
  const tolerations = [...list(spec.tolerations)];
  for (const key of TOLERATIONS)
    if (!tolerations.some((t) => tolerates(t, key)))
      tolerations.push({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
  spec.tolerations = tolerations;
  object.status = { phase: "Pending", qosClass: qosClass(spec) };
}

function tolerates(toleration: unknown, key: string): boolean {
  const own = text(at(toleration, "key"));
  const effect = text(at(toleration, "effect"));
  return (own === key || own === "") && (effect === "NoExecute" || effect === "");
}

function qosClass(spec: JsonObject): string {
  let some = false;
  let all = true;
  for (const container of [...objects(spec.containers), ...objects(spec.initContainers)]) {
    const requests = obj(at(container, "resources", "requests"));
    const limits = obj(at(container, "resources", "limits"));
    if (Object.keys(requests).length + Object.keys(limits).length > 0) some = true;
    for (const name of ["cpu", "memory"])
      if (limits[name] === undefined || !deepEqual(limits[name], requests[name])) all = false;
  }
  if (!some) return "BestEffort";
  return all ? "Guaranteed" : "Burstable";
}

/** Fields that a create fills are kept when an update leaves them out. */
function prepareForUpdate(object: Unstructured, old: Unstructured, subresource: string): void {
  if (subresource !== "") return;
  const spec = child(object, "spec");
  for (const key of ["priority", "preemptionPolicy", "tolerations", "nodeName"]) {
    const before = at(old, "spec", key);
    if (before !== undefined) setDefault(spec, key, before);
  }
}

const IMMUTABLE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function validateUpdate(object: Unstructured, old: Unstructured, subresource: string): FieldError[] {
  if (subresource !== "") return [];
  const errors = podSpecErrors(object.spec, "spec");
  if (!deepEqual(fixedPart(object, old), fixedPart(old, old))) errors.push(forbiddenField("spec", IMMUTABLE));
  return errors;
}

/** The spec without what may change. A node may be named once, as through the binding subresource: an external scheduler may use either. */
function fixedPart(pod: Unstructured, old: Unstructured): JsonObject {
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, ...spec } = obj(pod.spec);
  if (text(at(old, "spec", "nodeName")) === "") delete spec.nodeName;
  for (const key of ["containers", "initContainers"])
    if (Array.isArray(spec[key]))
      spec[key] = list(spec[key]).map((c) => (isObject(c) ? { ...c, image: "", imagePullPolicy: "" } : c));
  return spec;
}
