import { expect, test } from "vitest";
import { subjectOf } from "./subject.ts";

test.each([
  ["jane@example.com", "--user=jane@example.com"],
  ["https://login.example.com#42", "--user='https://login.example.com#42'"],
  ["o'brien", "--user='o'\\''brien'"],
  ["system:serviceaccount:team:robot", "--serviceaccount=team:robot"],
])("names %s as kubectl does", (user, subject) => {
  expect(subjectOf(user)).toBe(subject);
});
