import type { KubeObject } from "@capstan/apimachinery";
import {
  annotationsChanged,
  anyOf,
  type Cache,
  type Controller,
  controller,
  generationChanged,
  labelsChanged,
  type Predicate,
  type ReconcileContext,
  type Request,
} from "@capstan/runtime";
import { CONTRACT_STATUS } from "../contract/status-deferral.ts";
import type { AnyKind } from "../kinds/all.ts";
import { Cluster } from "../kinds/cluster.ts";
import { Machine } from "../kinds/machine.ts";
import type { KindDefinition } from "../schema/kind.ts";
import type { WorkloadClusters } from "../workload/types.ts";
import { BY_CLUSTER_LABEL, type ClusterDefinition, reconcileInfraCluster } from "./cluster-reconciler.ts";
import type { ProviderDescription } from "./description.ts";
import type { AnyKindDefinition, InfraClusterObject, InfraMachineObject } from "./infra-kinds.ts";
import { byClusterLabel, type MachineDefinition, reconcileInfraMachine } from "./machine-reconciler.ts";
import type { LoadedProvider, Provider } from "./provider.ts";
import type { ProviderScope } from "./scope.ts";

const CONCURRENCY = 20;

/** An infrastructure provider as its author states it: its kinds and four functions (docs/guides/provider.md). */
export interface InfrastructureProviderOptions<C extends InfraClusterObject, M extends InfraMachineObject, B>
  extends Omit<ProviderDescription, "title"> {
  /** Name for people; by default the short name. */
  readonly title?: string;
  readonly cluster?: ClusterDefinition<C, B> & { readonly template?: AnyKindDefinition };
  readonly machine: MachineDefinition<M, B, C>;
  /** The outside world, behind the provider's own interface. */
  readonly backend: B;
  /** How many objects of a kind are worked on at the same time; default 20. */
  readonly concurrency?: number;
}

/** An infrastructure provider whose backend exists already: a Provider and its running part in one value. */
export interface InfrastructureProvider extends Provider<unknown>, LoadedProvider {}

/** Makes a complete provider; everything that is the same for all providers happens here. */
export function infrastructureProvider<C extends InfraClusterObject, M extends InfraMachineObject, B>(
  options: InfrastructureProviderOptions<C, M, B>,
): InfrastructureProvider {
  const { cluster, machine, backend: _backend, concurrency: _concurrency, ...description } = options;
  const kinds = [cluster?.kind, cluster?.template, machine.kind, machine.template] as (AnyKindDefinition | undefined)[];
  const provider: InfrastructureProvider = {
    ...description,
    title: options.title ?? options.name,
    kinds: kinds.filter((kind) => kind !== undefined) as unknown as AnyKind[],
    load: () => provider,
    addIndexes: (cache) => {
      cache.addIndex<M>(machine.kind, BY_CLUSTER_LABEL, byClusterLabel);
      if (cluster !== undefined) cache.addIndex<C>(cluster.kind, BY_CLUSTER_LABEL, byClusterLabel);
    },
    controllers: ({ workload }) => [
      ...(cluster === undefined ? [] : [clusterController(options, cluster)]),
      machineController(options, workload),
    ],
  };
  return provider;
}

function clusterController<C extends InfraClusterObject, M extends InfraMachineObject, B>(
  options: InfrastructureProviderOptions<C, M, B>,
  definition: ClusterDefinition<C, B>,
): Controller {
  const { kind } = definition;
  const machineKind = options.machine.kind as unknown as KindDefinition<InfraMachineObject>;
  const byLabel = (object: KubeObject, cache: Cache): Request[] =>
    byClusterLabel(object).flatMap((key) => cache.byIndex<C>(kind, BY_CLUSTER_LABEL, key).flatMap(requestOf));
  return (
    controller(`${options.name}-cluster`)
      .for<C>(kind)
      .watches(
        Cluster,
        (cluster, cache) => {
          const reference = cluster.spec?.infrastructureRef;
          const { namespace = "", name } = cluster.metadata;
          if (reference?.kind === kind.kind && reference.apiGroup === kind.group)
            return [{ namespace, name: reference.name }];
          // An additional one is paused with it, and has its endpoint.
          return cache.synced(kind)
            ? cache.byIndex<C>(kind, BY_CLUSTER_LABEL, `${namespace}/${name}`).flatMap(requestOf)
            : [];
        },
        { predicate: clusterMatters },
      )
      // The deletion of the last machine unblocks the deletion of its cluster.
      .watches(machineKind, byLabel, { predicate: { create: () => false, update: () => false } })
      .watchesRaw(sourceOf(definition.watch, options.backend))
      .concurrency(options.concurrency ?? CONCURRENCY)
      .deferStatus(CONTRACT_STATUS)
      .reconcile((request, context) =>
        reconcileInfraCluster(request, context, definition, machineKind, providerScope(options.backend, context)),
      )
  );
}

function machineController<C extends InfraClusterObject, M extends InfraMachineObject, B>(
  options: InfrastructureProviderOptions<C, M, B>,
  workload: WorkloadClusters,
): Controller {
  const { machine: definition, cluster } = options;
  const { kind } = definition;
  return controller(`${options.name}-machine`)
    .for<M>(kind)
    .watches(
      Machine,
      (machine) => {
        const reference = machine.spec.infrastructureRef;
        const own = reference.kind === kind.kind && reference.apiGroup === kind.group;
        return own ? [{ namespace: machine.metadata.namespace ?? "", name: reference.name }] : [];
      },
      { predicate: anyOf(generationChanged, labelsChanged, annotationsChanged) },
    )
    .watches(
      Cluster,
      (object, cache) =>
        cache
          .byIndex<M>(kind, BY_CLUSTER_LABEL, `${object.metadata.namespace}/${object.metadata.name}`)
          .flatMap(requestOf),
      { predicate: clusterMatters },
    )
    .watchesRaw(sourceOf(definition.watch, options.backend))
    .concurrency(options.concurrency ?? CONCURRENCY)
    .deferStatus(CONTRACT_STATUS)
    .reconcile((request, context) =>
      reconcileInfraMachine(
        request,
        context,
        definition,
        cluster?.kind,
        providerScope(options.backend, context),
        workload,
      ),
    );
}

/** Of a Cluster only this is read; its counters change all the time. */
const clusterMatters: Predicate<Cluster> = {
  update: (cluster, old) =>
    cluster.metadata.generation !== old.metadata.generation ||
    cluster.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    cluster.status?.initialization?.infrastructureProvisioned !==
      old.status?.initialization?.infrastructureProvisioned ||
    cluster.status?.initialization?.controlPlaneInitialized !== old.status?.initialization?.controlPlaneInitialized,
};

function sourceOf<B>(
  watch: ((backend: B, changed: (object: Request) => void) => () => void) | undefined,
  backend: B,
): { start(enqueue: (request: Request) => void, signal: AbortSignal): void } {
  return {
    start: (enqueue, signal) => {
      const stop = watch?.(backend, enqueue);
      if (stop !== undefined) signal.addEventListener("abort", stop, { once: true });
    },
  };
}

function providerScope<B>(backend: B, context: ReconcileContext): ProviderScope<B> {
  const { clock, random, log, recorder, signal } = context;
  return { backend, clock, random, log, recorder, signal };
}

function requestOf(object: KubeObject): Request[] {
  return [{ namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" }];
}
