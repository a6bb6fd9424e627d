import type { EtcdDescription } from "./description.ts";

/** Persistent state of changes to etcd, stored next to its data. It is never modified; nextEtcdState returns the next one. */
export interface EtcdChangeState {
  /** The etcd that served last, to which a failed change is rolled back. */
  readonly etcdServes?: EtcdDescription;
  readonly etcdChange?: EtcdChangeRecord;
  /** An etcd that failed; it is not retried automatically. */
  readonly etcdRefused?: { readonly to: EtcdDescription; readonly message: string };
}

/**
 * Progress of a change to etcd. An etcd without data is tried next to the members (trial); if it is ready, the data is saved (keep) and the
 * members change (roll); if they fail, they are rolled back (back).
 */
export interface EtcdChangeRecord {
  readonly to: EtcdDescription;
  readonly stage: "trial" | "keep" | "roll" | "back";
  /** When the stage began. */
  readonly sinceMs: number;
  /** Restarts of the members before they began to change. */
  readonly restartsBefore?: number;
  /** Whether the data was saved, because the new etcd may make it unreadable for the old one. */
  readonly kept?: boolean;
  /** The name of the backup that holds the saved data, if it is not a copy next to it. */
  readonly backup?: string;
  /** Whether the data is being replaced with the backup, because members do not run with it. */
  readonly restores?: boolean;
  /** Why it is rolled back, as reported by etcd; undefined if the change is no longer requested. */
  readonly failure?: string;
}

/** What happened to an etcd or to its change. */
export type EtcdEvent =
  /** All members were ready for the first time. */
  | { type: "served"; as: EtcdDescription }
  | { type: "requested"; to: EtcdDescription; atMs: number }
  | { type: "trialPassed" }
  /** What was saved of the data, if anything had to be. */
  | { type: "dataSaved"; kept?: true; backup?: string }
  | { type: "rollStarted"; atMs: number; restarts: number }
  | { type: "rolledOut" }
  | { type: "failed"; atMs: number; why: string }
  /** Another etcd is requested before this one has run with the data. */
  | { type: "withdrawn" }
  /** The old etcd cannot read the data any more. */
  | { type: "restoreStarted" }
  | { type: "restored" }
  /** The members run as before; `refused` says why this etcd is not tried again. */
  | { type: "rolledBack"; refused?: string }
  /** Another etcd than the refused one is requested. */
  | { type: "refusalEnded" }
  /** The data was replaced with a backup; nothing that is known of the earlier data holds. */
  | { type: "dataReplaced" };

type ChangeEvent = Exclude<EtcdEvent["type"], "served" | "requested" | "refusalEnded" | "dataReplaced">;

/** The stages in which an event can happen. */
const STAGES: Readonly<Record<ChangeEvent, readonly EtcdChangeRecord["stage"][]>> = {
  trialPassed: ["trial"],
  dataSaved: ["keep"],
  rollStarted: ["keep"],
  rolledOut: ["roll"],
  failed: ["trial", "keep", "roll"],
  withdrawn: ["trial", "keep", "roll"],
  restoreStarted: ["back"],
  restored: ["back"],
  rolledBack: ["back"],
};

/** Returns the state after an event. The state itself stays as it is. */
export function nextEtcdState(state: EtcdChangeState, event: EtcdEvent): EtcdChangeState {
  const { etcdServes: _serves, ...unserved } = state;
  const { etcdRefused: _refused, ...unrefused } = state;
  switch (event.type) {
    case "served":
      return state.etcdServes === undefined ? { ...state, etcdServes: event.as } : state;
    case "requested": {
      const { to, atMs } = event;
      return { ...unrefused, etcdChange: state.etcdChange ?? { to, stage: "trial", sinceMs: atMs } };
    }
    case "refusalEnded":
      return unrefused;
    case "dataReplaced":
      return withoutChange(unserved);
    case "rolledOut":
      return withoutChange({ ...state, etcdServes: changeOf(state, event.type).to });
    case "rolledBack": {
      const { to } = changeOf(state, event.type);
      const { refused } = event;
      return withoutChange(refused === undefined ? state : { ...state, etcdRefused: { to, message: refused } });
    }
    default:
      return { ...state, etcdChange: nextChange(changeOf(state, event.type), event) };
  }
}

/** Replaces the state in the record of a control plane, which stores other things as well. */
export function recordEtcdEvent(record: EtcdChangeState, event: EtcdEvent): void {
  const stored: { -readonly [key in keyof EtcdChangeState]: EtcdChangeState[key] } = record;
  const { etcdServes, etcdChange, etcdRefused } = nextEtcdState(etcdStateOf(record), event);
  if (etcdServes === undefined) delete stored.etcdServes;
  else stored.etcdServes = etcdServes;
  if (etcdRefused === undefined) delete stored.etcdRefused;
  else stored.etcdRefused = etcdRefused;
  if (etcdChange === undefined) delete stored.etcdChange;
  else stored.etcdChange = etcdChange;
}

/** Returns the state of etcd in the record of a control plane. */
export function etcdStateOf({ etcdServes, etcdChange, etcdRefused }: EtcdChangeState): EtcdChangeState {
  return {
    etcdServes,
    etcdChange,
    etcdRefused,
  };
}

function nextChange(
  change: EtcdChangeRecord,
  event: Exclude<Extract<EtcdEvent, { type: ChangeEvent }>, { type: "rolledOut" | "rolledBack" }>,
): EtcdChangeRecord {
  switch (event.type) {
    case "trialPassed":
      return { ...change, stage: "keep" };
    case "dataSaved": {
      const { type: _type, ...saved } = event;
      return { ...change, ...saved };
    }
    case "rollStarted":
      return { ...change, stage: "roll", sinceMs: event.atMs, restartsBefore: event.restarts };
    case "failed":
      return { ...change, stage: "back", sinceMs: event.atMs, failure: event.why };
    case "withdrawn":
      return { ...change, stage: "back" };
    case "restoreStarted":
      return { ...change, restores: true };
    case "restored": {
      const { restores: _restores, backup: _backup, ...rest } = change;
      return rest;
    }
  }
}

function changeOf({ etcdChange }: EtcdChangeState, event: ChangeEvent): EtcdChangeRecord {
  if (etcdChange === undefined || !STAGES[event].includes(etcdChange.stage))
    throw new Error(
      `etcd: ${event} cannot follow ${etcdChange === undefined ? "no change" : `stage ${etcdChange.stage}`}`,
    );
  return etcdChange;
}

function withoutChange({ etcdChange: _change, ...rest }: EtcdChangeState): EtcdChangeState {
  return rest;
}
