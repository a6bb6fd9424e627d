import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

test("law: lines come out whole wherever the chunks end, also inside a character", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", ""))),
      fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
      (lines, sizes) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""), "utf8");
        const splitter = new LineSplitter();
        const out: string[] = [];
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value;
          out.push(...splitter.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(out).toEqual(
          lines.filter((line) => line !== "").map((line) => Buffer.from(line, "utf8").toString("utf8")),
        );
        expect(splitter.partial).toBe(false);
      },
    ),
  );
});

test("an unfinished line is not a line", () => {
  const splitter = new LineSplitter();
  expect(splitter.push(Buffer.from('{"a":1}\n{"b'))).toEqual(['{"a":1}']);
  expect(splitter.partial).toBe(true);
});
