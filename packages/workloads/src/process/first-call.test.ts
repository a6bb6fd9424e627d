import { expect, test } from "vitest";
import { FirstCall } from "./first-call.ts";
import type { ProbeProblem } from "./probe.ts";

const CHECK = "poststarthook/repair";

function failing(checks: string[], sharesPort = true): ProbeProblem {
  return { text: "not ready", failing: checks, sharesPort, silent: false };
}

/** Milliseconds until the call counts as lost, probed every 100 ms; undefined when it does not within two minutes. */
function lostAfter(call: FirstCall, problem: ProbeProblem | undefined, check: string | undefined = CHECK) {
  for (let ms = 0; ms <= 120_000; ms += 100) if (call.isLost(check, problem, ms)) return ms;
  return undefined;
}

test("a check that is the only one to fail for long next to others on the port is lost", () => {
  expect(lostAfter(new FirstCall(), failing([CHECK]))).toBe(1500);
});

test.each([
  ["more than it fails", failing([CHECK, "etcd"]), CHECK],
  ["another one fails", failing(["etcd"]), CHECK],
  ["no other program was seen on the port", failing([CHECK], false), CHECK],
  ["only others answer", failing([]), CHECK],
  ["it is ready", undefined, CHECK],
  ["the program makes no such check", failing([CHECK]), undefined],
])("nothing is lost while %s", (_case, problem, check) => {
  const call = new FirstCall();
  for (let ms = 0; ms <= 120_000; ms += 100) expect(call.isLost(check, problem, ms)).toBe(false);
});

test("others on the port need not be seen at the same moment, and what others answer in between changes nothing", () => {
  const call = new FirstCall();
  expect(call.isLost(CHECK, failing([]), 0)).toBe(false);
  expect(call.isLost(CHECK, failing([CHECK], false), 100)).toBe(false);
  expect(call.isLost(CHECK, failing([]), 1000)).toBe(false);
  expect(call.isLost(CHECK, failing([CHECK], false), 1600)).toBe(true);
});

test("time counts from when it became the last one", () => {
  const call = new FirstCall();
  expect(call.isLost(CHECK, failing([CHECK]), 0)).toBe(false);
  expect(call.isLost(CHECK, failing([CHECK, "etcd"]), 1000)).toBe(false);
  expect(call.isLost(CHECK, failing([CHECK]), 2000)).toBe(false);
  expect(call.isLost(CHECK, failing([CHECK]), 3500)).toBe(true);
});

test("every further start has twice the time, and one that became ready the first again", () => {
  const call = new FirstCall();
  const waits = Array.from({ length: 8 }, () => {
    call.starts();
    return lostAfter(call, failing([CHECK]));
  });
  expect(waits).toEqual([1500, 3000, 6000, 12_000, 24_000, 48_000, 60_000, 60_000]);
  expect(call.isLost(CHECK, undefined, 0)).toBe(false);
  call.starts();
  expect(lostAfter(call, failing([CHECK]))).toBe(1500);
});

test("what was seen of an earlier process does not count for the next", () => {
  const call = new FirstCall();
  expect(call.isLost(CHECK, failing([CHECK]), 0)).toBe(false);
  call.starts();
  expect(lostAfter(call, failing([CHECK], false))).toBeUndefined();
});
