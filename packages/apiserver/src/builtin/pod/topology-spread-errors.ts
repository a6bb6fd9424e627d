import { duplicate, type FieldError, invalidValue, notSupported, required } from "@capstan/apimachinery";
import { labelSelectorErrors } from "../label-selector-errors.ts";
import { at, num, text } from "../read.ts";
import { labelKeyErrors } from "./affinity-errors.ts";

const ACTIONS = ["DoNotSchedule", "ScheduleAnyway"];
const POLICIES = ["Honor", "Ignore"];

/** What is wrong with the topologySpreadConstraints of a PodSpec. */
export function topologySpreadErrors(constraints: readonly unknown[], path: string): FieldError[] {
  const kinds = constraints.map((c) => `{${text(at(c, "topologyKey"))}, ${text(at(c, "whenUnsatisfiable"))}}`);
  return constraints.flatMap((constraint, i) => {
    const here = `${path}[${i}]`;
    const errors = positiveErrors(num(at(constraint, "maxSkew")), `${here}.maxSkew`);
    if (text(at(constraint, "topologyKey")) === "") errors.push(required(`${here}.topologyKey`, "can not be empty"));
    const action = text(at(constraint, "whenUnsatisfiable"));
    if (!ACTIONS.includes(action)) errors.push(notSupported(`${here}.whenUnsatisfiable`, action, ACTIONS));
    const kind = kinds[i] ?? "";
    if (kinds.includes(kind, i + 1)) errors.push(duplicate(`${here}.{topologyKey, whenUnsatisfiable}`, kind));
    const domains = at(constraint, "minDomains");
    if (domains !== undefined) {
      errors.push(...positiveErrors(num(domains), `${here}.minDomains`));
      if (action !== "DoNotSchedule")
        errors.push(
          invalidValue(
            `${here}.minDomains`,
            domains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`,
          ),
        );
    }
    for (const field of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
      const policy = at(constraint, field);
      if (policy !== undefined && !POLICIES.includes(text(policy)))
        errors.push(notSupported(`${here}.${field}`, policy, POLICIES));
    }
    errors.push(...labelKeyErrors(constraint, here));
    errors.push(...labelSelectorErrors(at(constraint, "labelSelector"), `${here}.labelSelector`));
    return errors;
  });
}

function positiveErrors(value: number, field: string): FieldError[] {
  return value > 0 ? [] : [invalidValue(field, value, "must be greater than zero")];
}
