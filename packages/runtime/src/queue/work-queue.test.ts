import { randomInt, seededRandom, VirtualClock } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PRIORITY_LOW, type QueueState, WorkQueue } from "./work-queue.ts";

function makeQueue(): { clock: VirtualClock; queue: WorkQueue } {
  const clock = new VirtualClock();
  return { clock, queue: new WorkQueue({ clock }) };
}

describe("WorkQueue", () => {
  test("a key waits at most once and keeps its place", () => {
    const { queue } = makeQueue();
    queue.add("a");
    queue.add("b");
    queue.add("a");
    expect(queue.depth).toBe(2);
    expect([queue.take(), queue.take(), queue.take()]).toEqual(["a", "b", undefined]);
  });

  test("a key added while being worked on comes back after done, and not before", () => {
    const { queue } = makeQueue();
    queue.add("a");
    expect(queue.take()).toBe("a");
    queue.add("a");
    queue.add("a");
    expect(queue.take()).toBeUndefined();
    queue.done("a");
    expect(queue.take()).toBe("a");
    queue.done("a");
    expect(queue.take()).toBeUndefined();
  });

  test("of several adds while a key is worked on, or to come later, the highest priority counts", async () => {
    const { clock, queue } = makeQueue();
    queue.add("again");
    expect(queue.take()).toBe("again");
    queue.add("again");
    queue.add("again", PRIORITY_LOW);
    queue.addAfter("later", 1000);
    queue.addAfter("later", 900, PRIORITY_LOW);
    queue.add("low", PRIORITY_LOW);
    queue.done("again");
    await clock.advance(1000);
    expect([queue.take(), queue.take(), queue.take()]).toEqual(["again", "later", "low"]);
  });

  test("repeated requeues neither accumulate nor lose delayed adds", async () => {
    const { clock, queue } = makeQueue();
    for (let i = 0; i < 5000; i++) {
      const key = `k${i % 10}`;
      queue.add(key);
      expect(queue.take()).toBe(key);
      queue.addAfter(key, 3_600_000 + i);
      queue.done(key);
    }
    expect(queue.held).toBeLessThan(100);
    await clock.advance(3_700_000);
    expect(queue.depth).toBe(10);
  });

  test("the higher priority of several delayed adds counts", async () => {
    const { clock, queue } = makeQueue();
    queue.addAfter("a", 10, PRIORITY_LOW);
    queue.addAfter("a", 20, 0);
    queue.addAfter("b", 5, PRIORITY_LOW);
    await clock.advance(30);
    expect([queue.take(), queue.take()]).toEqual(["a", "b"]);
  });

  test("higher priorities come first, and a key moves up but never down", () => {
    const { queue } = makeQueue();
    queue.add("low", PRIORITY_LOW);
    queue.add("risen", PRIORITY_LOW);
    queue.add("normal");
    queue.add("risen", 0);
    queue.add("normal", PRIORITY_LOW);
    expect(queue.depth).toBe(3);
    expect([queue.take(), queue.take(), queue.take(), queue.take()]).toEqual(["normal", "risen", "low", undefined]);
  });

  test("delayed keys come when due, the earliest of several adds counts", async () => {
    const { clock, queue } = makeQueue();
    queue.addAfter("a", 1000);
    queue.addAfter("a", 200);
    queue.addAfter("b", 500);
    expect(queue.take()).toBeUndefined();
    await clock.advance(199);
    expect(queue.take()).toBeUndefined();
    await clock.advance(1);
    expect(queue.take()).toBe("a");
    queue.done("a");
    await clock.advance(300);
    expect(queue.take()).toBe("b");
    queue.done("b");
    await clock.advance(10_000);
    expect(queue.take()).toBeUndefined();
  });

  test("work that starts cancels the key's delayed add", async () => {
    const { clock, queue } = makeQueue();
    queue.addAfter("a", 1000);
    queue.add("a");
    expect(queue.take()).toBe("a");
    queue.done("a");
    await clock.advance(2000);
    expect(queue.take()).toBeUndefined();
    expect(clock.nextTimer()).toBeUndefined();
  });

  test("backoff doubles from 5 ms to 1000 s and starts over after forget", async () => {
    const { clock, queue } = makeQueue();
    const waits: number[] = [];
    for (let i = 0; i < 20; i++) {
      const start = clock.now();
      queue.addRateLimited("a");
      const due = clock.nextTimer();
      waits.push((due ?? 0) - start);
      await clock.advance((due ?? 0) - start);
      expect(queue.take()).toBe("a");
      queue.done("a");
    }
    expect(waits.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
    expect(waits.at(-1)).toBe(1_000_000);
    expect(queue.failures("a")).toBe(20);
    queue.forget("a");
    queue.addRateLimited("a");
    expect((clock.nextTimer() ?? 0) - clock.now()).toBe(5);
  });

  test("events that bring a failing key back early do not make it wait for minutes", async () => {
    const { clock, queue } = makeQueue();
    for (let i = 0; i < 20; i++) {
      queue.add("a");
      expect(queue.take()).toBe("a");
      queue.addRateLimited("a");
      queue.done("a");
      await clock.advance(1);
    }
    expect(queue.failures("a")).toBe(20);
    await clock.advance(50);
    expect(queue.take()).toBe("a");
  });

  test("retries of many keys are spread out by the overall limit", () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ clock, retries: { perSecond: 10, burst: 2 } });
    const waits: number[] = [];
    for (const key of ["a", "b", "c", "d"]) {
      const before = clock.nextTimer();
      queue.addRateLimited(key);
      if (before === undefined) waits.push((clock.nextTimer() ?? 0) - clock.now());
    }
    expect(waits).toEqual([5]);
    // c and d wait for tokens: 100 ms and 200 ms.
    return clock.advance(150).then(async () => {
      expect(queue.depth).toBe(3);
      await clock.advance(50);
      expect(queue.depth).toBe(4);
    });
  });

  test("its state: who waits under which priority, and how long work has taken", async () => {
    const clock = new VirtualClock();
    let state: (() => QueueState) | undefined;
    const nothing = (): void => undefined;
    const observer = { added: nothing, taken: nothing, finished: nothing, retried: nothing };
    const queue = new WorkQueue({ clock, observer: { ...observer, watched: (read) => void (state = read) } });
    queue.add("first", 5);
    queue.add("low", PRIORITY_LOW);
    queue.add("risen", PRIORITY_LOW);
    queue.add("risen");
    expect(Object.fromEntries(state?.().depths ?? [])).toEqual({ 5: 1, 0: 1, [PRIORITY_LOW]: 1 });
    queue.take();
    await clock.advance(2000);
    queue.take();
    await clock.advance(1000);
    expect(state?.()).toMatchObject({ unfinishedMs: 4000, longestMs: 3000 });
    expect(Object.fromEntries(state?.().depths ?? [])).toEqual({ 5: 0, 0: 0, [PRIORITY_LOW]: 1 });
    queue.done("first");
    queue.done("risen");
    expect(state?.()).toMatchObject({ unfinishedMs: 0, longestMs: 0 });
  });

  test("a closed queue accepts nothing and leaves no timer", () => {
    const { clock, queue } = makeQueue();
    queue.add("a");
    queue.addAfter("b", 10);
    queue.close();
    queue.add("c");
    expect(queue.take()).toBeUndefined();
    expect(clock.nextTimer()).toBeUndefined();
  });

  test("law: every add is followed by work that starts after it, and no key is worked on twice at once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = seededRandom(seed);
        const { clock, queue } = makeQueue();
        const owed = new Set<string>();
        const working = new Set<string>();
        const start = (): void => {
          const key = queue.take();
          if (key === undefined) return;
          expect(working.has(key)).toBe(false);
          working.add(key);
          owed.delete(key);
        };
        for (let i = 0; i < 200; i++) {
          const key = `k${randomInt(random, 5)}`;
          const action = randomInt(random, 4);
          if (action === 0) {
            queue.add(key, randomInt(random, 3) - 1);
            owed.add(key);
          } else if (action === 1) start();
          else if (action === 2 && working.delete(key)) queue.done(key);
          else if (!working.has(key)) queue.addAfter(key, randomInt(random, 50));
        }
        for (const key of working) queue.done(key);
        working.clear();
        await clock.advance(100);
        for (let n = 0; n < 100 && queue.depth > 0; n++) {
          start();
          for (const key of working) queue.done(key);
          working.clear();
        }
        expect(queue.depth).toBe(0);
        expect([...owed]).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});
