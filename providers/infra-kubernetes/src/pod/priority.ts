import { isReason, type KubeObject } from "@capstan/apimachinery";
import { createIfAbsent, kindRef } from "@capstan/runtime";
import type { Place } from "../backend.ts";
import { type PodSettings, templateSpec } from "./template.ts";

/** Refers to the PriorityClass kind of an outer cluster. */
export const PriorityClass = kindRef<KubeObject & { value: number }>({
  group: "scheduling.k8s.io",
  version: "v1",
  kind: "PriorityClass",
  plural: "priorityclasses",
  namespaced: false,
});

/** Name of the class that control planes have unless their template says otherwise. */
export const CONTROL_PLANE_CLASS = "capstan-control-plane";

/**
 * Returns the priority class of a control plane's pod, which is created if the outer cluster allows it. Its pods are scheduled before others
 * and not preempted for them, but preempt none themselves: whoever creates a cluster must not displace pods of other users. The class stays
 * when the cluster is deleted, because all clusters share it.
 */
export async function ensurePriorityClass({ host, signal }: Place, settings: PodSettings): Promise<string | undefined> {
  const template = templateSpec(settings);
  if (template["priorityClassName"] !== undefined || template["priority"] !== undefined) return undefined;
  const desired = {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: CONTROL_PLANE_CLASS },
    value: 1_000_000,
    globalDefault: false,
    preemptionPolicy: "Never",
    description: "Control planes of clusters whose machines are pods.",
  };
  try {
    if ((await host.client.get(PriorityClass, { name: CONTROL_PLANE_CLASS }, signal)) === undefined)
      await createIfAbsent(host.client, desired, {}, signal);
    return CONTROL_PLANE_CLASS;
  } catch (error) {
    if (isReason(error, "Forbidden")) return undefined;
    throw error;
  }
}
