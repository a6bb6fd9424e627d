import { expect, test } from "vitest";
import { failed, failureOf } from "./create-state.ts";

const failure = new Error("connection lost");

test("a refused check goes back to the form", () => {
  expect(failed("checking", failure)).toEqual({ type: "editing", failure });
});

test("a write that ended half-way can be repeated without another check, and its failure is told", () => {
  const state = failed("writing", failure);
  expect(state.type).toBe("accepted");
  expect(failureOf(state)).toBe(failure);
  expect(failureOf({ type: "writing" })).toBeUndefined();
});
