import { findCondition } from "@capstan/apimachinery";
import { aggregate } from "../contract/aggregate.ts";
import type { ConditionInput } from "../contract/conditions.ts";
import { CONTROL_PLANE_LABEL } from "../contract/constants.ts";
import { conditionsOf } from "../contract/fields.ts";
import type { Machine } from "../kinds/machine.ts";

/** Reports whether a Machine is part of a control plane. */
export function isControlPlaneMachine(machine: Machine): boolean {
  return machine.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined;
}

/** Aggregates Ready and UpToDate of Machines into conditions whose types start with `prefix`. */
export function machineAggregates(machines: readonly Machine[], prefix = "Machines"): ConditionInput[] {
  return [over(machines, `${prefix}Ready`, "Ready"), over(machines, `${prefix}UpToDate`, "UpToDate")];
}

function over(machines: readonly Machine[], target: string, source: "Ready" | "UpToDate"): ConditionInput {
  const items = machines
    .map((machine) => ({
      kind: "Machine",
      name: machine.metadata.name ?? "",
      condition: findCondition(conditionsOf(machine), source),
      controlPlane: isControlPlaneMachine(machine),
      young: machine.status?.phase === undefined,
    }))
    // A new Machine has not reported yet whether it is up to date.
    .filter(({ condition, young }) => source !== "UpToDate" || condition !== undefined || !young);
  if (items.length === 0) return { type: target, status: "True", reason: "NoReplicas", message: "" };
  const reasons = { issue: `Not${source}`, unknown: `${source}Unknown`, info: source };
  return aggregate(items, { source, target, reasons });
}
