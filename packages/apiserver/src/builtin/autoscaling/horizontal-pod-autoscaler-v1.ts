import { isObject, type JsonObject, type Unstructured } from "@capstan/apimachinery";
import { at, list, num, obj, text } from "../read.ts";

/** Annotations in which autoscaling/v1 keeps what it has no fields for. */
const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const CURRENT = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
const BEHAVIOR = `${PREFIX}behavior`;

/** v1's names of a target and of a current value, by the source they belong to. */
interface Names {
  readonly source: string;
  readonly value?: string;
  readonly averageValue: string;
  readonly averageUtilization?: string;
}

const target = (source: string): Names => ({
  source,
  ...(source === "object" || source === "external" ? { value: "targetValue" } : {}),
  averageValue: source === "object" ? "averageValue" : "targetAverageValue",
  ...(source === "resource" || source === "containerResource"
    ? { averageUtilization: "targetAverageUtilization" }
    : {}),
});

const current = (source: string): Names => ({
  source,
  ...(source === "object" || source === "external" ? { value: "currentValue" } : {}),
  averageValue: source === "object" ? "averageValue" : "currentAverageValue",
  ...(source === "resource" || source === "containerResource"
    ? { averageUtilization: "currentAverageUtilization" }
    : {}),
});

const SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

/** An autoscaling/v1 object as v2. */
export function fromV1(object: Unstructured): Unstructured {
  const { targetCPUUtilizationPercentage: cpu, ...spec } = obj(object.spec);
  const { currentCPUUtilizationPercentage: used, currentReplicas = 0, ...status } = obj(object.status);
  const annotations = { ...object.metadata.annotations };
  const kept = (name: string): unknown => {
    const value = annotations[name];
    delete annotations[name];
    return value === undefined ? undefined : parsed(value);
  };
  const metrics = list(kept(METRICS)).map((m) => toV2Metric(m, "target"));
  if (typeof cpu === "number")
    metrics.push({
      type: "Resource",
      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: cpu } },
    });
  const seen = kept(CURRENT);
  const currentMetrics = list(seen).map((m) => toV2Metric(m, "current"));
  if (typeof used === "number" && currentMetrics.length === 0)
    currentMetrics.push({
      type: "Resource",
      resource: { name: "cpu", current: { averageValue: "0", averageUtilization: used } },
    });
  const conditions = kept(CONDITIONS);
  const behavior = kept(BEHAVIOR);
  const { annotations: _given, ...metadata } = object.metadata;
  return {
    ...object,
    apiVersion: "autoscaling/v2",
    metadata: { ...metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: {
      ...spec,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(isObject(behavior) ? { behavior: recased(behavior, lower) } : {}),
    },
    ...(object.status === undefined
      ? {}
      : {
          status: {
            ...status,
            ...(num(currentReplicas) === 0 ? {} : { currentReplicas }),
            currentMetrics: currentMetrics.length === 0 ? null : currentMetrics,
            ...(Array.isArray(conditions) ? { conditions } : {}),
          },
        }),
  };
}

/** An autoscaling/v2 object as v1. */
export function toV1(object: Unstructured): Unstructured {
  const { metrics, behavior, ...spec } = obj(object.spec);
  const { currentMetrics, conditions, ...status } = obj(object.status);
  const isCpu = (m: unknown): boolean =>
    at(m, "type") === "Resource" &&
    at(m, "resource", "name") === "cpu" &&
    typeof at(m, "resource", "target", "averageUtilization") === "number";
  const cpu = list(metrics).find(isCpu);
  const others = list(metrics).filter((m) => m !== cpu);
  const used = list(currentMetrics).find((m) => at(m, "type") === "Resource" && at(m, "resource", "name") === "cpu");
  const utilization = at(used, "resource", "current", "averageUtilization");
  const annotations: Record<string, string> = { ...object.metadata.annotations };
  const keep = (name: string, value: unknown): void => {
    annotations[name] = JSON.stringify(value);
  };
  if (others.length > 0)
    keep(
      METRICS,
      others.map((m) => toV1Metric(m, "target")),
    );
  if (list(currentMetrics).length > 0)
    keep(
      CURRENT,
      list(currentMetrics).map((m) => toV1Metric(m, "current")),
    );
  if (list(conditions).length > 0) keep(CONDITIONS, conditions);
  if (isObject(behavior)) keep(BEHAVIOR, goBehavior(behavior));
  return {
    ...object,
    apiVersion: "autoscaling/v1",
    metadata: { ...object.metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: {
      ...spec,
      ...(cpu === undefined
        ? {}
        : { targetCPUUtilizationPercentage: at(cpu, "resource", "target", "averageUtilization") }),
    },
    ...(object.status === undefined
      ? {}
      : {
          status: {
            ...status,
            currentReplicas: num(status["currentReplicas"]),
            desiredReplicas: num(status["desiredReplicas"]),
            ...(typeof utilization === "number" ? { currentCPUUtilizationPercentage: utilization } : {}),
          },
        }),
  };
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    // Annotations are anybody's text: what is none of ours is dropped, as upstream does.
    return undefined;
  }
}

function toV2Metric(metric: unknown, side: "target" | "current"): JsonObject {
  const type = text(at(metric, "type"));
  const source = SOURCES[type];
  if (source === undefined) return { type };
  const names = side === "target" ? target(source) : current(source);
  const given = obj(at(metric, source));
  const { metricName, selector, metricSelector, target: described, ...rest } = given;
  const values: JsonObject = {};
  for (const key of ["value", "averageValue", "averageUtilization"] as const) {
    const old = names[key];
    if (old === undefined || given[old] === undefined) continue;
    values[key] = given[old];
    delete rest[old];
  }
  if (side === "target") values["type"] = targetType(values);
  const labels = selector ?? metricSelector;
  return {
    type,
    [source]: {
      ...rest,
      ...(described === undefined ? {} : { describedObject: described }),
      ...(metricName === undefined ? {} : { metric: { name: metricName, selector: labels } }),
      [side]: values,
    },
  };
}

function targetType(values: JsonObject): string {
  if (values["averageUtilization"] !== undefined) return "Utilization";
  return values["averageValue"] !== undefined ? "AverageValue" : "Value";
}

function toV1Metric(metric: unknown, side: "target" | "current"): JsonObject {
  const type = text(at(metric, "type"));
  const source = SOURCES[type];
  if (source === undefined) return { type };
  const names = side === "target" ? target(source) : current(source);
  const { metric: named, describedObject, [side]: values, ...rest } = obj(at(metric, source));
  const out: JsonObject = { ...rest };
  if (describedObject !== undefined) out["target"] = describedObject;
  if (named !== undefined) {
    out["metricName"] = at(named, "name");
    const selector = at(named, "selector");
    if (selector !== undefined) out[source === "external" ? "metricSelector" : "selector"] = selector;
  }
  for (const key of ["averageUtilization", "value", "averageValue"] as const) {
    const value = at(values, key);
    const old = names[key];
    if (old !== undefined && value !== undefined) out[old] = value;
  }
  return { type, [source]: out };
}

const lower = (key: string): string => key.charAt(0).toLowerCase() + key.slice(1);

function recased(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => recased(item, rename));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[rename(key), recased(inner, rename)]])),
  );
}

/** The annotation holds Go's internal form, whose fields are all there and begin with capitals. */
function goBehavior(behavior: JsonObject): JsonObject {
  const rules = (value: unknown): JsonObject | null =>
    isObject(value)
      ? {
          StabilizationWindowSeconds: value["stabilizationWindowSeconds"] ?? null,
          SelectPolicy: value["selectPolicy"] ?? null,
          Policies: list(value["policies"]).map((policy) => ({
            Type: at(policy, "type"),
            Value: at(policy, "value"),
            PeriodSeconds: at(policy, "periodSeconds"),
          })),
          Tolerance: value["tolerance"] ?? null,
        }
      : null;
  return { ScaleUp: rules(behavior["scaleUp"]), ScaleDown: rules(behavior["scaleDown"]) };
}
