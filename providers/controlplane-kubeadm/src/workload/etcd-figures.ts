/** Counts of a histogram by upper bound of the bucket, in seconds. */
export type Buckets = ReadonlyMap<number, number>;

/** Figures of a member from its metrics, which count since its start. */
export interface EtcdFigures {
  readonly leaderChanges: number;
  readonly fsync: Buckets;
  readonly peer: Buckets;
}

const LEADER_CHANGES = "etcd_server_leader_changes_seen_total ";
const FSYNC = "etcd_disk_wal_fsync_duration_seconds_bucket{";
const PEER = "etcd_network_peer_round_trip_time_seconds_bucket{";
/** etcd has below twenty; a foreign server may have any number. */
const MAX_BUCKETS = 64;

/** Reads the figures out of etcd's metrics; undefined if they are not there. */
export function etcdFigures(metrics: string): EtcdFigures | undefined {
  let leaderChanges: number | undefined;
  const fsync = new Map<number, number>();
  const peer = new Map<number, number>();
  for (let from = 0; from < metrics.length; ) {
    const end = metrics.indexOf("\n", from);
    const line = metrics.slice(from, end === -1 ? undefined : end);
    from = end === -1 ? metrics.length : end + 1;
    if (line.startsWith(LEADER_CHANGES)) leaderChanges = numberOf(line.slice(LEADER_CHANGES.length));
    else if (line.startsWith(FSYNC)) count(fsync, line);
    else if (line.startsWith(PEER)) count(peer, line);
  }
  return leaderChanges === undefined ? undefined : { leaderChanges, fsync, peer };
}

/** Adds a bucket; peers are separate series of the same histogram. */
function count(buckets: Map<number, number>, line: string): void {
  const match = /[{,]le="([^"]{1,32})"\} (\S{1,32})$/.exec(line.slice(-200));
  const bound = match?.[1] === "+Inf" ? Number.POSITIVE_INFINITY : Number(match?.[1]);
  const value = numberOf(match?.[2] ?? "");
  if (Number.isNaN(bound) || value === undefined) return;
  if (buckets.size >= MAX_BUCKETS && !buckets.has(bound)) return;
  buckets.set(bound, (buckets.get(bound) ?? 0) + value);
}

function numberOf(text: string): number | undefined {
  const value = Number(text.trim());
  return text.trim() === "" || !Number.isFinite(value) || value < 0 ? undefined : value;
}

/** The value that 99 of 100 observations between two readings stay below; undefined without observations. */
export function percentile99(buckets: Buckets, before: Buckets | undefined): number | undefined {
  const bounds = [...buckets.keys()].sort((a, b) => a - b);
  const added = (bound: number): number => {
    const now = buckets.get(bound) ?? 0;
    const then = before?.get(bound) ?? 0;
    // Counts start at zero again with the process.
    return now >= then ? now - then : now;
  };
  const total = added(bounds.at(-1) ?? 0);
  if (total === 0) return undefined;
  const bound = bounds.find((each) => added(each) >= total * 0.99);
  if (bound !== Number.POSITIVE_INFINITY) return bound;
  return bounds.at(-2);
}
