import { findCondition } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf, type Machine } from "@capstan/capi";
import { COMPONENT_CONDITIONS } from "../plan/preflight.ts";
import type { Plan } from "../plan/step.ts";
import type { Components } from "../plan/view.ts";
import type { MachineObservation } from "../workload/workload-side.ts";

/** What a control plane reports on one of its Machines. */
export interface MachineReport {
  readonly machine: Machine;
  readonly observation: MachineObservation;
  readonly outdated: readonly string[] | undefined;
  readonly etcdManaged: boolean;
  readonly plan: Plan;
}

/** Returns the conditions that the control plane sets on a Machine, next to those of the Machine controller. */
export function machineConditions(report: MachineReport): ConditionInput[] {
  return [upToDate(report), ...components(report), ...ownerRemediated(report)];
}

function upToDate({ machine, outdated }: MachineReport): ConditionInput {
  const type = "UpToDate";
  const lines = (texts: readonly string[]): string => texts.map((text) => `* ${text}`).join("\n");
  if (outdated !== undefined) return { type, status: "False", reason: "NotUpToDate", message: lines(outdated) };
  const kubelet = machine.status?.nodeInfo?.["kubeletVersion"];
  const { version } = machine.spec;
  if (typeof kubelet === "string" && kubelet !== "" && kubelet !== version) {
    const message = lines([`Node.status.nodeInfo.kubeletVersion ${kubelet}, ${version} required`]);
    return { type, status: "False", reason: "Updating", message };
  }
  return { type, status: "True", reason: "UpToDate", message: "" };
}

function components({ machine, observation, etcdManaged }: MachineReport): ConditionInput[] {
  const { nodeLabels, apiServer, controllerManager, scheduler, etcdPod, etcdMember } = observation.components;
  const all: { readonly [K in keyof Components]?: typeof nodeLabels } = {
    nodeLabels,
    apiServer,
    controllerManager,
    scheduler,
    ...(etcdManaged ? { etcdPod, etcdMember } : {}),
  };
  const deleting = machine.metadata.deletionTimestamp !== undefined;
  return Object.entries(all).map(([component, { status, reason, message }]) => {
    const type = COMPONENT_CONDITIONS[component as keyof Components];
    if (deleting) return { type, status: "False", reason: "Deleting", message: "Machine is deleting" };
    return { type, status, reason, message };
  });
}

/** The answer to a health check that requests remediation; it stays until the Machine recovers or is deleted. */
function ownerRemediated({ machine, plan }: MachineReport): ConditionInput[] {
  const type = "OwnerRemediated";
  const name = machine.metadata.name ?? "";
  const old = findCondition(conditionsOf(machine), type);
  if (old?.status !== "False" || plan.recovered.includes(name)) return [];
  const { step, deferral } = plan;
  const going = step.type === "delete" && step.why === "remediation" && step.machine === name;
  if (going) return [{ type, status: "False", reason: "MachineDeleting", message: "Machine is deleting" }];
  if (deferral?.machine === name)
    return [{ type, status: "False", reason: deferral.reason, message: deferral.message }];
  // Answered before: the answer holds until there is another.
  return old.reason === "WaitingForRemediation"
    ? []
    : [{ type, status: "False", reason: old.reason, message: old.message }];
}
