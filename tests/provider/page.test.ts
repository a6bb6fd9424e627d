import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeBlocks, root } from "../docs/blocks.ts";

const PAGE = "docs/guides/provider.md";

test("the page shows the provider, its process and its test as they are", () => {
  const shown = codeBlocks(PAGE, readFileSync(join(root, PAGE), "utf8")).filter(({ info }) => info === "ts");
  const files = ["lab.ts", "main.ts", "contract.test.ts"].map((name) =>
    readFileSync(join(root, "tests/provider", name), "utf8"),
  );
  expect(shown.map(({ text }) => `${text}\n`)).toEqual(files);
});
