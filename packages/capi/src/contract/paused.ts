import type { KubeObject } from "@capstan/apimachinery";
import type { Cluster } from "../kinds/cluster.ts";
import type { ConditionInput } from "./conditions.ts";
import { PAUSED_ANNOTATION } from "./constants.ts";

/** Whether an object is paused, and why. */
export function pausedCondition(object: KubeObject, cluster: Cluster | undefined): ConditionInput {
  const reasons: string[] = [];
  if (cluster?.spec?.paused === true) reasons.push("Cluster spec.paused is set to true");
  if (object.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined)
    reasons.push(`${object.kind} has the ${PAUSED_ANNOTATION} annotation`);
  return reasons.length > 0
    ? { type: "Paused", status: "True", reason: "Paused", message: reasons.join(", ") }
    : { type: "Paused", status: "False", reason: "NotPaused", message: "" };
}
