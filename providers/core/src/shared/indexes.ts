import { controllerOf, type KubeObject } from "@capstan/apimachinery";
import { CONTROL_PLANE_LABEL, DEPLOYMENT_NAME_LABEL, Machine, MachineSet, referenceKey } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";
import { BY_REFERENCE, clusterKey } from "../cluster/indexes.ts";

/** Name of the index of objects by their controlling owner. */
export const BY_CONTROLLER = "controller";
/** Name of the index of objects without a controlling owner by cluster, which MachineSets and MachineDeployments may adopt. */
export const BY_ORPHAN = "orphan";
/** Name of the index of Machines by cluster and provider ID. */
export const BY_PROVIDER_ID = "provider-id";
/** Name of the index of Machines by cluster and Node name. */
export const BY_NODE = "node";
/** Name of the index of control plane Machines by cluster. */
export const BY_CONTROL_PLANE = "control-plane";
/** Name of the index of Machines by MachineDeployment. */
export const BY_DEPLOYMENT = "deployment";

/** Returns the key of a value within one cluster, as in BY_PROVIDER_ID and BY_NODE. */
export function inCluster(namespace: string, cluster: string, value: string): string {
  return `${clusterKey(namespace, cluster)}/${value}`;
}

/** Returns a key of BY_CONTROLLER. It includes the namespace: an object elsewhere that names the owner's uid is not owned by it. */
export function controllerKey({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ""}/${metadata.uid ?? ""}`;
}

/**
 * Adds the cache indexes of the Machine, MachineSet and MachineDeployment controllers, so that the cost of an event does not grow with the
 * number of clusters.
 */
export function addMachineIndexes(cache: Cache): void {
  const controller = (object: KubeObject): string[] => {
    const owner = controllerOf(object);
    return owner === undefined ? [] : [`${object.metadata.namespace ?? ""}/${owner.uid}`];
  };
  const orphan = (object: KubeObject & { spec: { clusterName: string } }): string[] =>
    controllerOf(object) === undefined ? [clusterKey(object.metadata.namespace ?? "", object.spec.clusterName)] : [];
  cache.addIndex(Machine, BY_CONTROLLER, controller);
  cache.addIndex(MachineSet, BY_CONTROLLER, controller);
  cache.addIndex(Machine, BY_ORPHAN, orphan);
  cache.addIndex(MachineSet, BY_ORPHAN, orphan);
  const references = (object: {
    metadata: { namespace?: string };
    spec: Pick<Machine["spec"], "bootstrap" | "infrastructureRef">;
  }): string[] => {
    const { bootstrap, infrastructureRef } = object.spec;
    return [bootstrap.configRef, infrastructureRef]
      .filter((reference) => reference !== undefined)
      .map((reference) => referenceKey(object.metadata.namespace ?? "", reference));
  };
  cache.addIndex(Machine, BY_REFERENCE, references);
  cache.addIndex(MachineSet, BY_REFERENCE, (set) =>
    references({ metadata: set.metadata, spec: set.spec.template.spec }),
  );
  cache.addIndex(Machine, BY_PROVIDER_ID, ({ metadata, spec }) =>
    spec.providerID === undefined ? [] : [inCluster(metadata.namespace ?? "", spec.clusterName, spec.providerID)],
  );
  cache.addIndex(Machine, BY_NODE, ({ metadata, spec, status }) =>
    status?.nodeRef === undefined ? [] : [inCluster(metadata.namespace ?? "", spec.clusterName, status.nodeRef.name)],
  );
  cache.addIndex(Machine, BY_CONTROL_PLANE, ({ metadata, spec }) =>
    metadata.labels?.[CONTROL_PLANE_LABEL] === undefined
      ? []
      : [clusterKey(metadata.namespace ?? "", spec.clusterName)],
  );
  cache.addIndex(Machine, BY_DEPLOYMENT, ({ metadata }) => {
    const deployment = metadata.labels?.[DEPLOYMENT_NAME_LABEL];
    return deployment === undefined ? [] : [`${metadata.namespace ?? ""}/${deployment}`];
  });
}
