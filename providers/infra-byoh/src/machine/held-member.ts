import { CONTROL_PLANE_LABEL, type Machine, PRE_TERMINATE_HOOK } from "@capstan/capi";

/**
 * Explains why the host of a control plane Machine must not be cleaned yet: its control plane has not removed the etcd member on it.
 * Undefined when it may be. A Machine that does not exist any more has passed its hooks.
 */
export function heldMember(machine: Machine | undefined): string | undefined {
  if (machine?.metadata.labels?.[CONTROL_PLANE_LABEL] === undefined) return undefined;
  const { name, deletionTimestamp, annotations = {} } = machine.metadata;
  if (deletionTimestamp === undefined)
    return `it may hold a member of etcd, and Machine ${name} is not being deleted: delete the Machine, whose control plane removes the member first`;
  const hook = Object.keys(annotations).find((key) => key.startsWith(PRE_TERMINATE_HOOK));
  return hook === undefined
    ? undefined
    : `it may hold a member of etcd, and the owner of annotation ${hook} has not released Machine ${name} yet`;
}
