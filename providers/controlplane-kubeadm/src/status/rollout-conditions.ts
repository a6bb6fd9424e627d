import { findCondition } from "@capstan/apimachinery";
import { aggregate, type ConditionInput, conditionsOf, type Machine } from "@capstan/capi";
import { namesText } from "./component-health.ts";

/** Computes the RollingOut condition from the UpToDate conditions of Machines; a change of version is listed first. */
export function rollingOut(machines: readonly Machine[]): ConditionInput {
  const type = "RollingOut";
  const outdated = machines.flatMap((machine) => {
    const condition = findCondition(conditionsOf(machine), "UpToDate");
    return condition?.status === "False" ? [condition.message] : [];
  });
  if (outdated.length === 0) return { type, status: "False", reason: "NotRollingOut", message: "" };
  const reasons = new Set(outdated.filter((message) => message !== "").flatMap((message) => message.split("\n")));
  const version = (line: string): number => (line.startsWith("* Version") ? 0 : 1);
  const sorted = [...reasons].sort((a, b) => version(a) - version(b) || (a < b ? -1 : 1));
  const message = [`Rolling out ${outdated.length} not up-to-date replicas`, ...sorted].join("\n");
  return { type, status: "True", reason: "RollingOut", message };
}

/** Computes the Remediating condition from the Machines that failed their health check. */
export function remediating(machines: readonly Machine[]): ConditionInput {
  const type = "Remediating";
  const failed = machines.filter((machine) => statusOf(machine, "HealthCheckSucceeded") === "False");
  const ours = failed.filter((machine) => statusOf(machine, "OwnerRemediated") === "False");
  if (ours.length > 0) {
    const items = ours.map((machine) => ({
      kind: "Machine",
      name: machine.metadata.name ?? "",
      condition: findCondition(conditionsOf(machine), "OwnerRemediated"),
    }));
    const reasons = { issue: type, unknown: type, info: type };
    const { message } = aggregate(items, { source: "OwnerRemediated", target: type, reasons });
    return { type, status: "True", reason: "Remediating", message };
  }
  const names = failed.map(({ metadata }) => metadata.name ?? "").sort();
  const message =
    names.length === 0
      ? ""
      : `${namesText(names)} ${names.length === 1 ? "is" : "are"} not healthy (not to be remediated by KubeadmControlPlane)`;
  return { type, status: "False", reason: "NotRemediating", message };
}

function statusOf(machine: Machine, type: string): string | undefined {
  return findCondition(conditionsOf(machine), type)?.status;
}
