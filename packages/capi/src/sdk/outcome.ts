import type { ConditionInput } from "../contract/conditions.ts";
import type { FailureDomain, MachineAddress } from "../contract/types.ts";

/** What a provider says of an object beyond the contract, whatever the outcome is. */
export interface OwnReport {
  /** Fields of status of the provider's own; those not given stay as they were. */
  status?: Record<string, unknown>;
  /** Conditions of the provider's own; those not given stay as they were. */
  conditions?: readonly ConditionInput[];
}

/** What a provider function returns (docs/architecture.md, "Interfaces between parts"). A thrown error is retried with back-off. */
export type Outcome = OwnReport & OutcomeOf;

type OutcomeOf =
  | {
      type: "ready";
      providerID?: string;
      addresses?: MachineAddress[];
      failureDomain?: string;
      endpoint?: { host: string; port: number };
      failureDomains?: FailureDomain[];
      /** Something is still to be done that nothing announces. */
      recheckAfterMs?: number;
    }
  /** Something must happen first. Without `recheckAfterMs` a watch wakes the reconciler. `trouble`: people are told by an event. */
  | { type: "wait"; reason: string; message: string; recheckAfterMs?: number; trouble?: true }
  /** Nothing left to give: Ready=False with reason InsufficientCapacity, which is what a WorkerPool reads. */
  | { type: "noCapacity"; message: string }
  /** A person must act. Retried when something changes, and rarely. */
  | { type: "failed"; reason: string; message: string; cure: string }
  /** Remove functions only: nothing is left outside. */
  | { type: "gone" };

type Ready = Omit<Extract<Outcome, { type: "ready" }>, "type">;

export const ready = (what: Ready = {}): Outcome => ({ type: "ready", ...what });

export const wait = (reason: string, message: string, recheckAfterMs?: number): Outcome =>
  recheckAfterMs === undefined ? { type: "wait", reason, message } : { type: "wait", reason, message, recheckAfterMs };

/** A wait that should not be: something outside went wrong, and may mend itself. Told as a Warning event too. */
export const trouble = (reason: string, message: string, recheckAfterMs?: number): Outcome => ({
  type: "wait",
  reason,
  message,
  ...(recheckAfterMs === undefined ? {} : { recheckAfterMs }),
  trouble: true,
});

export const noCapacity = (message: string): Outcome => ({ type: "noCapacity", message });

export const failed = (reason: string, message: string, cure: string): Outcome => ({
  type: "failed",
  reason,
  message,
  cure,
});

export const gone = (): Outcome => ({ type: "gone" });
