import type { Clock, Random, Transport } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import {
  Cache,
  Client,
  type ClientConfig,
  httpTransport,
  kindRef,
  kubeconfigFromText,
  type Logger,
} from "@capstan/runtime";
import { Secret, secretText } from "../contract/builtin-kinds.ts";
import { CLUSTER_NAME_LABEL, clusterSecretName } from "../contract/constants.ts";
import { Machine } from "../kinds/machine.ts";
import { isControlPlaneMachine } from "../machines/machine-aggregates.ts";
import { throughMachines } from "./machine-ways.ts";
import type { ClusterKey, Node, NodeView, WorkloadClusters, WorkloadConnection } from "./types.ts";

const NodeKind = kindRef<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
const BY_PROVIDER_ID = "provider-id";
/** How long a cluster may take to answer for the first time: its control plane may be restarting together with this process. */
export const CONNECTING_MS = 60_000;

/** Twice as many as Kubernetes supports. */
const MAX_NODES = 10_000;

/** Dependencies of WorkloadConnections. */
export interface WorkloadConnectionsOptions {
  /** Cache of the management cluster, which the kubeconfig Secrets are read from. */
  cache: Cache;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Decides which addresses may be dialed, because everyone who may write Secrets can choose the server. */
  gate: DialGate;
  /** Returns another transport for a server, if there is one: embedded control planes are called in process. */
  dial?: (config: ClientConfig) => Transport | undefined;
}

type Listener = (cluster: ClusterKey, nodeName: string | undefined) => void;

interface Connection {
  /** The kubeconfig of the connection: another one requires another connection. */
  kubeconfig: string;
  state: WorkloadConnection;
  /** The same API at the control plane Machines, opened when it is asked for while the endpoint is down. */
  atMachines?: Connection;
  /** Does not wait any longer for the next attempt. */
  retry(): void;
  stop(): Promise<void>;
}

/**
 * Keeps one connection per workload cluster, with a watch on its Nodes. It connects when the kubeconfig Secret appears and reconnects
 * when that changes. One that does not answer is asked again when a control plane Machine of it is provisioned, and less and less often
 * otherwise; it does not delay the others.
 */
export class WorkloadConnections implements WorkloadClusters {
  readonly #options: WorkloadConnectionsOptions;
  readonly #connections = new Map<string, Connection>();
  readonly #listeners = new Set<Listener>();
  readonly #startedMs: number;

  constructor(options: WorkloadConnectionsOptions) {
    this.#options = options;
    this.#startedMs = options.clock.now();
  }

  /** Starts watching kubeconfig Secrets and Machines; the returned function closes all connections. */
  start(): () => Promise<void> {
    const { cache } = this.#options;
    const removeSecrets = cache.informer(Secret).addHandler({
      add: (secret) => this.#follow(secret),
      update: (secret) => this.#follow(secret),
      delete: (secret) => this.#forget(secret),
    });
    const removeMachines = cache
      .informer(Machine)
      .addHandler({ update: (machine, old) => this.#provisioned(machine, old) });
    return async () => {
      removeSecrets();
      removeMachines();
      const all = [...this.#connections.values()];
      this.#connections.clear();
      await Promise.all(all.map((connection) => connection.stop()));
    };
  }

  get(cluster: ClusterKey): WorkloadConnection {
    const found = this.#connections.get(keyText(cluster));
    return (
      found?.state ?? {
        state: "connecting",
        since: this.#startedMs,
        error: `there is no Secret ${clusterSecretName(cluster.name, "kubeconfig")} yet`,
      }
    );
  }

  atMachines(cluster: ClusterKey): WorkloadConnection {
    const own = this.#connections.get(keyText(cluster));
    if (own?.state.state !== "down") return this.get(cluster);
    if (own.atMachines === undefined) {
      if (!this.#machinesOf(cluster).some(({ status }) => status?.nodeRef !== undefined)) return own.state;
      own.atMachines = this.#connect(cluster, own.kubeconfig, true);
    }
    const { state } = own.atMachines;
    return state.state === "connected"
      ? state
      : { ...own.state, error: `${own.state.error}; at its Machines: ${state.error}` };
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** From about now on the API of a first control plane Machine answers. */
  #provisioned(machine: Machine, old: Machine): void {
    const isProvisioned = ({ status }: Machine): boolean => status?.initialization?.infrastructureProvisioned === true;
    if (!isProvisioned(machine) || isProvisioned(old) || !isControlPlaneMachine(machine)) return;
    const cluster = { namespace: machine.metadata.namespace ?? "", name: machine.spec.clusterName };
    this.#connections.get(keyText(cluster))?.retry();
  }

  #follow(secret: Secret): void {
    const cluster = clusterOf(secret);
    if (cluster === undefined) return;
    const kubeconfig = secretText(secret, "value");
    const existing = this.#connections.get(keyText(cluster));
    if (kubeconfig === undefined || existing?.kubeconfig === kubeconfig) return;
    void existing?.stop();
    this.#connections.set(keyText(cluster), this.#connect(cluster, kubeconfig));
    this.#notify(cluster, undefined);
  }

  #forget(secret: Secret): void {
    const cluster = clusterOf(secret);
    const existing = cluster === undefined ? undefined : this.#connections.get(keyText(cluster));
    if (cluster === undefined || existing === undefined) return;
    this.#connections.delete(keyText(cluster));
    void existing.stop();
    this.#notify(cluster, undefined);
  }

  #machinesOf({ namespace, name }: ClusterKey): Machine[] {
    const all = this.#options.cache.list(Machine, { namespace });
    return all.filter((machine) => machine.spec.clusterName === name && isControlPlaneMachine(machine));
  }

  #connect(cluster: ClusterKey, kubeconfig: string, atMachines = false): Connection {
    const { clock, random, log, gate } = this.#options;
    const stopping = new AbortController();
    let close: () => Promise<void> = () => Promise.resolve();
    let retry = (): void => undefined;
    const begunMs = clock.now();
    const connection: Connection = {
      kubeconfig,
      state: { state: "connecting", since: begunMs, error: "connecting" },
      retry: () => retry(),
      stop: () => {
        stopping.abort(new Error("the connection is no longer needed"));
        cancelPatience();
        void connection.atMachines?.stop();
        return close();
      },
    };
    const cancelPatience = clock.after(CONNECTING_MS, () => {
      if (connection.state.state !== "connecting" || stopping.signal.aborted) return;
      connection.state = { state: "down", since: begunMs, error: connection.state.error };
      this.#notify(cluster, undefined);
    });
    const open = async (): Promise<void> => {
      const found = await kubeconfigFromText(kubeconfig, { clock, gate });
      const machines = (): Machine[] => this.#machinesOf(cluster);
      const config = atMachines ? throughMachines(found, { clock, gate, machines }) : found;
      // A stop in the meantime had nothing to close yet: connections opened from here on would never be closed.
      if (stopping.signal.aborted) return;
      const inProcess = atMachines ? undefined : this.#options.dial?.(config);
      const transport = inProcess ?? httpTransport(config, { clock });
      const client = new Client(transport, { fieldManager: "capstan-workload", clock, maxObjects: MAX_NODES });
      // Bootstrap providers write tokens first of all: no need to ask the server where Secrets are.
      client.mapper.register(Secret);
      const nodes = new Cache(client, { clock, random, log });
      nodes.addIndex(NodeKind, BY_PROVIDER_ID, (node) =>
        node.spec?.providerID === undefined ? [] : [node.spec.providerID],
      );
      close = async () => {
        await nodes.stop();
        await transport.close();
      };
      const informer = nodes.informer(NodeKind);
      const changed = (node: Node): void => this.#notify(cluster, node.metadata.name);
      informer.addHandler({ add: changed, update: changed, delete: changed });
      retry = () => informer.retry();
      nodes.start();
      // A failing watch is the first sign that a cluster does not respond: nothing else probes it.
      const follow = (error: unknown): void => {
        if (stopping.signal.aborted) return;
        if (informer.synced && error === undefined) {
          connection.state = connectedSince(connection.state, clock.now(), nodes);
          void connection.atMachines?.stop();
          delete connection.atMachines;
        } else if (error !== undefined) connection.state = failedSince(connection.state, clock.now(), error);
        else return;
        this.#notify(cluster, undefined);
      };
      informer.onHealth(follow);
      if (await informer.waitForSync(stopping.signal)) follow(informer.error);
    };
    open().catch((error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      connection.state = { state: "down", since: clock.now(), error: text };
      this.#notify(cluster, undefined);
    });
    return connection;
  }

  #notify(cluster: ClusterKey, nodeName: string | undefined): void {
    for (const listener of this.#listeners) this.#tell(listener, cluster, nodeName);
  }

  /** A failing listener does not affect the connection; one that needs a kind that is still being listed is called again then. */
  #tell(listener: Listener, cluster: ClusterKey, nodeName: string | undefined): void {
    const { cache, log } = this.#options;
    try {
      listener(cluster, nodeName);
    } catch (error) {
      const again = (): void => {
        if (this.#listeners.has(listener)) this.#tell(listener, cluster, nodeName);
      };
      if (!cache.afterSync(error, again))
        log.error("failed to handle a change of a workload cluster", { ...cluster, error });
    }
  }
}

function connectedSince(before: WorkloadConnection, nowMs: number, nodes: Cache): WorkloadConnection {
  const since = before.state === "connected" ? before.since : nowMs;
  return { state: "connected", since, client: nodes.client, nodes: nodeView(nodes) };
}

function failedSince(before: WorkloadConnection, nowMs: number, error: unknown): WorkloadConnection {
  const text = error instanceof Error ? error.message : String(error);
  if (before.state === "connected") return { state: "down", since: nowMs, error: text };
  return { ...before, error: text };
}

function nodeView(cache: Cache): NodeView {
  return {
    list: () => cache.list(NodeKind),
    get: (name) => cache.get(NodeKind, { name }),
    byProviderID: (id) => cache.byIndex(NodeKind, BY_PROVIDER_ID, id)[0],
  };
}

function keyText(cluster: ClusterKey): string {
  return `${cluster.namespace}/${cluster.name}`;
}

/** The Cluster a kubeconfig Secret belongs to; undefined for any other Secret. */
function clusterOf(secret: Secret): ClusterKey | undefined {
  const name = secret.metadata.labels?.[CLUSTER_NAME_LABEL];
  if (name === undefined || secret.metadata.name !== clusterSecretName(name, "kubeconfig")) return undefined;
  return { namespace: secret.metadata.namespace ?? "", name };
}
