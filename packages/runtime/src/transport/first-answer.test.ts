import { VirtualClock } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { firstAnswer, type Way } from "./first-answer.ts";

/** A way whose answer a test gives; records when it is begun and given up. */
function way(name: string, clock: VirtualClock) {
  const begun: number[] = [];
  let resolve: (value: string) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const state = { aborted: "" };
  const run = (signal: AbortSignal): Promise<string> => {
    begun.push(clock.now());
    signal.addEventListener("abort", () => {
      state.aborted = signal.reason instanceof Error ? signal.reason.message : String(signal.reason);
    });
    return new Promise((done, failed) => {
      resolve = done;
      reject = failed;
    });
  };
  const self: Way<string> = { name, run };
  return {
    self,
    begun,
    state,
    answer: (value: string) => resolve(value),
    fail: (text: string) => reject(new Error(text)),
  };
}

function race(signal?: AbortSignal) {
  const clock = new VirtualClock();
  const startMs = clock.now();
  const [a, b] = [way("a", clock), way("b", clock)];
  const discarded: string[] = [];
  const result = firstAnswer([a.self, b.self], {
    clock,
    headStartMs: 1_500,
    limitMs: 6_000,
    signal,
    discard: (value) => discarded.push(value),
  });
  result.catch(() => undefined);
  return { clock, startMs, a, b, discarded, result };
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

test("a way that answers in time is the only one that is tried", async () => {
  const { clock, a, b, result } = race();
  await clock.advance(1_000);
  a.answer("from a");
  expect(await result).toEqual({ way: "a", value: "from a" });
  await clock.advance(60_000);
  expect(b.begun).toEqual([]);
  expect(a.state.aborted).toBe("");
});

test("a silent way gets its head start, then the next is tried as well, and the slower one is given up", async () => {
  const { clock, startMs, a, b, discarded, result } = race();
  await clock.advance(1_499);
  expect(b.begun).toEqual([]);
  await clock.advance(1);
  expect(b.begun).toEqual([startMs + 1_500]);
  b.answer("from b");
  expect(await result).toEqual({ way: "b", value: "from b" });
  expect(a.state.aborted).toBe("another way was faster");
  a.answer("too late");
  await turns();
  expect(discarded).toEqual(["too late"]);
});

test("a way that fails starts the next one at once, and both failures are reported", async () => {
  const { startMs, a, b, result } = race();
  a.fail("refused");
  await turns();
  expect(b.begun).toEqual([startMs]);
  b.fail("no route");
  await expect(result).rejects.toThrow("a: refused; b: no route");
});

test("each way has its limit", async () => {
  const { clock, a, b, discarded, result } = race();
  await clock.advance(7_500);
  await expect(result).rejects.toThrow("a: no answer within 6 s; b: no answer within 6 s");
  expect([a.state.aborted, b.state.aborted]).toEqual(["no answer within 6 s", "no answer within 6 s"]);
  b.answer("too late");
  await turns();
  expect(discarded).toEqual(["too late"]);
});

test("nothing is tried any more once the caller gives up", async () => {
  const stop = new AbortController();
  const { clock, a, b, result } = race(stop.signal);
  stop.abort(new Error("given up"));
  await expect(result).rejects.toThrow("given up");
  expect(a.state.aborted).not.toBe("");
  await clock.advance(60_000);
  expect(b.begun).toEqual([]);
  const before = race(stop.signal);
  await expect(before.result).rejects.toThrow("given up");
  expect(before.a.begun).toEqual([]);
});

test("without a way there is no answer", async () => {
  const options = { clock: new VirtualClock(), headStartMs: 1, limitMs: 1, discard: () => undefined };
  await expect(firstAnswer([], options)).rejects.toThrow("there is no way");
});
