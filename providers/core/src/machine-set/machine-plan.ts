import {
  CLUSTER_NAME_LABEL,
  DEPLOYMENT_NAME_LABEL,
  labelValue,
  type MachinePlan,
  type MachineSet,
  SET_NAME_LABEL,
  TEMPLATE_HASH_LABEL,
} from "@capstan/capi";
import type { MachineSetScope } from "./machine-set-scope.ts";

/** Field managers of Machines and of the metadata of their objects; the same as upstream's, so that its objects can be adopted. */
const FIELD_MANAGERS = { machine: "capi-machineset", metadata: "capi-machineset-metadata" };
/** Name template of Machines of a MachineSet without spec.machineNaming. */
export const DEFAULT_NAMING = "{{ .machineSet.name }}-{{ .random }}";

const FIXED = [CLUSTER_NAME_LABEL, SET_NAME_LABEL, DEPLOYMENT_NAME_LABEL, TEMPLATE_HASH_LABEL];

/** Returns what a MachineSet wants its Machines to be. */
export function machineSetPlan({ set, infrastructure, bootstrap }: MachineSetScope): MachinePlan {
  const { template, selector, clusterName } = set.spec;
  return {
    owner: set,
    clusterName,
    fieldManagers: FIELD_MANAGERS,
    labels: machineLabels(set),
    fixedLabels: new Set([...FIXED, ...Object.keys(selector.matchLabels ?? {})]),
    annotations: template.metadata?.annotations ?? {},
    settings: template.spec,
    appliesFailureDomain: template.spec.failureDomain !== undefined,
    infrastructure,
    bootstrap: bootstrap ?? template.spec.bootstrap,
  };
}

/** Returns the labels of a MachineSet's Machines: those of the template, and the names of cluster, set and deployment. */
function machineLabels(set: MachineSet): Record<string, string> {
  const deployment = set.metadata.labels?.[DEPLOYMENT_NAME_LABEL];
  return {
    ...set.spec.template.metadata?.labels,
    [CLUSTER_NAME_LABEL]: set.spec.clusterName,
    [SET_NAME_LABEL]: labelValue(set.metadata.name ?? ""),
    ...(deployment === undefined ? {} : { [DEPLOYMENT_NAME_LABEL]: deployment }),
  };
}
