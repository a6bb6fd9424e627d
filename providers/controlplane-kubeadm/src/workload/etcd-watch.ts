import { type Clock, sleep } from "@capstan/apimachinery";
import type { ClusterKey } from "@capstan/capi";
import type { EtcdPlace, EtcdWays } from "../etcd/etcd-ways.ts";
import { type Inspection, inspectEtcd } from "./etcd-inspection.ts";
import type { ObserveOptions } from "./workload-side.ts";

const HEALTHY_MS = 60_000;
const UNHEALTHY_MS = 10_000;
/** A cluster whose pods change all the time is not asked more often than this. */
const LEAST_MS = 1000;
/** A reconcile waits this long for members that are slow; their answer triggers the next one. */
const PATIENCE_MS = 3000;

/** Dependencies of EtcdWatch. */
export interface EtcdWatchDeps {
  readonly ways: EtcdWays;
  readonly clock: Clock;
  /** Called when answers arrive that nobody waits for any more. */
  readonly changed: () => void;
  /** Whether the answers are those of a healthy etcd, which is asked rarely. */
  readonly isHealthy: (inspections: readonly Inspection[]) => boolean;
}

interface Asking {
  readonly answer: Promise<void>;
}

interface Asked {
  readonly revision: number;
  readonly atMs: number;
  readonly places: string;
  readonly inspections: readonly Inspection[];
}

/** Asks the etcd of one cluster when something has changed, and rarely otherwise. */
export class EtcdWatch {
  readonly #deps: EtcdWatchDeps;
  #revision = 0;
  #asked: Asked | undefined;
  #asking: Asking | undefined;
  #abandoned = false;

  constructor(deps: EtcdWatchDeps) {
    this.#deps = deps;
  }

  /** Something has changed that etcd's answers may depend on. */
  invalidate(): void {
    this.#revision++;
  }

  /** The members were changed: what they answered before does not count any more. */
  forget(): void {
    this.#revision++;
    this.#asked = undefined;
  }

  /** The current answers; undefined while the members take longer than a reconcile waits. */
  async inspections(
    cluster: ClusterKey,
    places: readonly EtcdPlace[],
    { fresh = false }: ObserveOptions = {},
  ): Promise<readonly Inspection[] | undefined> {
    const { clock } = this.#deps;
    const text = JSON.stringify(places);
    for (let attempt = 0; attempt < 2; attempt++) {
      const known = this.#current(text, fresh ? LEAST_MS : Infinity);
      if (known !== undefined) return known.inspections;
      const asking = this.#asking ?? this.#ask(cluster, places, text);
      // The one that waited in vain is enough: others get the answer when it arrives.
      if (this.#abandoned) return undefined;
      const stop = new AbortController();
      const patience = sleep(clock, PATIENCE_MS, stop.signal).then(
        () => "late" as const,
        () => "answered" as const,
      );
      const outcome = await Promise.race([asking.answer.then(() => "answered" as const), patience]);
      stop.abort(new Error("answered"));
      if (outcome === "late") {
        this.#abandoned = true;
        return undefined;
      }
    }
    return undefined;
  }

  /** What the members answered last, however long ago. */
  get answers(): readonly Inspection[] {
    return this.#asked?.inspections ?? [];
  }

  /** When to ask again. */
  get recheckMs(): number {
    const { clock } = this.#deps;
    const asked = this.#asked;
    if (asked === undefined) return UNHEALTHY_MS;
    const age = asked.revision === this.#revision ? this.#maxAge(asked) : LEAST_MS;
    return Math.max(0, asked.atMs + age - clock.monotonic());
  }

  #maxAge({ inspections }: Asked): number {
    return this.#deps.isHealthy(inspections) ? HEALTHY_MS : UNHEALTHY_MS;
  }

  #current(places: string, maxAgeMs: number): Asked | undefined {
    const asked = this.#asked;
    if (asked === undefined || asked.places !== places) return undefined;
    const age = this.#deps.clock.monotonic() - asked.atMs;
    if (asked.revision !== this.#revision && age >= LEAST_MS) return undefined;
    return age < Math.min(this.#maxAge(asked), maxAgeMs) ? asked : undefined;
  }

  #ask(cluster: ClusterKey, places: readonly EtcdPlace[], text: string): Asking {
    const { ways, clock, changed } = this.#deps;
    const revision = this.#revision;
    const answer = inspectEtcd(ways, cluster, places, clock).then((inspections) => {
      this.#asked = { revision, atMs: clock.monotonic(), places: text, inspections };
      this.#asking = undefined;
      if (!this.#abandoned) return;
      this.#abandoned = false;
      changed();
    });
    const asking = { answer };
    this.#asking = asking;
    return asking;
  }
}
