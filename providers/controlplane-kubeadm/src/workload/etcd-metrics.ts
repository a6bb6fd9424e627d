import type { Metrics } from "@capstan/runtime";
import type { EtcdReport, MemberLatency } from "./workload-side.ts";

const MEMBER = ["namespace", "name", "node"];

/** Registers gauges of the etcd of all clusters: what the condition EtcdStable is decided by, and its causes. */
export function observeEtcd(metrics: Metrics, read: () => readonly EtcdReport[]): void {
  const changes = "Changes of etcd's leader within ten minutes without a request for it";
  metrics.gauge("capstan_etcd_leader_changes", changes, ["namespace", "name"], () =>
    read().map(({ cluster, leaderChanges }) => ({ labels: { ...cluster }, value: leaderChanges })),
  );
  const latency = (name: string, help: string, of: (member: MemberLatency) => number | undefined): void =>
    metrics.gauge(name, help, MEMBER, () =>
      read().flatMap(({ cluster, latencies }) =>
        [...latencies].flatMap(([node, member]) => {
          const value = of(member);
          return value === undefined ? [] : [{ labels: { ...cluster, node }, value }];
        }),
      ),
    );
  latency("capstan_etcd_fsync_seconds", "99th percentile of a sync of the member's disk", (each) => each.fsyncSeconds);
  latency("capstan_etcd_peer_seconds", "99th percentile of the way to a peer and back", (each) => each.peerSeconds);
}
