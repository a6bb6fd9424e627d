import { controllerOf, deepEqual, selectorOrProblem } from "@capstan/apimachinery";
import {
  Cluster,
  CONTRACT_STATUS,
  CustomResourceDefinition,
  clonedKind,
  Machine,
  MachineDeployment,
  MachineSet,
  MachineSync,
} from "@capstan/capi";
import {
  type Cache,
  type Controller,
  controller,
  ownerRequests,
  type Predicate,
  type Request,
  requestFor,
} from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";
import { Coalescer } from "../shared/coalesce.ts";
import { BY_CONTROLLER, controllerKey } from "../shared/indexes.ts";
import { reconcileMachineSet } from "./machine-set.reconcile.ts";

const CONCURRENCY = 50;

/** Returns the MachineSet controller, which also watches Machines and what decides whether Machines may be created. */
export function machineSetController(): Controller {
  const deps = { sync: new MachineSync(), coalescer: new Coalescer() };
  return controller("machineset")
    .for(MachineSet)
    .watches(Machine, setsOfMachine)
    .watches(Cluster, (cluster, cache) => setsOfCluster(cache, cluster), { predicate: clusterMatters })
    .watches(MachineDeployment, setsOfDeployment, { predicate: remediationMatters })
    .watches(CustomResourceDefinition, setsThatRefer)
    .concurrency(CONCURRENCY)
    .rank(2)
    .deferStatus(CONTRACT_STATUS)
    .reconcile((request, context) => reconcileMachineSet(request, context, deps));
}

/** The set that controls a Machine, or those that may adopt it. */
function setsOfMachine(machine: Machine, cache: Cache): Request[] {
  if (controllerOf(machine) !== undefined) return ownerRequests(machine, MachineSet, false);
  if (!cache.synced(MachineSet)) return [];
  const key = clusterKey(machine.metadata.namespace ?? "", machine.spec.clusterName);
  return cache
    .byIndex(MachineSet, BY_CLUSTER, key)
    .filter((set) => selectorOrProblem(set.spec.selector, "spec.selector").matches(machine.metadata.labels))
    .flatMap(requestFor);
}

function setsOfCluster(cache: Cache, cluster: Cluster): Request[] {
  if (!cache.synced(MachineSet)) return [];
  const key = clusterKey(cluster.metadata.namespace ?? "", cluster.metadata.name ?? "");
  return cache.byIndex(MachineSet, BY_CLUSTER, key).flatMap(requestFor);
}

const clusterMatters: Predicate<Cluster> = {
  update: (cluster, old) =>
    cluster.spec?.paused !== old.spec?.paused || !deepEqual(cluster.spec?.controlPlaneRef, old.spec?.controlPlaneRef),
};

function setsOfDeployment(deployment: MachineDeployment, cache: Cache): Request[] {
  if (!cache.synced(MachineSet)) return [];
  return cache.byIndex(MachineSet, BY_CONTROLLER, controllerKey(deployment)).flatMap(requestFor);
}

/** A set reads other settings of its deployment from its own annotations. */
const remediationMatters: Predicate<MachineDeployment> = {
  update: (deployment, old) => !deepEqual(deployment.spec.remediation, old.spec.remediation),
};

/** A CRD that appears cures sets whose templates led nowhere. */
function setsThatRefer(crd: CustomResourceDefinition, cache: Cache): Request[] {
  if (!cache.synced(MachineSet)) return [];
  const { group, names } = crd.spec;
  const refers = (reference: { apiGroup: string; kind: string } | undefined): boolean =>
    reference?.apiGroup === group && (reference.kind === names.kind || clonedKind(reference.kind) === names.kind);
  return cache
    .list(MachineSet)
    .filter(
      ({ spec }) => refers(spec.template.spec.infrastructureRef) || refers(spec.template.spec.bootstrap.configRef),
    )
    .flatMap(requestFor);
}
