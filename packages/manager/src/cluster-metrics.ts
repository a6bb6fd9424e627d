import type { Clock, KubeObject } from "@capstan/apimachinery";
import {
  assess,
  clusterTree,
  hostKinds,
  isTreeKind,
  objectsByCluster,
  type ProviderDescription,
  STATES,
  type StateName,
} from "@capstan/capi";
import type { Cache, Kind, KindRef, Metrics } from "@capstan/runtime";

/** Both gauges are read in one scrape: the states are decided once for it. */
const SCRAPE_MS = 500;

/** A provider with the kinds that it serves. */
type ObservedProvider = ProviderDescription & { readonly kinds: readonly KindRef[] };

/**
 * Registers gauges of the clusters' states, decided by the same function as in the command line and the dashboard. They are computed when
 * Prometheus scrapes them.
 */
export function observeClusterStates(
  metrics: Metrics,
  cache: Cache,
  providers: readonly ObservedProvider[],
  clock: Clock,
): void {
  const hosts = hostKinds(providers);
  const shown = providers.flatMap(({ kinds }) => kinds.filter((kind) => isTreeKind(kind, hosts)));
  let judged = { atMs: Number.NEGATIVE_INFINITY, states: new Map<string, StateName>() };
  const states = (): ReadonlyMap<string, StateName> => {
    const nowMs = clock.now();
    if (nowMs - judged.atMs >= SCRAPE_MS)
      judged = { atMs: nowMs, states: clusterStates({ cache, kinds: shown, providers, nowMs }) };
    return judged.states;
  };
  metrics.gauge("capstan_clusters", "Number of clusters in each state", ["state"], () => {
    const all = [...states().values()];
    return STATES.map((state) => ({ labels: { state }, value: all.filter((each) => each === state).length }));
  });
  const labelNames = ["namespace", "name", "state"];
  metrics.gauge("capstan_cluster_state", "The state of a cluster: 1 for its current state", labelNames, () =>
    [...states()].map(([key, state]) => {
      const slash = key.indexOf("/");
      return { labels: { namespace: key.slice(0, slash), name: key.slice(slash + 1), state }, value: 1 };
    }),
  );
}

interface Observed {
  readonly cache: Cache;
  readonly kinds: readonly KindRef[];
  readonly providers: readonly ProviderDescription[];
  readonly nowMs: number;
}

/** The state of every cluster by `namespace/name`. */
function clusterStates({ cache, kinds, providers, nowMs }: Observed): Map<string, StateName> {
  const objects: KubeObject[] = kinds.flatMap((kind) => (cache.synced(kind) ? cache.list(kind as Kind) : []));
  const states = new Map<string, StateName>();
  for (const [key, parts] of objectsByCluster(objects, providers)) {
    const { root } = clusterTree(parts, { nowMs, providers });
    if (root === undefined) continue;
    states.set(key, assess(root, { nowMs, namespace: key.slice(0, key.indexOf("/")), providers }).state.state);
  }
  return states;
}
