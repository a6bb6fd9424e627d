import type { ConditionInput } from "../contract/conditions.ts";
import type { FailureDomain, MachineAddress } from "../contract/types.ts";

/** Provider-specific status fields and conditions that accompany any outcome. */
export interface OwnReport {
  /** Provider-specific status fields; fields not given keep their value. */
  status?: Record<string, unknown>;
  /** Provider-specific conditions; conditions not given keep their value. */
  conditions?: readonly ConditionInput[];
}

/** What `ensure` or `remove` of a provider reports. When they throw instead, the reconciler retries with back-off. */
export type Outcome = OwnReport & OutcomeOf;

type OutcomeOf =
  | {
      type: "ready";
      providerID?: string;
      addresses?: MachineAddress[];
      failureDomain?: string;
      endpoint?: { host: string; port: number };
      failureDomains?: FailureDomain[];
      /** Requeue after this time, for remaining work that no watch reports. */
      recheckAfterMs?: number;
    }
  /** Something must happen first. Without `recheckAfterMs`, a watch requeues the object. `trouble` also emits a Warning event. */
  | { type: "wait"; reason: string; message: string; recheckAfterMs?: number; trouble?: true }
  /** No free capacity: sets Ready=False with reason InsufficientCapacity, which WorkerPools react to. */
  | { type: "noCapacity"; message: string }
  /** A person must act. Retried when something changes, and otherwise every ten minutes. */
  | { type: "failed"; reason: string; message: string; cure: string }
  /** The object no longer exists at its provider; lets `remove` release the finalizer. */
  | { type: "gone" };

type Ready = Omit<Extract<Outcome, { type: "ready" }>, "type">;

/** Returns the outcome that the object is ready, with what the contract publishes, such as providerID and addresses. */
export const ready = (what: Ready = {}): Outcome => ({ type: "ready", ...what });

/** Returns the outcome that the object waits for something; reason and message go into its Ready or Deleting condition. */
export const wait = (reason: string, message: string, recheckAfterMs?: number): Outcome =>
  recheckAfterMs === undefined ? { type: "wait", reason, message } : { type: "wait", reason, message, recheckAfterMs };

/** Returns a wait that is caused by a problem outside, which may resolve by itself; also emits a Warning event. */
export const trouble = (reason: string, message: string, recheckAfterMs?: number): Outcome => ({
  type: "wait",
  reason,
  message,
  recheckAfterMs,
  trouble: true,
});

/** Returns the outcome that the provider has no free capacity for the object; it is retried every 30 seconds. */
export const noCapacity = (message: string): Outcome => ({ type: "noCapacity", message });

/** Returns the outcome that a person must act; `cure` says what to do and is appended to the condition's message. */
export const failed = (reason: string, message: string, cure: string): Outcome => ({
  type: "failed",
  reason,
  message,
  cure,
});

/** Returns the outcome that nothing is left at the provider; after `remove`, the finalizer is released. */
export const gone = (): Outcome => ({ type: "gone" });
