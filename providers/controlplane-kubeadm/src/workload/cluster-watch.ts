import type { Clock, KubeObject, Random } from "@capstan/apimachinery";
import { ConfigMap, type WorkloadConnection } from "@capstan/capi";
import { Cache, type Client, type Informer, type Logger } from "@capstan/runtime";
import { Pod } from "@capstan/workloads";
import { KUBEADM_CONFIG } from "./kubeadm-config.ts";
import { STATIC_PODS } from "./static-pods.ts";

/** How long a reconcile waits for the first list of a cluster. */
const FIRST_LIST_MS = 3000;

/** Dependencies of ClusterWatch. */
export interface ClusterWatchDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called for every change; `etcd` says whether the members may have changed. */
  readonly changed: (etcd: boolean) => void;
}

/** What the watches of a workload cluster show. */
export interface ClusterSight {
  pod(name: string): Pod | undefined;
  readonly kubeadmConfig: ConfigMap | undefined;
}

/** Watches the static pods and the ConfigMap kubeadm-config of one workload cluster; a new connection begins from scratch. */
export class ClusterWatch {
  readonly #deps: ClusterWatchDeps;
  #current: { client: Client; cache: Cache } | undefined;

  constructor(deps: ClusterWatchDeps) {
    this.#deps = deps;
  }

  /** What is there now, or why that is unknown. */
  async sight(connection: WorkloadConnection): Promise<ClusterSight | { readonly unreachable: string }> {
    if (connection.state !== "connected") return { unreachable: connection.error };
    const cache = this.#cacheOf(connection.client);
    const pods = cache.informer(Pod);
    const configs = cache.informer(ConfigMap);
    const problem = (await this.#firstList(pods)) ?? (await this.#firstList(configs));
    if (problem !== undefined) return { unreachable: problem };
    return {
      pod: (name) => cache.get(Pod, { namespace: STATIC_PODS.namespace, name }),
      kubeadmConfig: cache.get(ConfigMap, KUBEADM_CONFIG),
    };
  }

  /** Changes whenever the ConfigMap kubeadm-config does. */
  get kubeadmConfigVersion(): string {
    const cache = this.#current?.cache;
    if (cache?.synced(ConfigMap) !== true) return "";
    return cache.get(ConfigMap, KUBEADM_CONFIG)?.metadata.resourceVersion ?? "";
  }

  /** Stops all watches. */
  stop(): void {
    const current = this.#current;
    this.#current = undefined;
    current?.cache.stop().catch((error: unknown) => this.#deps.log.debug("failed to stop a watch", { error }));
  }

  #cacheOf(client: Client): Cache {
    if (this.#current?.client === client) return this.#current.cache;
    this.stop();
    const { clock, random, log, changed } = this.#deps;
    const cache = new Cache(client, { clock, random, log });
    cache.restrict(Pod, STATIC_PODS);
    cache.restrict(ConfigMap, {
      namespace: KUBEADM_CONFIG.namespace,
      fieldSelector: `metadata.name=${KUBEADM_CONFIG.name}`,
    });
    const pod = ({ metadata }: KubeObject): void => changed(metadata.name?.startsWith("etcd-") === true);
    cache.informer(Pod).addHandler({ add: pod, update: pod, delete: pod });
    const config = (): void => changed(false);
    cache.informer(ConfigMap).addHandler({ add: config, update: config, delete: config });
    for (const kind of [Pod, ConfigMap]) cache.informer<KubeObject>(kind).onHealth(config);
    cache.start();
    this.#current = { client, cache };
    return cache;
  }

  /** Waits a moment for the first list; gives back why there is none. */
  async #firstList<T extends KubeObject>(informer: Informer<T>): Promise<string | undefined> {
    const stop = new AbortController();
    const cancel = this.#deps.clock.after(FIRST_LIST_MS, () => stop.abort(new Error("too late")));
    try {
      if (!(await informer.syncedOrError(stop.signal)))
        return `the ${informer.kind.plural} of kube-system are being read`;
      return informer.error === undefined ? undefined : messageOf(informer.error);
    } catch (error) {
      return messageOf(error);
    } finally {
      cancel();
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
