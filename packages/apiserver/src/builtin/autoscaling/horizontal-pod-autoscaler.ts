import { deepCopy, type JsonObject, type Unstructured } from "@capstan/apimachinery";
import type { PrinterColumn } from "../../types.ts";
import { AGE, column, NAME } from "../columns.ts";
import { type BuiltinSpec, defineBuiltin } from "../define.ts";
import { NOTHING_RUNS } from "../pod/pod.ts";
import { at, child, list, num, setDefault, text } from "../read.ts";
import { autoscalerErrors } from "./horizontal-pod-autoscaler-errors.ts";
import { fromV1, toV1 } from "./horizontal-pod-autoscaler-v1.ts";

/** The metric that counts when none is named. */
const CPU = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } };
const UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const DOWN = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

function applyDefaults(object: Unstructured): void {
  const spec = child(object, "spec");
  setDefault(spec, "minReplicas", 1);
  if (list(spec["metrics"]).length === 0) spec["metrics"] = [deepCopy(CPU)];
  if (at(spec, "behavior") === undefined) return;
  for (const [direction, defaults] of [
    ["scaleUp", UP],
    ["scaleDown", DOWN],
  ] as const) {
    const rules = child(child(spec, "behavior"), direction);
    for (const [key, value] of Object.entries(defaults)) setDefault(rules, key, deepCopy(value));
  }
}

const isV1 = (o: Unstructured): boolean => o.apiVersion === "autoscaling/v1";
const newest = (o: Unstructured): Unstructured => (isV1(o) ? fromV1(o) : o);

/** `cpu: 40%/70%` for every metric, the first two in full. */
function targets(o: Unstructured): string {
  const object = newest(o);
  const metrics = list(at(object, "spec", "metrics"));
  const current = list(at(object, "status", "currentMetrics"));
  if (metrics.length === 0) return "<none>";
  const shown = metrics.slice(0, 2).map((metric, i) => targetOf(metric, current[i]));
  return shown.join(", ") + (metrics.length > 2 ? ` + ${metrics.length - 2} more...` : "");
}

const SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

function targetOf(metric: unknown, current: unknown): string {
  const source = SOURCES[text(at(metric, "type"))];
  if (source === undefined) return "<unknown type>";
  const target = at(metric, source, "target") as JsonObject | undefined;
  const now = at(current, source, "current") as JsonObject | undefined;
  const resource = source === "resource" || source === "containerResource";
  const name = resource ? `${text(at(metric, source, "name"))}: ` : "";
  const average = text(at(target, "averageValue"));
  if (average !== "") {
    const suffix = resource || source === "pods" ? "" : " (avg)";
    return `${name}${text(at(now, "averageValue")) || "<unknown>"}/${average}${suffix}`;
  }
  if (!resource) return `${text(at(now, "value")) || "<unknown>"}/${text(at(target, "value"))}`;
  const used = at(now, "averageUtilization");
  return `${name}${typeof used === "number" ? `${used}%` : "<unknown>"}/${num(at(target, "averageUtilization"))}%`;
}

const COLUMNS: readonly PrinterColumn[] = [
  NAME,
  column(
    "Reference",
    (o) => `${text(at(o, "spec", "scaleTargetRef", "kind"))}/${text(at(o, "spec", "scaleTargetRef", "name"))}`,
  ),
  column("Targets", targets),
  column("MinPods", (o) =>
    at(o, "spec", "minReplicas") === undefined ? "<unset>" : String(at(o, "spec", "minReplicas")),
  ),
  column("MaxPods", (o) => num(at(o, "spec", "maxReplicas"))),
  column("Replicas", (o) => num(at(o, "status", "currentReplicas"))),
  AGE,
];

const shared: Omit<BuiltinSpec, "strategy"> = {
  group: "autoscaling",
  kind: "HorizontalPodAutoscaler",
  shortNames: ["hpa"],
  categories: ["all"],
  namespaced: true,
  status: true,
  createWarning: NOTHING_RUNS,
  columns: COLUMNS,
};

/** autoscaling/v2 HorizontalPodAutoscaler. */
export const horizontalPodAutoscaler = defineBuiltin({
  ...shared,
  version: "v2",
  strategy: {
    applyDefaults,
    prepareForCreate: (object) => {
      object.status = { desiredReplicas: 0, currentMetrics: null };
    },
    validate: autoscalerErrors,
  },
});

/** autoscaling/v1 HorizontalPodAutoscaler, stored as v2. */
export const oldHorizontalPodAutoscaler = defineBuiltin({
  ...shared,
  strategy: {
    applyDefaults: (object) => {
      const spec = child(object, "spec");
      setDefault(spec, "minReplicas", 1);
      // Only without other metrics, which v1 keeps in an annotation.
      if (list(at(fromV1(object), "spec", "metrics")).length === 0)
        setDefault(spec, "targetCPUUtilizationPercentage", 80);
    },
    prepareForCreate: (object) => {
      object.status = { currentReplicas: 0, desiredReplicas: 0 };
    },
    validate: (object) => autoscalerErrors(fromV1(object)),
  },
  storedAs: {
    group: "autoscaling",
    version: "v2",
    plural: "horizontalpodautoscalers",
    toStorage: fromV1,
    fromStorage: toV1,
  },
});
