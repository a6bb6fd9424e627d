import { VirtualClock } from "@capstan/apimachinery";
import { createMetrics } from "@capstan/runtime";
import { expect, test } from "vitest";
import { etcdFigures } from "./etcd-figures.ts";
import { observeEtcd } from "./etcd-metrics.ts";
import { EtcdTrouble } from "./etcd-trouble.ts";
import type { EtcdReport } from "./workload-side.ts";

const MINUTE_MS = 60_000;

interface Given {
  changes: number;
  /** Syncs below 8 ms, and above 128 ms. */
  fsync?: [number, number];
  peer?: [number, number];
}

/** The lines of etcd 3.6's /metrics that are read, in its form. */
function page({ changes, fsync = [100, 0], peer = [100, 0] }: Given): string {
  const histogram = (
    name: string,
    labels: string,
    [fast, slow]: [number, number],
    bounds: [string, string],
  ): string[] => [
    `${name}_bucket{${labels}le="${bounds[0]}"} ${fast}`,
    `${name}_bucket{${labels}le="${bounds[1]}"} ${fast + slow}`,
    `${name}_bucket{${labels}le="+Inf"} ${fast + slow}`,
    `${name}_count${labels === "" ? "" : '{To="8e9e05c52164694d"}'} ${fast + slow}`,
  ];
  return [
    "# TYPE etcd_server_leader_changes_seen_total counter",
    `etcd_server_leader_changes_seen_total ${changes}`,
    ...histogram("etcd_disk_wal_fsync_duration_seconds", "", fsync, ["0.008", "0.256"]),
    ...histogram("etcd_network_peer_round_trip_time_seconds", 'To="8e9e05c52164694d",', peer, ["0.0128", "0.4096"]),
  ].join("\n");
}

function figures(given: Given) {
  const found = etcdFigures(page(given));
  if (found === undefined) throw new Error("no figures");
  return found;
}

/** A member that reported these figures, a minute apart. */
function told(...all: Given[]): EtcdTrouble {
  const trouble = new EtcdTrouble();
  for (const [index, given] of all.entries()) trouble.read("n-1", figures(given), index * MINUTE_MS);
  return trouble;
}

test("four changes of the leader within ten minutes are trouble, and each cause has its cure", () => {
  expect(told({ changes: 1 }, { changes: 4 }).problem(MINUTE_MS)).toBeUndefined();
  const slowDisk = told({ changes: 1 }, { changes: 5, fsync: [150, 50] }).problem(MINUTE_MS);
  expect(slowDisk).toEqual({
    reason: "TooManyLeaderChanges",
    message:
      "etcd changed its leader 4 times within 10 minutes, and writes fail during each change: disks take too long to sync on n-1 (99th percentile 256 ms); give /var/lib/etcd an SSD that no other program writes to",
  });
  const slowNetwork = told({ changes: 1 }, { changes: 5, peer: [150, 50] }).problem(MINUTE_MS);
  expect(slowNetwork?.message).toContain(
    "the network between members is too slow from n-1 (99th percentile 410 ms); check it for loss and congestion, or raise heartbeat-interval and election-timeout",
  );
  const neither = told({ changes: 1 }, { changes: 5, fsync: [200, 0], peer: [200, 0] }).problem(MINUTE_MS);
  expect(neither?.message).toContain("check the control plane Machines for CPU steal");
});

test("a cause is named only if it was measured", () => {
  const unmeasured = [{ changes: 1 }, { changes: 5 }].map(
    (given) => ({ ...given, fsync: [0, 0], peer: [0, 0] }) as Given,
  );
  const message = told(...unmeasured).problem(MINUTE_MS)?.message;
  expect(message).not.toContain("fast enough");
  expect(message).toContain(
    "fsync and peer latencies are not measured, so the cause is unknown; check the control plane Machines for slow disks, a slow network between them, and CPU steal",
  );
  const onlyDisks = told({ changes: 1, peer: [0, 0] }, { changes: 5, fsync: [200, 0], peer: [0, 0] });
  expect(onlyDisks.problem(MINUTE_MS)?.message).toContain(
    "disks are fast enough, peer latency is not measured; check the network between the control plane Machines, and the Machines for CPU steal",
  );
});

test("changes that we requested, and those that are older than ten minutes, do not count", () => {
  const trouble = told({ changes: 1 }, { changes: 5 });
  trouble.moved(MINUTE_MS);
  expect(trouble.recentLeaderChanges(MINUTE_MS)).toBe(3);
  expect(trouble.problem(MINUTE_MS)).toBeUndefined();
  trouble.read("n-1", figures({ changes: 6 }), 12 * MINUTE_MS);
  expect(trouble.recentLeaderChanges(12 * MINUTE_MS)).toBe(0);
  // The count of a member that has just started begins at zero.
  trouble.read("n-1", figures({ changes: 1 }), 13 * MINUTE_MS);
  expect(trouble.recentLeaderChanges(13 * MINUTE_MS)).toBe(0);
});

test("leader changes and latencies are metrics, by cluster and Node", async () => {
  const trouble = told({ changes: 1 }, { changes: 3, fsync: [199, 0], peer: [100, 100] });
  const metrics = await createMetrics({ clock: new VirtualClock() });
  const cluster = { namespace: "default", name: "c1" };
  const reports: EtcdReport[] = [
    { cluster, leaderChanges: trouble.recentLeaderChanges(MINUTE_MS), latencies: trouble.latencies },
  ];
  observeEtcd(metrics, () => reports);
  const { body } = await metrics.text();
  expect(body).toContain('capstan_etcd_leader_changes{namespace="default",name="c1"} 2\n');
  expect(body).toContain('capstan_etcd_fsync_seconds{namespace="default",name="c1",node="n-1"} 0.008\n');
  expect(body).toContain('capstan_etcd_peer_seconds{namespace="default",name="c1",node="n-1"} 0.4096\n');
  reports.length = 0;
  expect((await metrics.text()).body).not.toContain("n-1");
});
