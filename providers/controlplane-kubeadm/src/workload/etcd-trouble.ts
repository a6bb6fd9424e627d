import { type EtcdFigures, percentile99 } from "./etcd-figures.ts";
import type { MemberLatency, WorkloadProblem } from "./workload-side.ts";

const WINDOW_MS = 10 * 60_000;
/** etcd's own alert fires at four changes in fifteen minutes. */
const MANY_CHANGES = 4;
/** Above these etcd's documentation and alerts call disks and networks too slow. */
const SLOW_FSYNC = 0.1;
const SLOW_PEER = 0.15;

interface Reading {
  readonly atMs: number;
  readonly figures: EtcdFigures;
}

/** Follows the figures of a cluster's members over time. */
export class EtcdTrouble {
  readonly #readings = new Map<string, Reading[]>();
  readonly #latencies = new Map<string, MemberLatency>();
  #ownMoves: number[] = [];

  /** Notes what a member, named by its Node, reports about itself. */
  read(nodeName: string, figures: EtcdFigures, nowMs: number): void {
    const readings = this.#readings.get(nodeName) ?? [];
    const before = readings.at(-1);
    if (before?.figures === figures) return;
    this.#latencies.set(nodeName, {
      fsyncSeconds: percentile99(figures.fsync, before?.figures.fsync) ?? this.latency(nodeName).fsyncSeconds,
      peerSeconds: percentile99(figures.peer, before?.figures.peer) ?? this.latency(nodeName).peerSeconds,
    });
    this.#readings.set(nodeName, [
      ...readings.filter(({ atMs }) => nowMs - atMs <= WINDOW_MS),
      { atMs: nowMs, figures },
    ]);
  }

  /** Keeps only the members on these Nodes. */
  keep(nodeNames: ReadonlySet<string>): void {
    for (const name of this.#readings.keys()) {
      if (nodeNames.has(name)) continue;
      this.#readings.delete(name);
      this.#latencies.delete(name);
    }
  }

  /** Our own hand-overs are no trouble. */
  moved(nowMs: number): void {
    this.#ownMoves.push(nowMs);
  }

  /** Latencies of all members, by the name of the Node. */
  get latencies(): ReadonlyMap<string, MemberLatency> {
    return this.#latencies;
  }

  latency(nodeName: string): MemberLatency {
    return this.#latencies.get(nodeName) ?? { fsyncSeconds: undefined, peerSeconds: undefined };
  }

  /** Changes of the leader within ten minutes that nobody requested. */
  recentLeaderChanges(nowMs: number): number {
    this.#ownMoves = this.#ownMoves.filter((atMs) => nowMs - atMs <= WINDOW_MS);
    const seen = [...this.#readings.values()].map((readings) => {
      const recent = readings.filter(({ atMs }) => nowMs - atMs <= WINDOW_MS);
      const [first] = recent;
      const last = recent.at(-1);
      // The count begins at zero with the process.
      return first === undefined || last === undefined ? 0 : last.figures.leaderChanges - first.figures.leaderChanges;
    });
    return Math.max(0, Math.max(0, ...seen) - this.#ownMoves.length);
  }

  /** Too many changes of the leader, with the most likely cause and what to do about it. */
  problem(nowMs: number): WorkloadProblem | undefined {
    const changes = this.recentLeaderChanges(nowMs);
    if (changes < MANY_CHANGES) return undefined;
    const what = `etcd changed its leader ${changes} times within 10 minutes, and writes fail during each change`;
    return { reason: "TooManyLeaderChanges", message: `${what}: ${this.#cause()}` };
  }

  #cause(): string {
    const all = [...this.#latencies].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const slowDisks = all.filter(([, { fsyncSeconds = 0 }]) => fsyncSeconds >= SLOW_FSYNC);
    if (slowDisks.length > 0) {
      const texts = slowDisks.map(([name, { fsyncSeconds }]) => `${name} (${milliseconds(fsyncSeconds)})`);
      return `disks take too long to sync on ${texts.join(", ")}; give /var/lib/etcd an SSD that no other program writes to`;
    }
    const slowPeers = all.filter(([, { peerSeconds = 0 }]) => peerSeconds >= SLOW_PEER);
    if (slowPeers.length > 0) {
      const texts = slowPeers.map(([name, { peerSeconds }]) => `${name} (${milliseconds(peerSeconds)})`);
      return `the network between members is too slow from ${texts.join(", ")}; check it for loss and congestion, or raise heartbeat-interval and election-timeout in etcd.local.extraArgs`;
    }
    const isMeasured = (key: keyof MemberLatency): boolean =>
      all.length > 0 && all.every(([, latency]) => latency[key] !== undefined);
    return unmeasuredCause(isMeasured("fsyncSeconds"), isMeasured("peerSeconds"));
  }
}

/** The cause when no figure is too high: CPU is left only if both figures are available. */
function unmeasuredCause(disks: boolean, peers: boolean): string {
  if (disks && peers)
    return "disks and network between members are fast enough, so members get too little CPU; check the control plane Machines for CPU steal and for other programs";
  if (disks)
    return "disks are fast enough, peer latency is not measured; check the network between the control plane Machines, and the Machines for CPU steal";
  if (peers)
    return "the network between members is fast enough, fsync latency is not measured; check the control plane Machines for slow disks and CPU steal";
  return "fsync and peer latencies are not measured, so the cause is unknown; check the control plane Machines for slow disks, a slow network between them, and CPU steal";
}

function milliseconds(seconds: number | undefined): string {
  return `99th percentile ${Math.round((seconds ?? 0) * 1000)} ms`;
}
