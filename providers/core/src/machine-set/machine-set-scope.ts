import { controllerOf, selectorOrProblem } from "@capstan/apimachinery";
import {
  Cluster,
  type ContractObject,
  type ContractReference,
  Machine,
  MachineDeployment,
  MachineSet,
  watchKind,
} from "@capstan/capi";
import { type Cache, type ReconcileContext, type Request, requestFor } from "@capstan/runtime";
import { BY_CLUSTER, BY_REFERENCE, clusterKey } from "../cluster/indexes.ts";
import { BY_CONTROLLER, BY_ORPHAN, controllerKey } from "../shared/indexes.ts";
import { type Referenced, readReference, referrersKey } from "../shared/referenced.ts";
import { clonedKind } from "./clone-template.ts";

/** A template, and how to find the objects created from it. */
export interface TemplateScope {
  template: Referenced;
  /** Returns an object created from the template; undefined if it does not exist. */
  clone(name: string): ContractObject | undefined;
  /** Why objects of the cloned kind cannot be read, or undefined. */
  problem: string | undefined;
}

/** Everything that one reconcile of a MachineSet reads. */
export interface MachineSetScope {
  set: MachineSet;
  cluster: Cluster | undefined;
  deployment: MachineDeployment | undefined;
  controlPlane: Referenced;
  infrastructure: TemplateScope;
  /** Undefined if bootstrap data is provided as a Secret. */
  bootstrap: TemplateScope | undefined;
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
    infrastructure: await readTemplate(context, namespace, template.spec.infrastructureRef),
    bootstrap: configRef === undefined ? undefined : await readTemplate(context, namespace, configRef),
    machines: cache.byIndex(Machine, BY_CONTROLLER, controllerKey(set)),
    orphans: selector.empty
      ? []
      : cache
          .byIndex(Machine, BY_ORPHAN, clusterKey(namespace, clusterName))
          .filter((machine) => selector.matches(machine.metadata.labels)),
    selectorProblem: selector.problem,
  };
}

async function readTemplate(
  context: ReconcileContext,
  namespace: string,
  reference: ContractReference,
): Promise<TemplateScope> {
  const template = await readReference(context, namespace, reference, setsThatRefer);
  // Objects made from templates are read here; the Machine controller follows their changes.
  const watched = await watchKind(context, { ...reference, kind: clonedKind(reference.kind) }, () => []);
  if ("problem" in watched) return { template, clone: () => undefined, problem: watched.problem };
  return {
    template,
    clone: (name) => context.cache.get(watched.kind, { namespace, name }),
    problem: undefined,
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
