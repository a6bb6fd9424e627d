import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { PlaneRecord } from "../plane-record.ts";
import { RECORD_ANNOTATION, readPodsRecord } from "../pods/record.ts";
import { type EtcdEvent, nextEtcdState, recordEtcdEvent } from "./record.ts";

/** Records of every kind that the tests stored at an earlier commit, unchanged. */
const { records } = JSON.parse(readFileSync(new URL("testdata/stored-records.json", import.meta.url), "utf8")) as {
  records: readonly { placement: "Process" | "Pods"; stored: string }[];
};

/** The event that follows each stage. */
const NEXT: Readonly<Record<string, EtcdEvent>> = {
  trial: { type: "trialPassed" },
  keep: { type: "rollStarted", atMs: 1, restarts: 0 },
  roll: { type: "rolledOut" },
  back: { type: "rolledBack" },
};

function parse(placement: string, stored: string): PlaneRecord {
  if (placement === "Process") return JSON.parse(stored) as PlaneRecord;
  const annotations = { [RECORD_ANNOTATION]: stored };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "etcd", annotations } } as const;
  return readPodsRecord(secret as Parameters<typeof readPodsRecord>[0]) as PlaneRecord;
}

test("has records of both placements and of every stage", () => {
  for (const placement of ["Process", "Pods"]) {
    const mine = records.filter((record) => record.placement === placement);
    const stages = mine.map(({ stored }) => parse(placement, stored).etcdChange?.stage ?? "none");
    expect([...new Set(stages)].toSorted(), placement).toEqual(["back", "keep", "none", "roll", "trial"]);
  }
});

test.each(records)("reads a stored record, and stores it again with the same bytes: $placement $stored", (record) => {
  const read = parse(record.placement, record.stored);
  if (read.etcdRefused === undefined) recordEtcdEvent(read, { type: "refusalEnded" });
  recordEtcdEvent(read, { type: "served", as: { version: "other", settings: {} } });
  expect(JSON.stringify(read)).toBe(record.stored);
});

test.each(records.filter(({ stored }) => stored.includes('"etcdChange"')))(
  "a stored change continues from its stage: $placement $stored",
  ({ placement, stored }) => {
    const read = parse(placement, stored);
    const change = read.etcdChange;
    const event = NEXT[change?.stage ?? ""];
    if (change === undefined || event === undefined) throw new Error("no stage");
    const next = nextEtcdState(read, event);
    if (change.stage === "trial") expect(next.etcdChange).toEqual({ ...change, stage: "keep" });
    if (change.stage === "keep")
      expect(next.etcdChange).toEqual({ ...change, stage: "roll", sinceMs: 1, restartsBefore: 0 });
    if (change.stage === "roll") expect(next.etcdServes).toEqual(change.to);
    if (change.stage === "back") expect([next.etcdChange, next.etcdServes]).toEqual([undefined, read.etcdServes]);
  },
);
