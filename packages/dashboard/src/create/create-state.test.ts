import { expect, test } from "vitest";
import { failed, failureOf } from "./create-state.ts";

const failure = new Error("connection lost");

test("a rejected check returns to the form", () => {
  expect(failed("checking", failure)).toEqual({ type: "editing", failure });
});

test("a write that failed half-way can be repeated without another check, and its error is shown", () => {
  const state = failed("writing", failure);
  expect(state.type).toBe("accepted");
  expect(failureOf(state)).toBe(failure);
  expect(failureOf({ type: "writing" })).toBeUndefined();
});
