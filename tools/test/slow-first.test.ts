import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SLOW } from "./slow-first.ts";

test("names files that exist", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  expect(SLOW.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
