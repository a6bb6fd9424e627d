import { describe, expect, it } from "vitest";
import { requestTimeoutMs } from "./request-timeout.ts";

const timeout = (text: string): number => requestTimeoutMs(new URLSearchParams({ timeout: text }));

describe("the timeout parameter", () => {
  it("limits a request, up to one minute", () => {
    expect(requestTimeoutMs(new URLSearchParams())).toBe(60_000);
    expect(timeout("")).toBe(60_000);
    expect(timeout("1.5s")).toBe(1500);
    expect(timeout("32s")).toBe(32_000);
    expect(timeout("0")).toBe(60_000);
    expect(timeout("-5s")).toBe(60_000);
    expect(timeout("2h")).toBe(60_000);
  });

  // The messages are those of kube-apiserver; tests/conformance/scripts/requests.ts compares them.
  it.each([
    ["x", 'time: invalid duration "x"'],
    ["5", 'time: missing unit in duration "5"'],
    ["5y", 'time: unknown unit "y" in duration "5y"'],
    ["-", 'time: invalid duration "-"'],
    [".s", 'time: invalid duration ".s"'],
  ])("rejects %s", (text, problem) => {
    expect(() => timeout(text)).toThrow(`invalid timeout specified in the request URL - ${problem}`);
  });
});
