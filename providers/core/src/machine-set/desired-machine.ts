import { ownerReference } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  DEPLOYMENT_NAME_LABEL,
  MACHINE_FINALIZER,
  Machine,
  type MachineSet,
  SET_NAME_LABEL,
  TEMPLATE_HASH_LABEL,
} from "@capstan/capi";
import { labelValue } from "../shared/label-value.ts";
import { clonedReference } from "./clone-template.ts";

/** Field manager of Machines; the same as upstream's, so that its objects can be adopted. */
export const MACHINE_FIELD_MANAGER = "capi-machineset";
/** Field manager of labels and annotations on the objects that Machines reference; the same as upstream's. */
export const METADATA_FIELD_MANAGER = "capi-machineset-metadata";

/** Computes the desired state of a Machine. References and version of an existing one are kept, because they cannot change in place. */
export function desiredMachine(set: MachineSet, name: string, existing: Machine | undefined): Machine {
  const { template } = set.spec;
  const { bootstrap, infrastructureRef, version, failureDomain, minReadySeconds, readinessGates, deletion, taints } =
    template.spec;
  const actualVersion = existing === undefined ? version : existing.spec.version;
  const domain = existing === undefined || failureDomain === undefined ? failureDomain : existing.spec.failureDomain;
  const annotations = template.metadata?.annotations;
  return {
    apiVersion: Machine.apiVersion,
    kind: Machine.kind,
    metadata: {
      name,
      ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
      labels: machineLabels(set),
      ...(annotations === undefined || Object.keys(annotations).length === 0
        ? {}
        : { annotations: { ...annotations } }),
      finalizers: [MACHINE_FINALIZER],
      ownerReferences: [ownerReference(set, { controller: true })],
    },
    spec: {
      clusterName: set.spec.clusterName,
      bootstrap: existing === undefined ? newBootstrap(bootstrap, name) : ownBootstrap(existing),
      infrastructureRef: existing?.spec.infrastructureRef ?? clonedReference(infrastructureRef, name),
      ...(actualVersion === undefined ? {} : { version: actualVersion }),
      ...(domain === undefined ? {} : { failureDomain: domain }),
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      ...(readinessGates === undefined ? {} : { readinessGates }),
      ...(deletion === undefined ? {} : { deletion }),
      ...(taints === undefined ? {} : { taints }),
    },
  };
}

type Bootstrap = Machine["spec"]["bootstrap"];

function newBootstrap(template: Bootstrap, name: string): Bootstrap {
  return template.configRef === undefined ? template : { configRef: clonedReference(template.configRef, name) };
}

/** Beside a reference the name of the data Secret belongs to the Machine controller. */
function ownBootstrap({ spec }: Machine): Bootstrap {
  return spec.bootstrap.configRef === undefined ? spec.bootstrap : { configRef: spec.bootstrap.configRef };
}

/** Returns the labels of a MachineSet's Machines: those of the template, and the names of cluster, set and deployment. */
export function machineLabels(set: MachineSet): Record<string, string> {
  const deployment = set.metadata.labels?.[DEPLOYMENT_NAME_LABEL];
  return {
    ...set.spec.template.metadata?.labels,
    [CLUSTER_NAME_LABEL]: set.spec.clusterName,
    [SET_NAME_LABEL]: labelValue(set.metadata.name ?? ""),
    ...(deployment === undefined ? {} : { [DEPLOYMENT_NAME_LABEL]: deployment }),
  };
}

const FIXED = new Set([CLUSTER_NAME_LABEL, SET_NAME_LABEL, DEPLOYMENT_NAME_LABEL, TEMPLATE_HASH_LABEL]);

/**
 * Returns the labels that never change while a MachineSet exists, so that a Machine's objects get them on creation. Other labels and
 * annotations can change in place and are applied.
 */
export function fixedLabels(set: MachineSet): Record<string, string> {
  const selected = set.spec.selector.matchLabels ?? {};
  return Object.fromEntries(
    Object.entries(machineLabels(set)).filter(([key]) => FIXED.has(key) || Object.hasOwn(selected, key)),
  );
}

/** Returns the labels and annotations of a template that can change in place. */
export function changeableMetadata(set: MachineSet): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  const fixed = fixedLabels(set);
  const labels = Object.entries(machineLabels(set)).filter(([key]) => !Object.hasOwn(fixed, key));
  return { labels: Object.fromEntries(labels), annotations: { ...set.spec.template.metadata?.annotations } };
}
