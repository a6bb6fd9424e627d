import {
  ApiError,
  badRequest,
  deepEqual,
  type JsonObject,
  labelSelectorFromObject,
  notFound,
  type Unstructured,
} from "@capstan/apimachinery";
import { type DeleteOptions, parseDeleteOptions } from "../../server/query-options.ts";
import type { InternalApi, SubresourceHandler } from "../../types.ts";
import { at, child, list, num, obj, text } from "../read.ts";

const PODS = { group: "", plural: "pods" };
const BUDGETS = { group: "policy", plural: "poddisruptionbudgets" };

/** POST …/pods/x/eviction: deletes the pod unless a PodDisruptionBudget forbids it (429, as kubectl drain expects). */
export async function evict(request: Parameters<SubresourceHandler>[0]): ReturnType<SubresourceHandler> {
  const { api, namespace, name, body } = request;
  if (text(body.metadata.name) !== name) throw badRequest("name in URL does not match name in Eviction object");
  const { dryRun, preconditions, propagationPolicy } = deleteOptionsOf(body, request.dryRun);
  const pod = api.get(PODS, namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pods" }, name);
  const budget = needsBudget(pod) ? budgetOf(api, pod) : undefined;
  if (budget !== undefined) await takeDisruption(api, budget, dryRun);
  await api.delete(PODS, namespace, name, {
    propagationPolicy: propagationPolicy ?? "Background",
    preconditions,
    dryRun,
    // As upstream: admission sees the creation of the Eviction, made by the caller, and not a deletion.
    admitted: true,
  });
  return { status: 201, object: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}

/** The options of the deletion. As upstream, the parameter and the body may both ask for a dry run, and must not contradict each other. */
function deleteOptionsOf(body: Unstructured, asked: boolean): DeleteOptions {
  const given = obj(body["deleteOptions"]);
  const dryRun = list(given["dryRun"]);
  if (asked && dryRun.length > 0 && !deepEqual(dryRun, ["All"]))
    throw new ApiError({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `Non-matching dry-run options in request and content: [All] and [${dryRun.join(" ")}]`,
      code: 500,
    });
  const options = parseDeleteOptions(new URLSearchParams(), given);
  return { ...options, dryRun: asked || options.dryRun };
}

/** Pods that are finished, pending or terminating may be evicted at any time. */
function needsBudget(pod: Unstructured): boolean {
  const phase = text(at(pod, "status", "phase"));
  return !["Succeeded", "Failed", "Pending"].includes(phase) && pod.metadata.deletionTimestamp === undefined;
}

function budgetOf(api: InternalApi, pod: Unstructured): Unstructured | undefined {
  const matching = api.list(BUDGETS, pod.metadata.namespace).filter((budget) => selects(budget, pod));
  if (matching.length > 1)
    throw refusal(
      500,
      "InternalError",
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  return matching[0];
}

function selects(budget: Unstructured, pod: Unstructured): boolean {
  const selector = at(budget, "spec", "selector") as JsonObject | undefined;
  return labelSelectorFromObject(selector).matches(pod.metadata.labels);
}

async function takeDisruption(api: InternalApi, budget: Unstructured, dryRun: boolean): Promise<void> {
  const name = budget.metadata.name ?? "";
  const { allowed, healthy, desired, observed } = disruptions(api, budget);
  if (allowed <= 0) {
    const cause = `The disruption budget ${name} needs ${desired} healthy pods and has ${healthy} currently`;
    throw refusal(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", cause);
  }
  if (dryRun || !observed) return;
  // With a disruption controller, the count is decremented here and restored when the controller has seen the deletion.
  await api.update(
    BUDGETS,
    budget.metadata.namespace ?? "",
    name,
    "eviction",
    (object) => {
      const status = child(object, "status");
      const left = num(status.disruptionsAllowed);
      if (left <= 0)
        throw refusal(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.");
      status.disruptionsAllowed = left - 1;
    },
    "status",
  );
}

/** The budget's status where a disruption controller keeps it up to date, else counted from the pods. */
function disruptions(
  api: InternalApi,
  budget: Unstructured,
): { allowed: number; healthy: number; desired: number; observed: boolean } {
  const status = budget.status;
  if (num(at(status, "observedGeneration")) >= (budget.metadata.generation ?? 1))
    return {
      allowed: num(at(status, "disruptionsAllowed")),
      healthy: num(at(status, "currentHealthy")),
      desired: num(at(status, "desiredHealthy")),
      observed: true,
    };
  const pods = api.list(PODS, budget.metadata.namespace).filter((p) => selects(budget, p));
  const healthy = pods.filter((p) =>
    list(at(p, "status", "conditions")).some((c) => at(c, "type") === "Ready" && at(c, "status") === "True"),
  ).length;
  const max = at(budget, "spec", "maxUnavailable");
  const desired =
    max === undefined
      ? portion(at(budget, "spec", "minAvailable"), pods.length)
      : Math.max(0, pods.length - portion(max, pods.length));
  return { allowed: Math.max(0, healthy - desired), healthy, desired, observed: false };
}

/** A count, or a percentage of `total` rounded up. */
function portion(value: unknown, total: number): number {
  if (typeof value === "string") return Math.ceil((Number.parseInt(value, 10) * total) / 100) || 0;
  return num(value);
}

function refusal(code: number, reason: string, message: string, cause?: string): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    ...(cause === undefined ? {} : { details: { causes: [{ reason: "DisruptionBudget", message: cause }] } }),
    code,
  });
}
