import fc from "fast-check";
import { expect, test } from "vitest";
import { VirtualClock } from "./virtual-clock.ts";

const delays = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 8 });

test("fires every due timer once, in order of time and then of creation", async () => {
  await fc.assert(
    fc.asyncProperty(delays, fc.integer({ min: 0, max: 60 }), async (all, until) => {
      const clock = new VirtualClock(1000);
      const fired: [number, number][] = [];
      for (const [index, delay] of all.entries()) clock.after(delay, () => fired.push([clock.now(), index]));
      await clock.advance(until);
      const due = all
        .map((delay, index): [number, number] => [1000 + delay, index])
        .filter(([at]) => at <= 1000 + until);
      expect(fired).toEqual(due.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]));
      expect([clock.now(), clock.monotonic()]).toEqual([1000 + until, 1000 + until]);
    }),
    { numRuns: 30 },
  );
});

test("knows when the next timer is due", () => {
  fc.assert(
    fc.property(delays, (all) => {
      const clock = new VirtualClock(1000);
      for (const delay of all) clock.after(delay, () => {});
      expect(clock.nextTimer()).toBe(all.length === 0 ? undefined : 1000 + Math.min(...all));
    }),
  );
});

test("does not fire a cancelled timer, and no other in its place", async () => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  const cancel = clock.after(5, () => fired.push("cancelled"));
  clock.after(5, () => fired.push("kept"));
  cancel();
  await clock.advance(5);
  expect(fired).toEqual(["kept"]);
});

test("fires timers that timers set, and those set for the past at once", async () => {
  const clock = new VirtualClock(0);
  const fired: number[] = [];
  clock.after(10, () => {
    clock.after(10, () => fired.push(clock.now()));
    clock.after(-5, () => fired.push(clock.now()));
  });
  await clock.advance(20);
  expect(fired).toEqual([10, 20]);
});
