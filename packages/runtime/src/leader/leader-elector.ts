import { type Clock, formatMicroTime, isReason, type Random, randomFloat, sleep } from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";
import { type Logger, silentLogger } from "../log/logger.ts";
import { Lease, type LeaseObject, type LeaseSpec } from "./lease-kind.ts";

/** Identity, Lease and times of a leader election. The defaults are client-go's: 15 s, 10 s and 2 s. */
export interface LeaderElectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly name: string;
  /** Different for every process, e.g. host name and a UUID. */
  readonly identity: string;
  /** How long other processes wait after the last renewal before they take over. */
  readonly leaseDurationMs?: number | undefined;
  /** How long the leader tries to renew before it gives up. */
  readonly renewDeadlineMs?: number | undefined;
  readonly retryPeriodMs?: number | undefined;
  readonly log?: Logger | undefined;
}

const JITTER = 1.2;

/** Thrown when this process is no longer the leader and must not write any more. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

/** The outcome of one attempt at the Lease. */
type Attempt = "held" | "other" | "failed";

/** Ensures through a Lease that one of several processes leads at a time, as client-go's leaderelection does. */
export class LeaderElector {
  readonly #options: LeaderElectionOptions;
  readonly #durationMs: number;
  readonly #deadlineMs: number;
  readonly #retryMs: number;
  readonly #log: Logger;
  /** What was last seen, and when by our own clock: clocks of different machines are never compared. */
  #observed: { record: string; lease: LeaseObject; at: number } | undefined;
  /** When the last successful attempt began; no other process takes the Lease for a lease duration after that. */
  #heldAt: number | undefined;
  /** Whether this process may hold the Lease, taking requests without a response into account. */
  #claimed = false;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#durationMs = options.leaseDurationMs ?? 15_000;
    this.#deadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryMs = options.retryPeriodMs ?? 2_000;
    this.#log = options.log ?? silentLogger;
    if (this.#durationMs <= this.#deadlineMs || this.#deadlineMs <= this.#retryMs * JITTER) {
      throw new Error("leader election needs leaseDuration > renewDeadline > 1.2 × retryPeriod");
    }
  }

  /** The identity that was last seen to lead. */
  get leader(): string | undefined {
    return this.#observed?.lease.spec?.holderIdentity;
  }

  /** Whether no other process can lead at this moment, even if this one was suspended and its timers have not fired yet. */
  get leads(): boolean {
    return this.#heldAt !== undefined && this.#options.clock.monotonic() - this.#heldAt < this.#durationMs;
  }

  /**
   * Waits to lead, then runs `lead` with a signal that aborts when leadership is lost (its reason is then a LeadershipLostError) or
   * `signal` aborts. Releases the Lease afterwards. Resolves with "lost" when another process may lead now: the process should exit then.
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<"stopped" | "lost"> {
    this.#heldAt = undefined;
    if (!(await this.#acquire(signal)) || signal.aborted) {
      await this.#release();
      return "stopped";
    }
    this.#log.info("became leader", { lease: this.#options.name, identity: this.#options.identity });
    const leading = new AbortController();
    const stop = (): void => leading.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    // Renewed until the work has stopped: otherwise another process would start before.
    const over = new AbortController();
    const renewed = this.#renew(over.signal).then((ended) => {
      if (ended === "lost") leading.abort(new LeadershipLostError("leadership was lost"));
      return ended;
    });
    try {
      await lead(leading.signal);
    } finally {
      over.abort();
      signal.removeEventListener("abort", stop);
      if ((await renewed) === "stopped") await this.#release();
    }
    return await renewed;
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if ((await this.#within(this.#deadlineMs, signal)) === "held") return true;
      const wait = this.#retryMs * (1 + JITTER * randomFloat(this.#options.random));
      await sleep(this.#options.clock, wait, signal).catch(() => undefined);
    }
    return false;
  }

  async #renew(signal: AbortSignal): Promise<"lost" | "stopped"> {
    const { clock, name: lease } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, this.#retryMs, signal).catch(() => undefined);
      if (signal.aborted) break;
      const left = this.#deadlineMs - (clock.monotonic() - (this.#heldAt ?? 0));
      const attempt = await this.#within(left, signal);
      if (attempt === "other") {
        this.#log.error("leadership lost: another process leads", { lease, leader: this.leader });
        return "lost";
      }
      if (attempt === "failed" && clock.monotonic() - (this.#heldAt ?? 0) >= this.#deadlineMs) {
        this.#log.error("leadership lost: failed to renew the lease in time", { lease });
        return "lost";
      }
    }
    return "stopped";
  }

  /** One attempt that hangs no longer than the deadline allows. */
  async #within(ms: number, signal: AbortSignal): Promise<Attempt> {
    return await this.#limited(ms, signal, (limit) => this.#tryAcquireOrRenew(limit), "failed");
  }

  async #limited<T>(
    ms: number,
    signal: AbortSignal | undefined,
    work: (limit: AbortSignal) => Promise<T>,
    otherwise: T,
  ): Promise<T> {
    const limit = new AbortController();
    const abort = (): void => limit.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const cancel = this.#options.clock.after(Math.max(0, ms), () => limit.abort(new Error("renew deadline")));
    const timedOut = new Promise<T>((resolve) => {
      limit.signal.addEventListener("abort", () => resolve(otherwise), { once: true });
    });
    try {
      return await Promise.race([work(limit.signal), timedOut]);
    } finally {
      cancel();
      signal?.removeEventListener("abort", abort);
    }
  }

  async #tryAcquireOrRenew(signal: AbortSignal): Promise<Attempt> {
    const { client, clock, namespace, name, identity } = this.#options;
    // Counted from before the request: the server may carry it out at once and answer late.
    const began = clock.monotonic();
    const held = (lease: LeaseObject): Attempt => {
      if (signal.aborted) return "failed";
      this.#note(lease);
      this.#heldAt = began;
      return "held";
    };
    try {
      const lease = await client.get(Lease, { namespace, name }, signal);
      const now = formatMicroTime(clock.now());
      if (lease === undefined) {
        const spec = this.#spec({ acquireTime: now, renewTime: now, leaseTransitions: 0 });
        const metadata = { namespace, name };
        const made = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
        this.#claimed = true;
        return held(await client.create<LeaseObject>(made, {}, signal));
      }
      this.#note(lease);
      const mine = lease.spec?.holderIdentity === identity;
      // A former leader that finds another holder must not take the Lease back and continue.
      if (!mine && (this.#heldAt !== undefined || !this.#expired(lease))) return "other";
      const old = lease.spec ?? {};
      const spec = this.#spec(
        mine
          ? { acquireTime: old.acquireTime ?? now, renewTime: now, leaseTransitions: old.leaseTransitions ?? 0 }
          : { acquireTime: now, renewTime: now, leaseTransitions: (old.leaseTransitions ?? 0) + 1 },
      );
      this.#claimed = true;
      // The resourceVersion inside makes this a claim: of two candidates one gets a Conflict.
      return held(await client.update<LeaseObject>({ ...lease, spec }, {}, signal));
    } catch (error) {
      if (!isReason(error, "Conflict", "AlreadyExists") && !signal.aborted)
        this.#log.warn("leader election attempt failed", { error });
      return "failed";
    }
  }

  #spec(rest: Pick<LeaseSpec, "acquireTime" | "renewTime" | "leaseTransitions">): LeaseSpec {
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.max(1, Math.round(this.#durationMs / 1000)),
      ...rest,
    };
  }

  #note(lease: LeaseObject): void {
    const record = JSON.stringify(lease.spec ?? {});
    if (this.#observed?.record === record) this.#observed.lease = lease;
    else this.#observed = { record, lease, at: this.#options.clock.monotonic() };
  }

  /** The holder has not renewed for a whole lease duration, by our clock; or it released the Lease. */
  #expired(lease: LeaseObject): boolean {
    const holder = lease.spec?.holderIdentity;
    if (holder === undefined || holder === "") return true;
    const since = this.#observed?.at ?? this.#options.clock.monotonic();
    return this.#options.clock.monotonic() - since >= this.#durationMs;
  }

  /** Releases the Lease so that the next leader need not wait. */
  async #release(): Promise<void> {
    this.#heldAt = undefined;
    if (!this.#claimed) return;
    this.#claimed = false;
    try {
      await this.#limited(this.#deadlineMs, undefined, (limit) => this.#giveBack(limit), undefined);
    } catch (error) {
      this.#log.warn("failed to release the lease", { error });
    }
  }

  async #giveBack(signal: AbortSignal): Promise<void> {
    const { client, clock, namespace, name, identity } = this.#options;
    // Read again: an aborted attempt may have changed it.
    const lease = await client.get(Lease, { namespace, name }, signal);
    if (lease?.spec?.holderIdentity !== identity) return;
    const now = formatMicroTime(clock.now());
    const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    await client.update<LeaseObject>({ ...lease, spec }, {}, signal);
  }
}
