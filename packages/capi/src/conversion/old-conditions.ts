import { isObject } from "@capstan/apimachinery";
import { array, object, optional, string, time } from "../schema/schema.ts";
import { computed, move, type Rule } from "./rules.ts";

const oldConditions = array(
  object({
    type: string({ maxLength: 256 }),
    status: string({ maxLength: 16 }),
    severity: optional(string({ maxLength: 32 })),
    lastTransitionTime: time(),
    reason: optional(string({ maxLength: 1024 })),
    message: optional(string({ maxLength: 32768 })),
  }),
);

/** Conditions as v1beta1 had them, made from those of today; today's are in `status.v1beta2.conditions` there. */
export const OLD_CONDITIONS: readonly Rule[] = [
  computed("status.conditions", oldConditions, (stored) => {
    const status = isObject(stored) ? stored["status"] : undefined;
    const conditions = isObject(status) ? status["conditions"] : undefined;
    return Array.isArray(conditions) ? conditions.filter(isObject).map(oldCondition) : undefined;
  }),
  move("status.v1beta2.conditions", "status.conditions"),
];

/** In v1beta1 only what is false has a severity. */
function oldCondition(today: Record<string, unknown>): Record<string, unknown> {
  const { observedGeneration: _, ...condition } = today;
  return condition["status"] === "False" ? { ...condition, severity: "Info" } : condition;
}
