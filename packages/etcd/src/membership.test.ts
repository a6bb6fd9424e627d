import { expect, test } from "vitest";
import { damageOf, type EtcdMemberRecord, firstMembers, type MemberView, membershipStep } from "./membership.ts";

const NOW = 1_000_000_000;

/** Members `0` to `count - 1`, all ready, with what is different about some. */
function views(count: number, different: Record<number, Partial<MemberView> & Partial<EtcdMemberRecord>> = {}) {
  return firstMembers(count).map((record): MemberView => {
    const { ready = true, hasData = true, damage, ...more } = different[record.index] ?? {};
    return { record: { ...record, started: true, ...more }, ready, hasData, damage };
  });
}

const gone = { ready: false, hasData: false };
const damaged = { ready: false, damage: "crc mismatch" };

test.each<[string, MemberView[], number, boolean, object]>([
  ["all is well", views(3), 3, true, { type: "none" }],
  ["lost data with a quorum of others: replaced", views(3, { 1: gone }), 3, true, { type: "replace", index: 1 }],
  ["damaged data with a quorum of others: replaced", views(3, { 2: damaged }), 3, true, { type: "replace", index: 2 }],
  [
    "lost data without a quorum of others: nothing that could cost the rest",
    views(3, { 0: { ready: false }, 1: gone }),
    3,
    true,
    { type: "wait", reason: "EtcdQuorumLost" },
  ],
  ["lost data of one of two: the other alone is no quorum", views(2, { 1: gone }), 2, true, { type: "wait" }],
  ["lost data of the only member: no other member could replace it", views(1, { 0: gone }), 1, true, { type: "none" }],
  [
    "replaced just now and damaged again: another problem than its data",
    views(3, { 1: { ...damaged, replacedMs: NOW - 60_000 } }),
    3,
    true,
    { type: "none" },
  ],
  [
    "replaced long ago and damaged again: replaced",
    views(3, { 1: { ...damaged, replacedMs: NOW - 3_600_000 } }),
    3,
    true,
    { type: "replace", index: 1 },
  ],
  ["more are wanted: one is added", views(1), 3, true, { type: "add", index: 1 }],
  [
    "more are wanted and not all are ready: first they must be",
    views(3, { 2: { ready: false } }),
    5,
    true,
    { type: "wait" },
  ],
  [
    "fewer are wanted and not all are ready: first they must be",
    views(5, { 4: { ready: false } }),
    3,
    true,
    { type: "wait" },
  ],
  ["a ready learner: it is promoted", views(2, { 1: { learner: true } }), 3, true, { type: "promote", index: 1 }],
  [
    "a learner that does not run: waits for it",
    views(2, { 1: { learner: true, ready: false } }),
    3,
    true,
    { type: "wait" },
  ],
  [
    "all new members vote: kube-apiservers may use them",
    views(3, { 2: { joining: true } }),
    3,
    true,
    { type: "serve" },
  ],
  ["fewer are wanted: the surplus members leave", views(3), 1, true, { type: "leave", index: 1 }],
  [
    "leaving while kube-apiservers still use it: it stays",
    views(3, { 2: { leaving: true } }),
    2,
    false,
    { type: "wait", reason: "EtcdMembersChanging" },
  ],
  [
    "leaving, the last one first",
    views(3, { 1: { leaving: true }, 2: { leaving: true } }),
    1,
    true,
    { type: "remove", index: 2 },
  ],
  [
    "leaving without a quorum of others: it stays",
    views(3, { 0: { ready: false }, 2: { leaving: true } }),
    2,
    true,
    { type: "wait", reason: "EtcdMembersChanging" },
  ],
  ["the second of two leaves", views(2, { 1: { leaving: true } }), 1, true, { type: "remove", index: 1 }],
])("%s", (_, members, wanted, settled, step) => {
  expect(membershipStep(members, wanted, settled, NOW)).toMatchObject(step);
});

test.each([
  [
    "a truncated db, by the signal that reading it fails with (etcd 3.6.16)",
    "[signal SIGBUS: bus error code=0x2]",
    true,
  ],
  ["a db of one page", "failed to open database: file size too small 4096", true],
  ["a full disk", "failed to create WAL: no space left on device", false],
])("recognizes data damage in the error of a crash-looping member: %s", (_case, message, damaged) => {
  const state = { phase: "Failed", restarts: 3, message };
  expect(damageOf(state) !== undefined).toBe(damaged);
  expect(damageOf({ ...state, restarts: 2 }), "not yet").toBeUndefined();
});
