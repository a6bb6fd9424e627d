/** Records the data directory that an earlier commit makes of `world.ts`: `node tests/upgrade/record.mjs COMMIT`. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { withOldTree } from "./old-tree.mjs";

const [commit = "85f713a"] = process.argv.slice(2);

withOldTree(commit, ({ scratch, tree, vitest }) => {
  const dataDir = join(scratch, "data");
  mkdirSync(join(tree, "tests/upgrade"), { recursive: true });
  cpSync(join(import.meta.dirname, "world.ts"), join(tree, "tests/upgrade/world.ts"));
  writeFileSync(
    join(tree, "tests/simulation/record-upgrade.test.ts"),
    `import { writeFileSync } from "node:fs";
import { silentLogger } from "@capstan/runtime";
import { test } from "vitest";
import { World } from "../upgrade/world.ts";

test("records", { timeout: 600_000 }, async () => {
  const world = await World.open(${JSON.stringify(dataDir)}, World.beginMs, silentLogger);
  await world.build();
  await world.close();
  const recorded = await World.recordedFiles(${JSON.stringify(dataDir)});
  writeFileSync(${JSON.stringify(join(scratch, "recorded.json"))}, JSON.stringify({ endMs: world.clock.now(), ...recorded }));
});
`,
  );
  vitest("tests/simulation/record-upgrade.test.ts");
  const recorded = JSON.parse(readFileSync(join(scratch, "recorded.json"), "utf8"));
  const target = join(import.meta.dirname, "testdata", commit);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "recorded.json"), `${JSON.stringify({ commit, ...recorded }, null, 2)}\n`);
  writeFileSync(join(target, "data.mdb.gz"), gzipSync(readFileSync(join(dataDir, recorded.database)), { level: 9 }));
});
