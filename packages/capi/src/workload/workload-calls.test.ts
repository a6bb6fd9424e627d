import { notFound, sleep, VirtualClock } from "@capstan/apimachinery";
import { describe, expect, test } from "vitest";
import { WorkloadCalls, WorkloadUnavailable } from "./workload-calls.ts";

const DEAD = { namespace: "n", name: "dead" };
const ALIVE = { namespace: "n", name: "alive" };

describe("calls to workload clusters", () => {
  test("silence ends after ten seconds, and the cluster is then left alone for a while", async () => {
    const clock = new VirtualClock();
    const calls = new WorkloadCalls(clock);
    const hang = (signal: AbortSignal): Promise<void> => sleep(clock, 3_600_000, signal);
    const first = calls.run(DEAD, hang).catch((error: unknown) => error);
    await clock.advance(10_000);
    expect(await first).toBeInstanceOf(WorkloadUnavailable);
    let called = false;
    const second = await calls
      .run(DEAD, async () => {
        called = true;
      })
      .catch((error: unknown) => error);
    expect(second).toBeInstanceOf(WorkloadUnavailable);
    expect(called).toBe(false);
    expect(await calls.run(ALIVE, async () => "fine")).toBe("fine");
    await clock.advance(10_000);
    expect(await calls.run(DEAD, async () => "back")).toBe("back");
  });

  test("only so many at a time", async () => {
    const clock = new VirtualClock();
    const calls = new WorkloadCalls(clock);
    const many = Array.from({ length: 30 }, () =>
      calls
        .run(DEAD, (signal) => sleep(clock, 1000, signal))
        .then(
          () => "done",
          (error: unknown) => (error instanceof WorkloadUnavailable ? "refused" : "failed"),
        ),
    );
    await clock.advance(1000);
    const outcomes = await Promise.all(many);
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(20);
    expect(outcomes.filter((outcome) => outcome === "refused")).toHaveLength(10);
  });

  test("derived limiters count calls and pauses apart: a failure of one controller does not keep another from its own way in", async () => {
    const clock = new VirtualClock();
    const shared = new WorkloadCalls(clock);
    const [one, two] = [shared.limited({ maxInFlight: 1 }), shared.limited({ maxInFlight: 1 })];
    const slow = (signal: AbortSignal): Promise<void> => sleep(clock, 1000, signal);
    const both = Promise.all([one.run(ALIVE, slow), two.run(ALIVE, slow)]);
    await expect(one.run(ALIVE, slow)).rejects.toThrow("too many requests");
    await clock.advance(1000);
    await both;
    await expect(one.run(DEAD, () => Promise.reject(new Error("cut")))).rejects.toThrow("cut");
    await expect(one.run(DEAD, slow)).rejects.toMatchObject({ failure: "cut", retryMs: 10_000 });
    expect(await two.run(DEAD, async () => "at a Machine")).toBe("at a Machine");
  });

  test("what a server answers is no silence", async () => {
    const calls = new WorkloadCalls(new VirtualClock());
    const refusal = notFound({ group: "", resource: "nodes" }, "x");
    await expect(calls.run(ALIVE, () => Promise.reject(refusal))).rejects.toBe(refusal);
    expect(await calls.run(ALIVE, async () => 1)).toBe(1);
  });
});
