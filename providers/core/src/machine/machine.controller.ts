import { deepEqual } from "@capstan/apimachinery";
import {
  Cluster,
  CONTRACT_STATUS,
  CustomResourceDefinition,
  Machine,
  MachineDeployment,
  MachineDrainRule,
  MachineSet,
  reach,
  type WorkloadCalls,
  type WorkloadClusters,
} from "@capstan/capi";
import {
  type Cache,
  type Controller,
  controller,
  type Predicate,
  type Request,
  requestFor,
  type Source,
} from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";
import { REVISION_ANNOTATION } from "../machine-deployment/revision.ts";
import { BY_CONTROLLER, BY_DEPLOYMENT, BY_NODE, BY_PROVIDER_ID, controllerKey, inCluster } from "../shared/indexes.ts";
import { type MachineDeps, reconcileMachine } from "./machine.reconcile.ts";
import type { NodeKeys } from "./node-keys.ts";

const CONCURRENCY = 100;

/** Returns the Machine controller, which also watches the objects that Machines reference, and their Nodes. */
export function machineController(
  workload: WorkloadClusters,
  cache: Cache,
  shared: WorkloadCalls,
  keys: NodeKeys,
): Controller {
  const deps: MachineDeps = { workload, calls: shared.limited(), keys, nodeDeletions: new Map() };
  return (
    controller("machine")
      .for(Machine)
      .watches(Cluster, (cluster, c) => machinesOf(c, cluster.metadata.namespace, cluster.metadata.name), {
        predicate: clusterMatters,
      })
      .watches(MachineSet, (set, c) => found(c, BY_CONTROLLER, controllerKey(set)), { predicate: revisionMatters })
      .watches(
        MachineDeployment,
        (deployment, c) =>
          found(c, BY_DEPLOYMENT, clusterKey(deployment.metadata.namespace ?? "", deployment.metadata.name ?? "")),
        { predicate: revisionMatters },
      )
      .watches(CustomResourceDefinition, machinesThatRefer, { predicate: definitionMatters })
      // Read while draining, which polls.
      .watches(MachineDrainRule, () => [])
      .watchesRaw(nodeEvents(workload, cache))
      .concurrency(CONCURRENCY)
      .rank(1)
      .deferStatus(CONTRACT_STATUS)
      .reconcile((request, context) => reconcileMachine(request, context, deps))
  );
}

function found(cache: Cache, index: string, value: string): Request[] {
  return cache.synced(Machine) ? cache.byIndex(Machine, index, value).flatMap(requestFor) : [];
}

function machinesOf(cache: Cache, namespace: string | undefined, cluster: string | undefined): Request[] {
  return found(cache, BY_CLUSTER, clusterKey(namespace ?? "", cluster ?? ""));
}

/** Of a Cluster, Machines read only these; its status changes with every Machine and must not wake them all. */
const clusterMatters: Predicate<Cluster> = {
  update: (cluster, old) =>
    cluster.spec?.paused !== old.spec?.paused ||
    cluster.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    !deepEqual(cluster.spec?.controlPlaneRef, old.spec?.controlPlaneRef) ||
    !deepEqual(cluster.status?.initialization, old.status?.initialization),
};

/** Fields that UpToDate and the taint of outdated Nodes depend on. */
const revisionMatters: Predicate<MachineSet | MachineDeployment> = {
  update: (object, old) =>
    object.metadata.annotations?.[REVISION_ANNOTATION] !== old.metadata.annotations?.[REVISION_ANNOTATION] ||
    !deepEqual(object.spec.template, old.spec.template) ||
    ("rollout" in object.spec && "rollout" in old.spec && !deepEqual(object.spec.rollout, old.spec.rollout)),
};

const definitionMatters: Predicate<CustomResourceDefinition> = {
  update: (crd, old) =>
    !deepEqual(crd.metadata.labels, old.metadata.labels) || crd.metadata.generation !== old.metadata.generation,
};

/** A CRD that appears, changes its labels or goes can cure references that led nowhere. */
function machinesThatRefer(crd: CustomResourceDefinition, cache: Cache): Request[] {
  if (!cache.synced(Machine)) return [];
  const refers = (reference: { apiGroup: string; kind: string } | undefined): boolean =>
    reference?.apiGroup === crd.spec.group && reference.kind === crd.spec.names.kind;
  return cache
    .list(Machine)
    .filter(({ spec }) => refers(spec.infrastructureRef) || refers(spec.bootstrap.configRef))
    .flatMap(requestFor);
}

/** Changes of Nodes, and of connections: the former reach one Machine, the latter all of the cluster. */
function nodeEvents(workload: WorkloadClusters, cache: Cache): Source {
  return {
    start: (enqueue, signal) => {
      const unsubscribe = workload.subscribe(({ namespace, name }, nodeName) => {
        for (const request of requestsForNode(workload, cache, namespace, name, nodeName)) enqueue(request);
      });
      signal.addEventListener("abort", unsubscribe, { once: true });
    },
  };
}

function requestsForNode(
  workload: WorkloadClusters,
  cache: Cache,
  namespace: string,
  cluster: string,
  nodeName: string | undefined,
): Request[] {
  if (nodeName === undefined) return machinesOf(cache, namespace, cluster);
  const connection = reach(workload, { namespace, name: cluster });
  const node = connection.state === "connected" ? connection.nodes.get(nodeName) : undefined;
  const providerID = node?.spec?.providerID;
  return [
    ...found(cache, BY_NODE, inCluster(namespace, cluster, nodeName)),
    ...(providerID === undefined ? [] : found(cache, BY_PROVIDER_ID, inCluster(namespace, cluster, providerID))),
  ];
}
