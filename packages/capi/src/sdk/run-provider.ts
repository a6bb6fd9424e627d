import { hostname } from "node:os";
import type { Clock, Random, Transport } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import {
  Cache,
  Client,
  EventRecorder,
  httpTransport,
  type Logger,
  type Metrics,
  startControllers,
  systemDialGate,
} from "@capstan/runtime";
import { Secret } from "../contract/builtin-kinds.ts";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import { crdWithoutWebhook } from "../webhooks/configurations.ts";
import { WorkloadCalls } from "../workload/workload-calls.ts";
import { WorkloadConnections } from "../workload/workload-connections.ts";
import { kindsRole, untilServed } from "./install-kinds.ts";
import type { Provider, ProviderDeps } from "./provider.ts";

/** Where a provider works, and what it is given. */
export interface RunProviderOptions {
  /** A management cluster that has Cluster API: Capstan's, or upstream's on any Kubernetes. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  /** Which addresses of workload clusters may be dialed; default: none of this machine, no link-local and no metadata address. */
  readonly gate?: DialGate | undefined;
  /** Folder for files that must survive a restart; default: the current one. */
  readonly dataDir?: string | undefined;
  /** Address of this machine that nodes and management controllers reach; default: loopback. */
  readonly nodeAddress?: string | undefined;
}

/** A running provider. */
export interface RunningProvider {
  /** Stops after the running reconciles; nothing outside is changed, and the next start continues. */
  stop(): Promise<void>;
}

/**
 * Runs one provider as a process of its own: installs its kinds in their stored version, with the role by which the core of Cluster API may
 * use them, and starts its controllers.
 */
export async function runProvider(
  provider: Provider<ProviderDeps>,
  options: RunProviderOptions,
): Promise<RunningProvider> {
  const { clock, random, log, metrics } = options;
  const client = new Client(options.transport, { fieldManager: `${provider.name}-provider`, clock });
  const crds = provider.kinds.map((kind) => crdWithoutWebhook(kind));
  await Promise.all([...crds, kindsRole(provider.name, provider.kinds)].map((object) => client.apply(object)));
  await untilServed(provider.kinds, client, clock);
  const cache = new Cache(client, { clock, random, log });
  cache.restrict(Secret, { labelSelector: CLUSTER_NAME_LABEL });
  const gate = options.gate ?? systemDialGate();
  const workload = new WorkloadConnections({ cache, clock, random, log, gate });
  const loaded = await provider.load({
    client,
    cache,
    clock,
    random,
    log,
    metrics,
    workload,
    calls: new WorkloadCalls(clock),
    gate,
    dataDir: options.dataDir ?? ".",
    nodeAddress: options.nodeAddress ?? "127.0.0.1",
    connect: (config) => httpTransport({ ...config, gate }, { clock }),
    capacitySources: () => (loaded.capacity === undefined ? [] : [loaded.capacity]),
  });
  loaded.addIndexes(cache);
  const recorder = new EventRecorder({
    client,
    clock,
    random,
    log,
    controller: `capstan.dev/${provider.name}`,
    instance: hostname(),
  });
  const stopping = new AbortController();
  const endConnections = workload.start();
  const running = startControllers(
    loaded.controllers({ workload }),
    { cache, clock, random, log, recorder, metrics },
    stopping.signal,
  );
  return {
    stop: async () => {
      stopping.abort(new Error("the provider is stopping"));
      await running.finished;
      await loaded.close?.("keep");
      await recorder.stop();
      await endConnections();
      await cache.stop();
    },
  };
}
