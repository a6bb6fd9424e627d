import { lookup } from "node:dns/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock, Random, Transport } from "@capstan/apimachinery";
import type { AddressRange, DialGate } from "@capstan/apimachinery/foreign";
import type { SharedStores } from "@capstan/apiserver";
import { addBootstrapKubeadmIndexes, bootstrapKubeadmControllers } from "@capstan/bootstrap-kubeadm";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ClusterKey,
  indexCustomResourceDefinitions,
  Secret,
  WorkloadConnections,
} from "@capstan/capi";
import {
  controlPlaneOf,
  EmbeddedPlacement,
  HostedControlPlane,
  hostedControlPlaneController,
  type Placement,
  type PlacementType,
  PodsPlacement,
  stopRank,
  TokenSigner,
} from "@capstan/controlplane-hosted";
import {
  type AlsoOnNodes,
  addCoreIndexes,
  addSupportingIndexes,
  addWorkerPoolIndexes,
  coreControllers,
  supportingControllers,
  workerPoolController,
} from "@capstan/core";
import { byohProvider } from "@capstan/infra-byoh";
import { memoryProvider } from "@capstan/infra-memory";
import { addMetaIndexes, metaControllers } from "@capstan/infra-meta";
import { bareMetalHosts, type MemoryBmcOptions, metal3Provider } from "@capstan/infra-metal3";
import {
  Cache,
  Client,
  type Controller,
  type ControllerDeps,
  EventRecorder,
  httpTransport,
  type Logger,
  type Metrics,
  startControllers,
  systemDialGate,
} from "@capstan/runtime";
import { EmbeddedClusters, HostClusters, type OwnerLimits, PortAllocator } from "@capstan/workloads";
import { observeClusterStates } from "./cluster-metrics.ts";
import { recordTransitions } from "./history/record-transitions.ts";
import { installKinds } from "./install-kinds.ts";
import { openEmbeddedStores } from "./instance-store.ts";
import { KINDS } from "./kinds.ts";
import { metalDrivers } from "./metal-drivers.ts";
import { processPlacement } from "./process-placement.ts";
import { metalMachineVersion } from "./simulation/machine-version.ts";
import { ResumedKubelets } from "./simulation/resumed-kubelet.ts";
import { simulatedAgents } from "./simulation/simulated-agents.ts";
import { type KindServing, type ServedBy, serveKinds } from "./webhooks.ts";

export interface ManagerOptions {
  /** The management API: embedded or any Kubernetes. */
  transport: Transport;
  /** Holds what runs on this machine: processes of hosted control planes, installed programs. */
  dataDir: string;
  /** Further folders with Kubernetes programs, as `VERSION/bin/PROGRAM`. */
  kubernetesDirs?: readonly string[];
  /** Address of this machine that nodes reach hosted control planes at. */
  nodeAddress?: string;
  /** Host control planes of several namespaces as processes although they cannot be isolated from each other. */
  trustTenants?: boolean;
  /** What the processes of one hosted control plane may use together. */
  controlPlaneLimits?: Partial<OwnerLimits>;
  /** Where embedded control planes keep their data; by default unencrypted in the data directory. */
  embeddedStores?: () => Promise<SharedStores>;
  /** Whether the management API is a cluster that runs pods; the embedded one does not. */
  runsPods?: boolean;
  /** Whether BareMetalHosts are driven from here; default `auto`: unless upstream's baremetal-operator runs in the cluster. */
  bareMetalHosts?: "auto" | "off";
  /** Further labels and annotations of Machines that their Nodes get. */
  alsoOnNodes?: AlsoOnNodes;
  /** Who converts and admits our kinds; by default nobody, and only stored versions are served. */
  kinds?: KindServing;
  /** Instead of `kinds`: what serves them already and goes on when the controllers stop. */
  servedBy?: ServedBy;
  /** Addresses that objects may have dialled although they are this machine's, loopback, link-local or a cloud's metadata service. */
  allowAddresses?: readonly AddressRange[];
  /** Where the controllers' figures go. */
  metrics?: Metrics;
  clock: Clock;
  random: Random;
  log: Logger;
}

/** A running set of controllers. */
export interface Manager {
  /** What the controllers see of the management API. */
  readonly cache: Cache;
  /** Stops the controllers; programs that they started go on running and are adopted by the next manager. */
  stop(): Promise<void>;
  /** Stops the controllers and everything they run on this machine. */
  shutDown(): Promise<void>;
  idle(): boolean;
}

/** Puts providers together and starts them over one cache. */
export async function startManager(options: ManagerOptions): Promise<Manager> {
  const { clock, random, log, metrics } = options;
  const client = new Client(options.transport, { fieldManager: "capstan", clock });
  const servedBy =
    options.servedBy ??
    (await serveKinds(options.kinds ?? "stored-version-only", client, { clock, random, metrics, log }));
  await installKinds(client, clock, servedBy);
  const cache = new Cache(client, { clock, random, log });
  cache.restrict(Secret, { labelSelector: CLUSTER_NAME_LABEL });
  indexCustomResourceDefinitions(cache);
  addCoreIndexes(cache);
  addSupportingIndexes(cache);
  addMetaIndexes(cache);
  addWorkerPoolIndexes(cache);
  addBootstrapKubeadmIndexes(cache);
  const gate = systemDialGate(options.allowAddresses);
  const embedded = embeddedClusters(options, gate);
  const simulation: MemoryBmcOptions = {
    clock,
    random,
    log,
    seed: 1,
    connect: (config, hint) => embedded.dial(config, hint) ?? httpTransport({ ...config, gate }, { clock }),
    kubeletOf: (host) => metalMachineVersion(host, cache),
  };
  const resumed = new ResumedKubelets(cache, () => workload);
  const memory = memoryProvider(simulation);
  memory.addIndexes(cache);
  const byoh = byohProvider();
  byoh.addIndexes(cache);
  const bmcs = metalDrivers(options, { ...simulation, resumed: (host) => resumed.ofMetal(host) }, gate);
  const metalHosts = bareMetalHosts({ clock, random, drivers: bmcs.drivers });
  metalHosts.addIndexes(cache);
  const metal = metal3Provider();
  metal.addIndexes(cache);
  const workload = new WorkloadConnections({
    cache,
    clock,
    random,
    log,
    gate,
    dial: (config) => embedded.dial(config),
  });
  const processes = await processPlacement(options, gate);
  const hosts = new HostClusters({
    management: options.runsPods === true ? client : undefined,
    fieldManager: client.fieldManager,
    clock,
    random,
    log,
    gate,
  });
  const controllers: Controller[] = [
    ...coreControllers({ cache, workload, clock, alsoOnNodes: options.alsoOnNodes ?? {} }),
    ...supportingControllers({ workload, clock }),
    ...metaControllers(),
    ...memory.controllers({ workload }),
    ...byoh.controllers({ workload }),
    ...(options.bareMetalHosts === "off" ? [] : metalHosts.controllers()),
    ...metal.controllers({ workload }),
    simulatedAgents({ ...simulation, resumed: (host) => resumed.ofOwn(host) }),
    workerPoolController([byoh, metal].flatMap(({ capacity }) => capacity ?? [])),
    ...bootstrapKubeadmControllers({ workload, cache }),
    hostedControlPlaneController({
      placements: {
        Process: processes.placement,
        Embedded: new EmbeddedPlacement({ clusters: embedded, clock, random }),
        Pods: new PodsPlacement({ hosts, management: client, clock, random, log }),
      } satisfies Partial<Record<PlacementType, Placement>>,
      defaultPlacement: options.runsPods === true ? "Pods" : "Process",
      prepared: new Map(),
      gate,
      workload,
      resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
      backupDir: join(options.dataDir, "backups"),
      signer: new TokenSigner({ workload, isHosted: hostedIn(cache), clock, random, log }),
    }),
  ];
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
  if (metrics !== undefined) observeClusterStates(metrics, cache, KINDS, clock);
  const stopConnections = workload.start();
  const stopHistory = recordTransitions(cache, recorder);
  const running = startControllers(controllers, deps, stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort(new Error("the manager stops"));
    await running.finished;
    stopHistory();
    await bmcs.close();
    await recorder.stop();
    await stopConnections();
    await hosts.stop();
    await cache.stop();
    if (options.servedBy === undefined) await servedBy.close();
    await embedded.close();
  };
  return {
    cache,
    stop: async () => {
      await stop();
      processes.workloads.release();
    },
    shutDown: async () => {
      await stop();
      await processes.workloads.stopAll((id) => stopRank(id.name));
    },
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
  const stores = options.embeddedStores ?? (() => openEmbeddedStores(options.dataDir, undefined, options));
  return new EmbeddedClusters({ clock, random, log: report, listen: { host, port }, gate, stores });
}

/** Whether a Cluster's control plane is a hosted one that does not sign for itself. */
function hostedIn(cache: Cache): (key: ClusterKey) => boolean {
  return (key) => {
    const cluster = cache.get(Cluster, key);
    const [plane] = cluster === undefined ? [] : controlPlaneOf(cluster);
    return plane !== undefined && cache.get(HostedControlPlane, plane)?.spec.placement?.type !== "Embedded";
  };
}
