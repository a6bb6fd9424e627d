import { describe, expect, test } from "vitest";
import { ForeignDocumentError } from "./bounded.ts";
import { parseForeignJson } from "./foreign-json.ts";

const keys = (count: number): string =>
  `[${Array.from({ length: count }, (_, i) => `{"${i.toString(36)}x":0,"${i}y":1}`).join(",")}]`;

describe("JSON of others", () => {
  test("is parsed as it is", () => {
    const value = { a: [1, 'b\\"{[,:', null, { c: "é\n" }], d: "x".repeat(50_000) };
    expect(parseForeignJson(JSON.stringify(value), "it")).toEqual(value);
  });

  test("may be a long list of objects of the same form", () => {
    const node = { metadata: { name: "n", labels: { a: "b" } }, status: { images: Array(100).fill({ names: ["x"] }) } };
    const list = { items: Array(500).fill(node) };
    expect(parseForeignJson(JSON.stringify(list), "it")).toEqual(list);
  });

  test.each([
    ["different keys", keys(20_000)],
    ["values", `[${"{},".repeat(500_000)}{}]`],
    ["levels", `${"[".repeat(20_000)}${"]".repeat(20_000)}`],
  ])("with too many %s is refused", (what, text) => {
    const parse = (): unknown => parseForeignJson(text, "GET /x");
    expect(parse).toThrow(ForeignDocumentError);
    expect(parse).toThrow(new RegExp(`^GET /x: the answer has more than \\d+ ${what}$`));
  });

  test("is never quoted in an error", () => {
    expect(() => parseForeignJson("canary-secret", "GET /x")).toThrow(/^GET \/x: the answer is not valid JSON$/);
  });
});
