import { expect, test } from "vitest";
import { undocumented } from "./exported-docs.mjs";

test("finds exported symbols without a doc comment, by name and line", () => {
  const source = [
    "/** A kind. */",
    "export const Kind = define();",
    "export type Kind = typeof Kind;",
    "",
    "export async function run(): Promise<void> {}",
    "export interface Options {}",
    "export { other } from './other.ts';",
    "const inner = 1;",
  ].join("\n");
  expect(undocumented(source)).toEqual([
    { name: "run", line: 5 },
    { name: "Options", line: 6 },
  ]);
});

test("accepts a comment of several lines", () => {
  expect(undocumented("/**\n * Long.\n */\nexport class Long {}\n")).toEqual([]);
});
