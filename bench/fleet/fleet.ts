import { cpuSeconds, residentMiB, sleep } from "../lib/usage.ts";
import { createClusters, deleteClusters, inventory, type Manifests, untilAvailable, untilGone } from "./load.ts";
import type { Plane } from "./plane.ts";

/** What it took until clusters were Available. */
export interface Built {
  seconds: number;
  cpu: number;
  writes: number;
}

/** What a management plane does while nothing changes. */
export interface Idle {
  writes: number;
  cores: number;
  mib: number;
}

/** Names of clusters. */
export const namesOf = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/** Clusters of one kind in a management plane. */
export class Fleet {
  readonly #plane: Plane;
  readonly #manifests: Manifests;
  readonly #machines: number;

  /** `machines`: how many its control planes have, 0 for those without. */
  constructor(plane: Plane, manifests: Manifests, machines = 0) {
    this.#plane = plane;
    this.#manifests = manifests;
    this.#machines = machines;
  }

  /** From nothing to Available, with all machines of the control planes. */
  async build(names: readonly string[]): Promise<Built> {
    const { server, transport, writes } = this.#plane;
    const begun = performance.now();
    const cpu = cpuSeconds(process.pid);
    const before = writes();
    const available = untilAvailable(server, names, this.#machines);
    await createClusters(transport, this.#manifests, names);
    await available;
    return {
      seconds: (performance.now() - begun) / 1000,
      cpu: cpuSeconds(process.pid) - cpu,
      writes: writes() - before,
    };
  }

  /** Until none is left; returns the seconds. */
  async destroy(names: readonly string[]): Promise<number> {
    const { server, transport } = this.#plane;
    const begun = performance.now();
    const gone = untilGone(server, names);
    await deleteClusters(transport, this.#manifests, names);
    await gone;
    return (performance.now() - begun) / 1000;
  }

  /** The times of single clusters, one after the other. */
  async addOneByOne(prefix: string, count: number): Promise<number[]> {
    const samples: number[] = [];
    for (const name of namesOf(prefix, count)) samples.push((await this.build([name])).seconds);
    return samples;
  }

  /** Until nothing is written any more. */
  async untilQuiet(): Promise<void> {
    for (let last = -1; last !== this.#plane.writes(); ) {
      last = this.#plane.writes();
      await sleep(2000);
    }
  }

  /** Watches while nothing changes. */
  async idle(seconds: number): Promise<Idle> {
    globalThis.gc?.();
    const writes = this.#plane.writes();
    const cpu = cpuSeconds(process.pid);
    await sleep(seconds * 1000);
    return {
      writes: this.#plane.writes() - writes,
      cores: (cpuSeconds(process.pid) - cpu) / seconds,
      mib: residentMiB(process.pid),
    };
  }

  /** What is there now and was not before. */
  async leftovers(before: ReadonlyMap<string, number>): Promise<string[]> {
    await this.untilQuiet();
    const left = [...inventory(this.#plane.server)]
      .filter(([name, count]) => count !== (before.get(name) ?? 0))
      .map(([name, count]) => `${name}: ${count}`);
    if (left.length > 0) console.error(`left over: ${left.join(", ")}`);
    return left;
  }
}
