import { expect, it } from "vitest";
import { recorded, upToDateQuestions } from "./upstream-decisions.ts";

it("has questions with either answer, each by a name of its own", () => {
  const questions = upToDateQuestions();
  expect(new Set(questions.map(({ name }) => name)).size).toBe(questions.length);
  expect(questions.filter(({ answer }) => answer.upToDate === true).length).toBeGreaterThan(500);
  expect(questions.filter(({ answer }) => answer.upToDate === false).length).toBeGreaterThan(1000);
});

it("applies what a case sets to its base", () => {
  const [changed] = upToDateQuestions().filter(({ name }) => name === "version: minor up (join)");
  expect(changed?.question.controlPlane.spec.version).toBe("v1.38.0");
  expect(changed?.question.machine.spec.version).toBe("v1.37.1");
});

it.each(["desired", "workload"])("has answers to the questions of %s", (name) => {
  const { cases } = recorded<{ cases: { answer: object }[] }>(name);
  expect(cases.length).toBeGreaterThan(30);
  expect(cases.filter(({ answer }) => answer === undefined)).toEqual([]);
});
