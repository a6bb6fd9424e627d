import { VirtualClock } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { FakeRunner } from "../testing/fake-runner.ts";
import { CLOSED_HOST } from "./host-settings.ts";
import { ProcessPlacement } from "./process.ts";

const key = { namespace: "default", name: "m1" };

test("closes a host whose machines cannot be taken up, and opens it again for the next request", async () => {
  let opened = 0;
  let closed = 0;
  const placement = new ProcessPlacement(() => {
    const runner = new FakeRunner(new VirtualClock());
    if (++opened === 1) runner.resume = () => Promise.reject(new Error("no permission"));
    const close = (): Promise<void> => Promise.resolve(void closed++);
    return Promise.resolve({ settings: CLOSED_HOST, runner, memoryMib: 1024, close });
  });
  await expect(placement.console(key, 1)).rejects.toThrow("no permission");
  expect([opened, closed]).toEqual([1, 1]);
  expect(await placement.console(key, 1)).toBe("");
  expect([opened, closed]).toEqual([2, 1]);
});
