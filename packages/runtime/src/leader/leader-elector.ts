import { type Clock, formatMicroTime, isReason, type Random, randomFloat, sleep } from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";
import { type Logger, silentLogger } from "../log/logger.ts";
import { Lease, type LeaseObject, type LeaseSpec } from "./lease-kind.ts";

/** Who competes for which Lease. Times are client-go's: 15 s, 10 s and 2 s. */
export interface LeaderElectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly name: string;
  /** Different for every process, e.g. host name and a UUID. */
  readonly identity: string;
  /** How long others wait after the last renewal before they take over. */
  readonly leaseDurationMs?: number | undefined;
  /** How long the leader tries to renew before it gives up. */
  readonly renewDeadlineMs?: number | undefined;
  readonly retryPeriodMs?: number | undefined;
  readonly log?: Logger | undefined;
}

const JITTER = 1.2;

/** Makes sure that one process of several leads at a time, through a Lease, as client-go's leaderelection does. */
export class LeaderElector {
  readonly #options: LeaderElectionOptions;
  readonly #durationMs: number;
  readonly #deadlineMs: number;
  readonly #retryMs: number;
  readonly #log: Logger;
  /** What was last seen, and when by our own clock: clocks of different machines are never compared. */
  #observed: { record: string; lease: LeaseObject; at: number } | undefined;

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

  /**
   * Waits to lead, then runs `lead` with a signal that ends when leadership is lost or `signal` ends. Gives the Lease back
   * afterwards. Resolves with "lost" when somebody else may lead now: the process should exit then.
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<"stopped" | "lost"> {
    if (!(await this.#acquire(signal))) return "stopped";
    this.#log.info("became leader", { lease: this.#options.name, identity: this.#options.identity });
    const leading = new AbortController();
    const stop = (): void => leading.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const work = lead(leading.signal);
    let failure: unknown;
    const worked = work.catch((error: unknown) => {
      failure = error;
    });
    const ended = await Promise.race([this.#renew(leading.signal), worked.then(() => "done" as const)]);
    leading.abort(new Error(ended === "lost" ? "leadership was lost" : "leading has ended"));
    signal.removeEventListener("abort", stop);
    await worked;
    if (ended !== "lost") await this.#release();
    if (failure !== undefined) throw failure;
    return ended === "lost" ? "lost" : "stopped";
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if (await this.#tryAcquireOrRenew()) return true;
      const wait = this.#retryMs * (1 + JITTER * randomFloat(this.#options.random));
      await sleep(this.#options.clock, wait, signal).catch(() => undefined);
    }
    return false;
  }

  async #renew(signal: AbortSignal): Promise<"lost" | "stopped"> {
    const { clock } = this.#options;
    let renewedAt = clock.monotonic();
    while (!signal.aborted) {
      await sleep(clock, this.#retryMs, signal).catch(() => undefined);
      if (signal.aborted) break;
      const left = this.#deadlineMs - (clock.monotonic() - renewedAt);
      if (await this.#within(left, signal)) renewedAt = clock.monotonic();
      else if (clock.monotonic() - renewedAt >= this.#deadlineMs) {
        this.#log.error("leadership lost: the lease could not be renewed in time", { lease: this.#options.name });
        return "lost";
      }
    }
    return "stopped";
  }

  /** One attempt that hangs no longer than the deadline allows. */
  async #within(ms: number, signal: AbortSignal): Promise<boolean> {
    const limit = new AbortController();
    const abort = (): void => limit.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const cancel = this.#options.clock.after(Math.max(0, ms), () => limit.abort(new Error("renew deadline")));
    try {
      const attempt = this.#tryAcquireOrRenew(limit.signal);
      const timedOut = new Promise<false>((resolve) => {
        limit.signal.addEventListener("abort", () => resolve(false), { once: true });
      });
      return await Promise.race([attempt, timedOut]);
    } finally {
      cancel();
      signal.removeEventListener("abort", abort);
    }
  }

  async #tryAcquireOrRenew(signal?: AbortSignal): Promise<boolean> {
    const { client, clock, namespace, name, identity } = this.#options;
    try {
      const lease = await client.get(Lease, { namespace, name }, signal);
      const now = formatMicroTime(clock.now());
      if (lease === undefined) {
        const spec = this.#spec({ acquireTime: now, renewTime: now, leaseTransitions: 0 });
        const metadata = { namespace, name };
        const made = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
        this.#note(await client.create<LeaseObject>(made, {}, signal));
        return true;
      }
      this.#note(lease);
      const mine = lease.spec?.holderIdentity === identity;
      if (!mine && !this.#expired(lease)) return false;
      const old = lease.spec ?? {};
      const spec = this.#spec(
        mine
          ? { acquireTime: old.acquireTime ?? now, renewTime: now, leaseTransitions: old.leaseTransitions ?? 0 }
          : { acquireTime: now, renewTime: now, leaseTransitions: (old.leaseTransitions ?? 0) + 1 },
      );
      // The resourceVersion inside makes this a claim: of two candidates one gets a Conflict.
      this.#note(await client.update<LeaseObject>({ ...lease, spec }, {}, signal));
      return true;
    } catch (error) {
      if (!isReason(error, "Conflict", "AlreadyExists")) this.#log.warn("leader election attempt failed", { error });
      return false;
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

  /** The holder has not renewed for a whole lease duration, by our clock; or it gave the lease back. */
  #expired(lease: LeaseObject): boolean {
    const holder = lease.spec?.holderIdentity;
    if (holder === undefined || holder === "") return true;
    const since = this.#observed?.at ?? this.#options.clock.monotonic();
    return this.#options.clock.monotonic() - since >= this.#durationMs;
  }

  /** So that the next one need not wait. */
  async #release(): Promise<void> {
    const { client, clock, identity } = this.#options;
    const lease = this.#observed?.lease;
    if (lease?.spec?.holderIdentity !== identity) return;
    const now = formatMicroTime(clock.now());
    const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    try {
      await client.update<LeaseObject>({ ...lease, spec });
    } catch (error) {
      this.#log.warn("the lease could not be given back", { error });
    }
  }
}
