import { controllerOf, selectorOrProblem } from "@capstan/apimachinery";
import {
  Cluster,
  type ContractObject,
  Machine,
  MachineDeployment,
  MachineSet,
  type Referenced,
  readReference,
  referrersKey,
  type TemplatePart,
  templatePart,
} from "@capstan/capi";
import { type Cache, type ReconcileContext, type Request, requestFor } from "@capstan/runtime";
import { BY_CLUSTER, BY_REFERENCE, clusterKey } from "../cluster/indexes.ts";
import { BY_CONTROLLER, BY_ORPHAN, controllerKey } from "../shared/indexes.ts";

/** Everything that one reconcile of a MachineSet reads. */
export interface MachineSetScope {
  set: MachineSet;
  cluster: Cluster | undefined;
  deployment: MachineDeployment | undefined;
  controlPlane: Referenced;
  infrastructure: TemplatePart;
  /** Undefined if bootstrap data is provided as a Secret. */
  bootstrap: TemplatePart | undefined;
  machines: Machine[];
  /** Machines without a controller that match the selector. */
  orphans: Machine[];
  /** What is invalid in the selector, or undefined. */
  selectorProblem: string | undefined;
}

/** Reads a MachineSet's Machines, templates, Cluster and owner. */
export async function readMachineSet(set: MachineSet, context: ReconcileContext): Promise<MachineSetScope> {
  const { cache } = context;
  const namespace = set.metadata.namespace ?? "";
  const { clusterName, template } = set.spec;
  const cluster = cache.get(Cluster, { namespace, name: clusterName });
  const { configRef } = template.spec.bootstrap;
  const owner = controllerOf(set);
  const selector = selectorOrProblem(set.spec.selector, "spec.selector");
  return {
    set,
    cluster,
    deployment:
      owner?.kind === MachineDeployment.kind
        ? cache.get(MachineDeployment, { namespace, name: owner.name })
        : undefined,
    controlPlane: await readReference(context, namespace, cluster?.spec?.controlPlaneRef, setsOfControlPlane),
    infrastructure: await templatePart(context, namespace, template.spec.infrastructureRef, setsThatRefer),
    bootstrap: configRef === undefined ? undefined : await templatePart(context, namespace, configRef, setsThatRefer),
    machines: cache.byIndex(Machine, BY_CONTROLLER, controllerKey(set)),
    orphans: selector.empty
      ? []
      : cache
          .byIndex(Machine, BY_ORPHAN, clusterKey(namespace, clusterName))
          .filter((machine) => selector.matches(machine.metadata.labels)),
    selectorProblem: selector.problem,
  };
}

/** A template that appears cures sets that wait for it. */
function setsThatRefer(template: ContractObject, cache: Cache): Request[] {
  return cache.byIndex(MachineSet, BY_REFERENCE, referrersKey(template)).flatMap(requestFor);
}

/** A control plane that has become stable lets sets create Machines. */
function setsOfControlPlane(controlPlane: ContractObject, cache: Cache): Request[] {
  return cache
    .byIndex(Cluster, BY_REFERENCE, referrersKey(controlPlane))
    .flatMap((cluster) =>
      cache.byIndex(MachineSet, BY_CLUSTER, clusterKey(cluster.metadata.namespace ?? "", cluster.metadata.name ?? "")),
    )
    .flatMap(requestFor);
}
