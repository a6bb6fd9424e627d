import {
  deepEqual,
  type FieldError,
  invalidValue,
  isObject,
  type JsonObject,
  labelSelectorFromObject,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import type { PrinterColumn } from "../../types.ts";
import { AGE, column, formatLabels, formatSelector, integer, NAME, wide } from "../columns.ts";
import { applyClaimDefaults } from "../core/persistent-volume.ts";
import { defineBuiltin } from "../define.ts";
import { labelSelectorErrors } from "../label-selector-errors.ts";
import { NOTHING_RUNS } from "../pod/pod.ts";
import { applyTemplateDefaults } from "../pod/pod-defaults.ts";
import { podTemplateErrors } from "../pod/pod-errors.ts";
import { at, child, list, num, obj, objects, setDefault, stringMap, text } from "../read.ts";

const SCALE = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".spec.selector",
};

const containers = (o: Unstructured): readonly unknown[] => list(at(o, "spec", "template", "spec", "containers"));

/** The wide columns that show what a workload runs. */
export const CONTAINER_COLUMNS: readonly PrinterColumn[] = [
  wide("Containers", (o) =>
    containers(o)
      .map((c) => text(at(c, "name")))
      .join(","),
  ),
  wide("Images", (o) =>
    containers(o)
      .map((c) => text(at(c, "image")))
      .join(","),
  ),
];

/** The wide column with the label selector. */
export const SELECTOR_COLUMN: PrinterColumn = wide("Selector", (o) => formatSelector(at(o, "spec", "selector")));

const status =
  (key: string) =>
  (o: Unstructured): number =>
    num(at(o, "status", key));
const readyOf = (o: Unstructured): string => `${status("readyReplicas")(o)}/${num(at(o, "spec", "replicas"))}`;

const shared = { group: "apps", categories: ["all"], namespaced: true, status: true, createWarning: NOTHING_RUNS };

/** apps/v1 Deployment. */
export const deployment = defineBuiltin({
  ...shared,
  kind: "Deployment",
  shortNames: ["deploy"],
  scale: SCALE,
  columns: [
    NAME,
    column("Ready", readyOf),
    column("Up-to-date", status("updatedReplicas")),
    column("Available", status("availableReplicas")),
    AGE,
    ...CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
  ],
  strategy: {
    applyDefaults: (object) => {
      const spec = child(object, "spec");
      setDefault(spec, "replicas", 1);
      applyTemplateDefaults(spec);
      rollingUpdate(spec, "strategy", { maxUnavailable: "25%", maxSurge: "25%" });
      setDefault(spec, "revisionHistoryLimit", 10);
      setDefault(spec, "progressDeadlineSeconds", 600);
    },
    prepareForCreate: emptyStatus,
    validate: (o) => workloadErrors(o, "deployment"),
    validateUpdate: (o, old) => [...workloadErrors(o, "deployment"), ...selectorChange(o, old)],
  },
});

/** apps/v1 StatefulSet. */
export const statefulSet = defineBuiltin({
  ...shared,
  kind: "StatefulSet",
  shortNames: ["sts"],
  scale: SCALE,
  columns: [NAME, column("Ready", readyOf), AGE, ...CONTAINER_COLUMNS],
  strategy: {
    applyDefaults: (object) => {
      const spec = child(object, "spec");
      setDefault(spec, "replicas", 1);
      applyTemplateDefaults(spec);
      setDefault(spec, "podManagementPolicy", "OrderedReady");
      rollingUpdate(spec, "updateStrategy", { partition: 0, maxUnavailable: 1 });
      setDefault(spec, "revisionHistoryLimit", 10);
      const retention = child(spec, "persistentVolumeClaimRetentionPolicy");
      setDefault(retention, "whenDeleted", "Retain");
      setDefault(retention, "whenScaled", "Retain");
      for (const claim of objects(spec.volumeClaimTemplates)) {
        setDefault(claim, "kind", "PersistentVolumeClaim");
        setDefault(claim, "apiVersion", "v1");
        applyClaimDefaults(claim);
        claim.status = { phase: "Pending" };
      }
    },
    prepareForCreate: (object) => {
      object.status = { replicas: 0, availableReplicas: 0 };
    },
    validate: (o) => workloadErrors(o, "statefulset"),
    validateUpdate: (o, old, subresource) => [
      ...workloadErrors(o, "statefulset"),
      ...(subresource === "" ? statefulSetChange(o, old) : []),
    ],
  },
});

/** apps/v1 DaemonSet. */
export const daemonSet = defineBuiltin({
  ...shared,
  kind: "DaemonSet",
  shortNames: ["ds"],
  columns: [
    NAME,
    integer("Desired", status("desiredNumberScheduled")),
    integer("Current", status("currentNumberScheduled")),
    integer("Ready", status("numberReady")),
    integer("Up-to-date", status("updatedNumberScheduled")),
    integer("Available", status("numberAvailable")),
    column("Node Selector", (o) => formatLabels(at(o, "spec", "template", "spec", "nodeSelector"))),
    AGE,
    ...CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
  ],
  strategy: {
    applyDefaults: (object) => {
      const spec = child(object, "spec");
      applyTemplateDefaults(spec);
      rollingUpdate(spec, "updateStrategy", { maxUnavailable: 1, maxSurge: 0 });
      setDefault(spec, "revisionHistoryLimit", 10);
      object.metadata.annotations ??= {};
      setDefault(object.metadata.annotations, "deprecated.daemonset.template.generation", "1");
    },
    prepareForCreate: (object) => {
      const zero = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
      object.status = zero;
    },
    validate: (o) => workloadErrors(o, "daemonset"),
    validateUpdate: (o, old) => [...workloadErrors(o, "daemonset"), ...selectorChange(o, old)],
  },
});

/** apps/v1 ReplicaSet. */
export const replicaSet = defineBuiltin({
  ...shared,
  kind: "ReplicaSet",
  shortNames: ["rs"],
  scale: SCALE,
  columns: [
    NAME,
    integer("Desired", (o) => num(at(o, "spec", "replicas"))),
    integer("Current", status("replicas")),
    integer("Ready", status("readyReplicas")),
    AGE,
    ...CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
  ],
  fieldSelectors: { "status.replicas": (o) => String(status("replicas")(o)) },
  strategy: {
    applyDefaults: (object) => {
      const spec = child(object, "spec");
      setDefault(spec, "replicas", 1);
      applyTemplateDefaults(spec);
    },
    prepareForCreate: (object) => {
      object.status = { replicas: 0 };
    },
    validate: (o) => workloadErrors(o, "deployment"),
    validateUpdate: (o, old) => [...workloadErrors(o, "deployment"), ...selectorChange(o, old)],
  },
});

function emptyStatus(object: Unstructured): void {
  object.status = {};
}

function rollingUpdate(spec: JsonObject, key: string, defaults: JsonObject): void {
  const strategy = child(spec, key);
  setDefault(strategy, "type", "RollingUpdate");
  if (strategy.type !== "RollingUpdate") return;
  const rolling = child(strategy, "rollingUpdate");
  for (const [name, value] of Object.entries(defaults)) setDefault(rolling, name, value);
}

function workloadErrors(object: Unstructured, word: string): FieldError[] {
  const spec = obj(object.spec);
  const errors: FieldError[] = [];
  const replicas = spec.replicas;
  if (typeof replicas === "number" && replicas < 0)
    errors.push(invalidValue("spec.replicas", replicas, "must be greater than or equal to 0"));
  const { selector } = spec;
  if (!isObject(selector)) errors.push(required("spec.selector"));
  else {
    errors.push(...labelSelectorErrors(selector, "spec.selector"));
    if (Object.keys(obj(selector.matchLabels)).length + list(selector.matchExpressions).length === 0)
      errors.push(invalidValue("spec.selector", {}, `empty selector is invalid for ${word}`));
  }
  if (errors.every((e) => e.field.startsWith("spec.replicas")) || !isObject(selector))
    errors.push(...templateLabelErrors(selector, spec.template));
  return [...errors, ...podTemplateErrors(withClaimVolumes(spec), "spec.template")];
}

/** The template with the volumes that a StatefulSet's claims become. */
function withClaimVolumes(spec: JsonObject): unknown {
  const claims = objects(spec.volumeClaimTemplates).map((claim) => {
    const name = text(at(claim, "metadata", "name"));
    return { name, persistentVolumeClaim: { claimName: name } };
  });
  if (claims.length === 0) return spec.template;
  const template = obj(spec.template);
  const podSpec = obj(template.spec);
  const own = list(podSpec.volumes).filter((volume) => !claims.some(({ name }) => name === text(at(volume, "name"))));
  return { ...template, spec: { ...podSpec, volumes: [...claims, ...own] } };
}

/** A selector that does not match the template's labels would never stop making pods. */
export function templateLabelErrors(selector: unknown, template: unknown): FieldError[] {
  const labels = at(template, "metadata", "labels");
  const matches = isObject(selector) && labelSelectorFromObject(selector).matches(stringMap(labels));
  if (matches) return [];
  return [invalidValue("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`")];
}

function selectorChange(object: Unstructured, old: Unstructured): FieldError[] {
  const selector = at(object, "spec", "selector");
  if (deepEqual(selector, at(old, "spec", "selector"))) return [];
  return [invalidValue("spec.selector", selector ?? null, "field is immutable")];
}

const STATEFUL_FIXED = ["selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy"];

function statefulSetChange(object: Unstructured, old: Unstructured): FieldError[] {
  const changed = STATEFUL_FIXED.filter((key) => !deepEqual(at(object, "spec", key), at(old, "spec", key)));
  return changed.map((key) => {
    const value = at(object, "spec", key);
    return invalidValue(`spec.${key}`, typeof value === "string" ? value : null, "field is immutable");
  });
}
