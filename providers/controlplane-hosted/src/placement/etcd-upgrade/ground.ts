import type { ProgramState } from "@capstan/workloads";
import type { EtcdDescription } from "./description.ts";
import type { EtcdChangeRecord, EtcdChangeState } from "./record.ts";

/** Why etcd does not run as requested. */
export interface Trouble {
  reason: string;
  message: string;
}

/** What a step that needs more than one reconcile is waiting for. */
export interface Waiting {
  pending: Trouble;
  recheckMs?: number;
}

/** What was saved of the data, what that waits for, or why it failed. */
export type SaveResult =
  | { type: "saved"; kept?: true; backup?: string }
  | { type: "wait"; waiting: Waiting }
  | { type: "failed"; why: string };

/** Whether the old etcd can run with the data. `restore`: only with that of the backup. */
export type PutBackResult = { type: "done" } | { type: "wait" | "restore"; waiting: Waiting };

/** What a change of etcd needs from its placement. All functions must be idempotent. */
export interface EtcdGround {
  /** The record of the control plane; its state of etcd changes by recordEtcdEvent alone. */
  readonly record: EtcdChangeState;
  /** Writes the record; called before the action that it records. */
  save(): Promise<void>;
  /** Runs an etcd without data as described, next to the members. */
  tryOut(to: EtcdDescription): Promise<ProgramState>;
  /** Removes the trial; does nothing if there is none. */
  endTrial(): Promise<void>;
  /** Returns how often the members have restarted so far. */
  restarts(): Promise<number>;
  /** Saves the data if the new etcd may make it unreadable. */
  keep(change: EtcdChangeRecord, serves: EtcdDescription): Promise<SaveResult>;
  /** Deletes the saved data once the new etcd serves. */
  release(): Promise<void>;
  /** Restores the saved data if needed. */
  putBack(change: EtcdChangeRecord, serves: EtcdDescription): Promise<PutBackResult>;
  /** Records that the upgrade that an etcd belongs to failed; false if it belongs to none and only the etcd is refused. */
  refuseUpgrade(to: EtcdDescription, failure: string, serves: EtcdDescription): boolean;
  /** Name of another etcd for messages. */
  nameOf(to: EtcdDescription): string;
}
