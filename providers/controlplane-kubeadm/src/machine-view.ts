import { findCondition } from "@capstan/apimachinery";
import {
  conditionsOf,
  DELETE_MACHINE_ANNOTATION,
  deletionHooks,
  isRemediationRequested,
  type Machine,
  PRE_TERMINATE_HOOK,
} from "@capstan/capi";
import { CLEANUP_HOOK, REMEDIATION_FOR } from "./annotations.ts";
import type { MachineView } from "./plan/view.ts";
import { parseRecord } from "./remediation-record.ts";
import type { MachineObservation } from "./workload/workload-side.ts";

/** Returns a Machine as the plan sees it. */
export function machineView(machine: Machine, upToDate: boolean, { components }: MachineObservation): MachineView {
  const { metadata, spec, status } = machine;
  const conditions = conditionsOf(machine);
  const check = findCondition(conditions, "HealthCheckSucceeded")?.status;
  const deleting = findCondition(conditions, "Deleting");
  const hooks = deletionHooks(machine, PRE_TERMINATE_HOOK);
  return {
    name: metadata.name ?? "",
    createdMs: Date.parse(metadata.creationTimestamp ?? ""),
    deletingSinceMs: metadata.deletionTimestamp === undefined ? undefined : Date.parse(metadata.deletionTimestamp),
    failureDomain: spec.failureDomain,
    nodeName: status?.nodeRef?.name,
    upToDate,
    healthCheck: check === "True" ? "passed" : check === "False" ? "failed" : "none",
    awaitsRemediation: findCondition(conditions, "OwnerRemediated")?.status === "False",
    remediateAnnotation: isRemediationRequested(machine),
    deleteAnnotation: metadata.annotations?.[DELETE_MACHINE_ANNOTATION] !== undefined,
    remediationFor: parseRecord(metadata.annotations?.[REMEDIATION_FOR]),
    components,
    hooks: {
      ours: hooks.includes(CLEANUP_HOOK),
      others: hooks.some((hook) => hook !== CLEANUP_HOOK),
      waiting: deleting?.status === "True" && deleting.reason === "WaitingForPreTerminateHook",
    },
  };
}
