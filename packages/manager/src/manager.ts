import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock, Random, Transport } from "@capstan/apimachinery";
import type { AddressRange, DialGate } from "@capstan/apimachinery/foreign";
import type { SharedStores } from "@capstan/apiserver";
import {
  CLUSTER_NAME_LABEL,
  indexCustomResourceDefinitions,
  type LoadedProvider,
  Secret,
  WorkloadCalls,
  type WorkloadClusters,
  WorkloadConnections,
} from "@capstan/capi";
import type { NodeLabelSync } from "@capstan/core";
import { binariesIn, kubernetesDir } from "@capstan/kubernetes-install";
import {
  Cache,
  Client,
  type ControllerDeps,
  EventRecorder,
  httpTransport,
  type Logger,
  type Metrics,
  startControllers,
  systemDialGate,
} from "@capstan/runtime";
import { EmbeddedClusters, type OwnerLimits, PortAllocator, SimulatedControlPlanes } from "@capstan/workloads";
import { observeClusterStates } from "./cluster-metrics.ts";
import { recordTransitions } from "./history/record-transitions.ts";
import { installKinds } from "./install-kinds.ts";
import { openEmbeddedStores } from "./instance-store.ts";
import { kindsOf, type ManagedProvider, type ManagerDeps, PROVIDERS } from "./providers.ts";
import { type KindServing, type ServedBy, serveKinds } from "./webhooks.ts";

/** What a manager runs with: the management API, the providers, and the resources of this machine. */
export interface ManagerOptions {
  /** The management API: embedded or any Kubernetes. */
  transport: Transport;
  /** Holds processes of hosted control planes and installed binaries on this machine. */
  dataDir: string;
  /** Further folders with Kubernetes programs, as `VERSION/bin/PROGRAM`. */
  kubernetesDirs?: readonly string[];
  /** Address of this machine at which nodes reach hosted control planes. */
  nodeAddress?: string;
  /** Host control planes of several namespaces as processes although they cannot be isolated from each other. */
  trustTenants?: boolean;
  /** What the processes of one hosted control plane may use together. */
  controlPlaneLimits?: Partial<OwnerLimits>;
  /** Where embedded control planes keep their data; by default unencrypted in the data directory. */
  embeddedStores?: (() => Promise<SharedStores>) | "memory";
  /** Whether the management API is a cluster that runs pods; the embedded one does not. */
  runsPods?: boolean;
  /** Whether BareMetalHosts are driven from here; default `auto`: unless upstream's baremetal-operator runs in the cluster. */
  bareMetalHosts?: "auto" | "off";
  /** Further labels and annotations of Machines that their Nodes get. */
  nodeLabelSync?: NodeLabelSync;
  /** How our kinds are converted and admitted; by default not at all, so that only stored versions are served. */
  kinds?: KindServing;
  /** Instead of `kinds`: the server that already serves them and continues when the controllers stop. */
  servedBy?: ServedBy;
  /** Addresses that objects may have dialled although they are this machine's, loopback, link-local or a cloud's metadata service. */
  allowAddresses?: readonly AddressRange[];
  /** The providers to load; by default those of this tree. */
  providers?: readonly ManagedProvider[];
  /** Where the controllers' figures go. */
  metrics?: Metrics;
  clock: Clock;
  random: Random;
  log: Logger;
}

/** The running controllers of one manager. */
export interface Manager {
  /** What the controllers see of the management API. */
  readonly cache: Cache;
  /** What the controllers see of the workload clusters. */
  readonly workload: WorkloadClusters;
  /** The control planes whose machines are simulated in this process. */
  readonly planes: SimulatedControlPlanes;
  /** Stops the controllers; programs that they started keep running and are adopted by the next manager. */
  stop(): Promise<void>;
  /** Stops the controllers and everything they run on this machine. */
  shutDown(): Promise<void>;
  idle(): boolean;
}

/** Loads the providers and starts their controllers on one shared cache. */
export async function startManager(options: ManagerOptions): Promise<Manager> {
  const { clock, random, log, metrics } = options;
  const client = new Client(options.transport, { fieldManager: "capstan", clock });
  const providers = options.providers ?? PROVIDERS;
  const kinds = kindsOf(providers);
  const servedBy =
    options.servedBy ??
    (await serveKinds(options.kinds ?? "stored-version-only", client, kinds, { clock, random, metrics, log }));
  await installKinds(providers, client, clock, servedBy);
  const cache = new Cache(client, { clock, random, log });
  cache.restrict(Secret, { labelSelector: CLUSTER_NAME_LABEL });
  indexCustomResourceDefinitions(cache);
  const gate = systemDialGate(options.allowAddresses);
  const embedded = embeddedClusters(options, gate);
  const workload = new WorkloadConnections({
    cache,
    clock,
    random,
    log,
    gate,
    dial: (config) => embedded.dial(config),
  });
  const planes = new SimulatedControlPlanes({ embedded, clock, random });
  const loaded: LoadedProvider[] = [];
  const given: ManagerDeps = {
    client,
    cache,
    clock,
    random,
    log,
    metrics,
    workload,
    calls: new WorkloadCalls(clock),
    gate,
    dataDir: options.dataDir,
    nodeAddress: options.nodeAddress ?? "127.0.0.1",
    connect: (config, hint) => embedded.dial(config, hint) ?? httpTransport({ ...config, gate }, { clock }),
    capacitySources: () => loaded.flatMap(({ capacity }) => capacity ?? []),
    embedded,
    planes,
    etcdInProcess: planes,
    binaries: binariesIn([kubernetesDir(options.dataDir), ...(options.kubernetesDirs ?? [])]),
    runsPods: options.runsPods,
    trustTenants: options.trustTenants,
    controlPlaneLimits: options.controlPlaneLimits,
    bareMetalHosts: options.bareMetalHosts,
    nodeLabelSync: options.nodeLabelSync,
  };
  // One after the other: their order decides the order of controllers, and none takes long.
  for (const provider of providers) loaded.push(await provider.load(given));
  for (const provider of loaded) provider.addIndexes(cache);
  const controllers = loaded.flatMap((provider) => provider.controllers({ workload }));
  const stopping = new AbortController();
  const recorder = new EventRecorder({
    client,
    clock,
    random,
    log,
    controller: "capstan.dev/manager",
    instance: hostname(),
  });
  const deps: ControllerDeps = { cache, clock, random, log, recorder, metrics };
  metrics?.watchObjects(cache);
  if (metrics !== undefined) observeClusterStates(metrics, cache, providers, clock);
  const stopConnections = workload.start();
  const stopHistory = recordTransitions(cache, recorder);
  const running = startControllers(controllers, deps, stopping.signal);
  const stop = async (programs: "stop" | "keep"): Promise<void> => {
    stopping.abort(new Error("the manager is stopping"));
    await running.finished;
    stopHistory();
    await recorder.stop();
    await stopConnections();
    for (const provider of loaded) await provider.close?.(programs);
    await cache.stop();
    if (options.servedBy === undefined) await servedBy.close();
    planes.close();
    await embedded.close();
  };
  return {
    cache,
    workload,
    planes,
    stop: () => stop("keep"),
    shutDown: () => stop("stop"),
    idle: () => running.idle(),
  };
}

/** Control planes in this process; one listener for all, on a port that stays the same over restarts. */
function embeddedClusters(options: ManagerOptions, gate: DialGate): EmbeddedClusters {
  const { clock, random, log } = options;
  const host = options.nodeAddress ?? "127.0.0.1";
  const ports = new PortAllocator(join(options.dataDir, "embedded"));
  const port = async (): Promise<number> => {
    const { api = 0 } = await ports.allocate("shared/listener", ["api"], host);
    gate.serves("shared/listener", { host, port: api });
    return api;
  };
  const report = (message: string, error: unknown): void => log.error(message, { error });
  const given = options.embeddedStores ?? (() => openEmbeddedStores(options.dataDir, undefined, options));
  const stores = given === "memory" ? {} : { stores: given };
  return new EmbeddedClusters({ clock, random, log: report, listen: { host, port }, gate, ...stores });
}
