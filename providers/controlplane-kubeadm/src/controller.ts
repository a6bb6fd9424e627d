import { deepEqual } from "@capstan/apimachinery";
import {
  Cluster,
  type ClusterKey,
  CONTRACT_STATUS,
  CustomResourceDefinition,
  KubeadmConfig,
  KubeadmControlPlane,
  Machine,
  MachinePool,
  MachineSync,
  ownerMachine,
  Secret,
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
import { controlPlaneOf } from "./indexes.ts";
import { reconcileKubeadmControlPlane } from "./kubeadm-control-plane.ts";
import type { PreconditionDeps } from "./preconditions/step-problem.ts";
import type { WorkloadSide } from "./workload/workload-side.ts";

const CONCURRENCY = 50;

/** What the controller works with. */
export interface ControllerOptions extends PreconditionDeps {
  readonly side: WorkloadSide;
  /** Leads from workload clusters to their control planes. */
  readonly cache: Cache;
}

/** Returns the controller that watches KubeadmControlPlanes, their Clusters, Machines and Secrets, and their workload clusters. */
export function kubeadmControlPlaneController({ side, cache, ...preconditions }: ControllerOptions): Controller {
  const deps = { side, sync: new MachineSync(), ...preconditions };
  return controller("kubeadm-control-plane")
    .for(KubeadmControlPlane)
    .owns(Machine)
    .owns(Secret)
    .watches(Machine, planesOfMachine)
    .watches(MachinePool, ({ metadata, spec }, known) =>
      planesOfCluster(known, { namespace: metadata.namespace ?? "", name: spec.clusterName }),
    )
    .watches(KubeadmConfig, planesOfConfig, { predicate: specMatters })
    .watches(Cluster, controlPlaneOf)
    .watches(CustomResourceDefinition, planesThatRefer)
    .watchesRaw({
      start: (enqueue, signal) => {
        const unsubscribe = side.subscribe((cluster) => {
          for (const request of planesOfCluster(cache, cluster)) enqueue(request);
        });
        signal.addEventListener("abort", unsubscribe, { once: true });
      },
    })
    .concurrency(CONCURRENCY)
    .rank(4)
    .deferStatus(CONTRACT_STATUS)
    .reconcile((request, context) => reconcileKubeadmControlPlane(request, context, deps));
}

function planesOfCluster(cache: Cache, key: ClusterKey): Request[] {
  const cluster = cache.synced(Cluster) ? cache.get(Cluster, key) : undefined;
  return cluster === undefined ? [] : controlPlaneOf(cluster);
}

/** Machines without an owner are adopted, and the last worker that is deleted lets the control plane be deleted. */
function planesOfMachine(machine: Machine, cache: Cache): Request[] {
  if (ownerRequests(machine, KubeadmControlPlane, false).length > 0) return [];
  const { namespace = "" } = machine.metadata;
  const requests = planesOfCluster(cache, { namespace, name: machine.spec.clusterName });
  const isControlPlane = machine.metadata.labels?.["cluster.x-k8s.io/control-plane"] !== undefined;
  if (isControlPlane || !cache.synced(KubeadmControlPlane)) return requests;
  return requests.filter((key) => cache.get(KubeadmControlPlane, key)?.metadata.deletionTimestamp !== undefined);
}

function planesOfConfig(config: KubeadmConfig, cache: Cache): Request[] {
  const machine = cache.synced(Machine) ? ownerMachine(cache, config) : undefined;
  return machine === undefined ? [] : ownerRequests(machine, KubeadmControlPlane, false);
}

/** Whether the control plane compares what has changed; the Machine reports the rest. */
const specMatters: Predicate<KubeadmConfig> = { update: (config, old) => !deepEqual(config.spec, old.spec) };

/** A CRD that appears cures control planes whose template led nowhere. */
function planesThatRefer(crd: CustomResourceDefinition, cache: Cache): Request[] {
  if (!cache.synced(KubeadmControlPlane)) return [];
  const { group, names } = crd.spec;
  return cache
    .list(KubeadmControlPlane)
    .filter(({ spec }) => {
      const { apiGroup, kind } = spec.machineTemplate.spec.infrastructureRef;
      return apiGroup === group && (kind === names.kind || kind === `${names.kind}Template`);
    })
    .flatMap(requestFor);
}
