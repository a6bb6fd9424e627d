import {
  CLONED_FROM_NAME_ANNOTATION,
  CONTROL_PLANE_NAME_LABEL,
  DEPLOYMENT_NAME_LABEL,
  type Machine,
} from "@capstan/capi";
import type { Cache } from "@capstan/runtime";
import { type Metal3Machine, Metal3MachineTemplate } from "../kinds/metal3-machine.ts";

/** Returns the node reuse label value for a machine: the control plane or MachineDeployment that it belongs to. */
export function originOf(machine: Machine | undefined): string | undefined {
  const labels = machine?.metadata.labels ?? {};
  const plane = labels[CONTROL_PLANE_NAME_LABEL];
  if (plane !== undefined) return `cp-${plane}`;
  const deployment = labels[DEPLOYMENT_NAME_LABEL];
  return deployment === undefined ? undefined : `md-${deployment}`;
}

/** Reports whether the machine's template reserves its host for its successor (`nodeReuse`). */
export function keepsHost(machine: Metal3Machine, cache: Cache): boolean {
  const name = machine.metadata.annotations?.[CLONED_FROM_NAME_ANNOTATION];
  if (name === undefined) return false;
  return cache.get(Metal3MachineTemplate, { namespace: machine.metadata.namespace, name })?.spec.nodeReuse === true;
}
