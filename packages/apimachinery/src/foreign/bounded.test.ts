import { expect, test } from "vitest";
import { VirtualClock } from "../virtual-clock.ts";
import { withinTime } from "./bounded.ts";

/** Work that finishes only when its signal aborts. */
const endless = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new Error("stopped"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  });

test("returns what the work returns, and leaves no timer", async () => {
  const clock = new VirtualClock();
  expect(await withinTime({ clock, ms: 1000, what: "x" }, async () => 7)).toBe(7);
  expect(clock.nextTimer()).toBeUndefined();
});

test("reports an error of the work itself", async () => {
  const clock = new VirtualClock();
  const work = withinTime({ clock, ms: 1000, what: "x" }, async () => Promise.reject(new Error("broken")));
  await expect(work).rejects.toThrow("broken");
  expect(clock.nextTimer()).toBeUndefined();
});

test("aborts work that takes too long, and reports it", async () => {
  const clock = new VirtualClock();
  const work = expect(withinTime({ clock, ms: 2000, what: "the image" }, endless)).rejects.toThrow(
    "the image: the response was not complete within 2 s",
  );
  await clock.advance(2000);
  await work;
});

test.each(["before", "while"])("aborts with the signal of the caller, aborted %s the work", async (when) => {
  const clock = new VirtualClock();
  const caller = new AbortController();
  if (when === "before") caller.abort(new Error("no longer needed"));
  const { signal } = caller;
  const work = expect(withinTime({ clock, ms: 2000, what: "x", signal }, endless)).rejects.toThrow("no longer needed");
  caller.abort(new Error("no longer needed"));
  await work;
  expect(clock.nextTimer()).toBeUndefined();
});
