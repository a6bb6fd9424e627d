import { expect, test } from "vitest";
import type { EtcdDescription } from "./description.ts";
import { type EtcdChangeState, type EtcdEvent, nextEtcdState, recordEtcdEvent } from "./record.ts";

const OLD: EtcdDescription = { version: "v1.33.9", settings: {} };
const NEW: EtcdDescription = { version: "v1.34.4", settings: { quotaBytes: 2 ** 30 } };

/** All states on the way of a story, each frozen, so that a modification would throw. */
function story(state: EtcdChangeState, ...events: EtcdEvent[]): EtcdChangeState[] {
  return events.reduce<EtcdChangeState[]>(
    (states, event) => [...states, deepFreeze(nextEtcdState(states.at(-1) ?? {}, event))],
    [deepFreeze(state)],
  );
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const each of Object.values(Object.freeze(value))) deepFreeze(each);
  return value;
}

const requested: EtcdEvent = { type: "requested", to: NEW, atMs: 1 };
const saved: EtcdEvent = { type: "dataSaved", kept: true, backup: "b1" };
const rollStarted: EtcdEvent = { type: "rollStarted", atMs: 2, restarts: 5 };

test("an etcd that works: trial, data saved, rolled out", () => {
  const states = story({ etcdServes: OLD }, requested, { type: "trialPassed" }, saved, rollStarted, {
    type: "rolledOut",
  });
  expect(states.map(({ etcdChange }) => etcdChange)).toEqual([
    undefined,
    { to: NEW, stage: "trial", sinceMs: 1 },
    { to: NEW, stage: "keep", sinceMs: 1 },
    { to: NEW, stage: "keep", sinceMs: 1, kept: true, backup: "b1" },
    { to: NEW, stage: "roll", sinceMs: 2, kept: true, backup: "b1", restartsBefore: 5 },
    undefined,
  ]);
  expect(states.at(-1)).toEqual({ etcdServes: NEW });
});

test("an etcd that fails with the data is rolled back, restored and refused", () => {
  const failed: EtcdEvent = { type: "failed", atMs: 3, why: "panic" };
  const states = story(
    { etcdServes: OLD, etcdChange: { to: NEW, stage: "roll", sinceMs: 2, kept: true, backup: "b1" } },
    failed,
    { type: "restoreStarted" },
    { type: "restored" },
    { type: "rolledBack", refused: "panic" },
  );
  const back = { to: NEW, stage: "back", sinceMs: 3, kept: true, failure: "panic" };
  expect(states.slice(1).map(({ etcdChange }) => etcdChange)).toEqual([
    { ...back, backup: "b1" },
    { ...back, backup: "b1", restores: true },
    back,
    undefined,
  ]);
  expect(states.at(-1)).toEqual({ etcdServes: OLD, etcdRefused: { to: NEW, message: "panic" } });
});

test("a request continues the change in progress and ends an earlier refusal", () => {
  const etcdChange = { to: NEW, stage: "keep", sinceMs: 7 } as const;
  const refused = { etcdServes: OLD, etcdRefused: { to: NEW, message: "panic" } };
  expect(nextEtcdState({ ...refused, etcdChange }, requested)).toEqual({ etcdServes: OLD, etcdChange });
  expect(nextEtcdState(refused, { type: "refusalEnded" })).toEqual({ etcdServes: OLD });
});

test("the etcd that served first stays the one to roll back to until another is rolled out", () => {
  expect(story({}, { type: "served", as: OLD }, { type: "served", as: NEW }).at(-1)).toEqual({ etcdServes: OLD });
  expect(nextEtcdState({ etcdServes: OLD }, { type: "dataReplaced" })).toEqual({});
});

test("refuses an event that its stage does not allow", () => {
  const trial = nextEtcdState({ etcdServes: OLD }, requested);
  for (const event of [
    saved,
    rollStarted,
    { type: "rolledOut" },
    { type: "restored" },
    { type: "rolledBack" },
  ] as const)
    expect(() => nextEtcdState(trial, event), event.type).toThrow(/cannot follow stage trial/);
  expect(() => nextEtcdState({ etcdServes: OLD }, { type: "trialPassed" })).toThrow(/cannot follow no change/);
});

test("an event changes the state of etcd in a record, and nothing else of it", () => {
  const members = [{ index: 0, began: [0] }];
  const record = { version: "v1.33.9", etcdServes: OLD, members };
  recordEtcdEvent(record, requested);
  expect(JSON.stringify(record)).toBe(
    JSON.stringify({
      version: "v1.33.9",
      etcdServes: OLD,
      members,
      etcdChange: { to: NEW, stage: "trial", sinceMs: 1 },
    }),
  );
});
