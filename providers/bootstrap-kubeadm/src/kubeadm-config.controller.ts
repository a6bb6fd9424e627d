import { deepEqual } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  CONTRACT_STATUS,
  CONTROL_PLANE_LABEL,
  type ContractReference,
  clusterSecretName,
  KubeadmConfig,
  Machine,
  MachinePool,
  Secret,
  type WorkloadCalls,
  type WorkloadClusters,
} from "@capstan/capi";
import { dropsRemovedFlags } from "@capstan/controlplane";
import { type Cache, type Controller, controller, type Predicate, type Request } from "@capstan/runtime";
import { type BootstrapState, reconcileKubeadmConfig } from "./kubeadm-config.reconcile.ts";
import { WORKLOAD_CALLS } from "./workload-call.ts";

const CONCURRENCY = 20;
const BY_CLUSTER = "kubeadm-config-cluster";

/** Dependencies and settings of the KubeadmConfig controller. */
export interface BootstrapKubeadmDeps {
  /** Connections to the workload clusters, in which join tokens are created. */
  workload: WorkloadClusters;
  /** The cache the controllers run on. */
  cache: Cache;
  /** Limits the calls of all controllers to workload clusters. */
  calls: WorkloadCalls;
  /** Lifetime of a join token; 15 minutes by default. */
  tokenTtlMs?: number;
}

/** Adds the cache indexes that the controller reads; call it before the cache starts. */
export function addBootstrapKubeadmIndexes(cache: Cache): void {
  cache.addIndex(Machine, BY_CLUSTER, (machine) =>
    isOurs(machine.spec.bootstrap.configRef) ? [`${machine.metadata.namespace}/${machine.spec.clusterName}`] : [],
  );
  cache.addIndex(MachinePool, BY_CLUSTER, (pool) =>
    isOurs(pool.spec.template.spec.bootstrap.configRef) ? [`${pool.metadata.namespace}/${pool.spec.clusterName}`] : [],
  );
}

/** Returns the KubeadmConfig controller. */
export function bootstrapKubeadmControllers(deps: BootstrapKubeadmDeps): Controller[] {
  const state: BootstrapState = {
    workload: deps.workload,
    calls: deps.calls.limited(WORKLOAD_CALLS),
    checks: new Map(),
    unlocked: new Set(),
    tokenTtlMs: deps.tokenTtlMs,
  };
  return [
    controller("kubeadm-config")
      .for(KubeadmConfig)
      .watches(Machine, machineConfigs, { predicate: machineChanges })
      .watches(MachinePool, poolConfigs)
      .watches(Cluster, (cluster, cache) => configsOf(cache, cluster.metadata), { predicate: clusterChanges })
      .watches(Secret, waitingForSecret)
      .watchesRaw({
        start: (enqueue, signal) => {
          const unsubscribe = deps.workload.subscribe((cluster, nodeName) => {
            // Nodes come and go; only the connection itself matters here.
            if (nodeName !== undefined) return;
            for (const request of configsOf(deps.cache, cluster)) enqueue(request);
          });
          signal.addEventListener("abort", unsubscribe, { once: true });
        },
      })
      .concurrency(CONCURRENCY)
      .deferStatus(CONTRACT_STATUS)
      .reconcile((request, context) => reconcileKubeadmConfig(request, context, state)),
  ];
}

function isOurs(reference: ContractReference | undefined): reference is ContractReference {
  return reference?.kind === KubeadmConfig.kind && reference.apiGroup === KubeadmConfig.group;
}

/** A Machine's own config; when a control plane Machine is deleted, all of the cluster, since it may have held the init lock. */
function* machineConfigs(machine: Machine, cache: Cache): Iterable<Request> {
  const { namespace = "", name = "", labels } = machine.metadata;
  const reference = machine.spec.bootstrap.configRef;
  if (isOurs(reference)) yield { namespace, name: reference.name };
  if (labels?.[CONTROL_PLANE_LABEL] !== undefined && cache.get(Machine, { namespace, name }) === undefined)
    yield* configsOf(cache, { namespace, name: machine.spec.clusterName });
}

function poolConfigs(pool: MachinePool): Request[] {
  const reference = pool.spec.template.spec.bootstrap.configRef;
  return isOurs(reference) ? [{ namespace: pool.metadata.namespace ?? "", name: reference.name }] : [];
}

/** The configs of a cluster's Machines and MachinePools. */
function configsOf(cache: Cache, cluster: { namespace?: string; name?: string }): Request[] {
  // What is not known yet is reconciled when it is.
  if (!cache.synced(Machine) || !cache.synced(MachinePool)) return [];
  const key = `${cluster.namespace}/${cluster.name}`;
  return [
    ...cache.byIndex(Machine, BY_CLUSTER, key).map((machine) => machine.spec.bootstrap.configRef),
    ...cache.byIndex(MachinePool, BY_CLUSTER, key).map((pool) => pool.spec.template.spec.bootstrap.configRef),
  ]
    .filter(isOurs)
    .map(({ name }) => ({ namespace: cluster.namespace ?? "", name }));
}

/** Certificates that configs may be waiting for. */
const PURPOSES = ["ca", "etcd", "proxy", "sa", "apiserver-etcd-client"] as const;

function waitingForSecret(secret: Secret, cache: Cache): Request[] {
  const name = secret.metadata.labels?.[CLUSTER_NAME_LABEL];
  if (name === undefined || !PURPOSES.some((purpose) => secret.metadata.name === clusterSecretName(name, purpose)))
    return [];
  if (!cache.synced(KubeadmConfig)) return [];
  return configsOf(cache, { ...secret.metadata, name }).filter(
    (request) => cache.get(KubeadmConfig, request)?.status?.initialization?.dataSecretCreated !== true,
  );
}

const machineChanges: Predicate<Machine> = {
  update: (machine, old) =>
    machine.metadata.generation !== old.metadata.generation ||
    (machine.status?.nodeRef === undefined) !== (old.status?.nodeRef === undefined) ||
    !deepEqual(machine.metadata.labels, old.metadata.labels),
};

const clusterChanges: Predicate<Cluster> = {
  update: (cluster, old) =>
    cluster.metadata.generation !== old.metadata.generation ||
    dropsRemovedFlags(cluster) !== dropsRemovedFlags(old) ||
    !deepEqual(cluster.status?.initialization, old.status?.initialization),
};
