/**
 * Records the data directory that an earlier commit makes of a world: `node tests/upgrade/record.mjs COMMIT [WORLD]`, where WORLD is
 * `mixed` (by default) or `kubeadm`.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { withOldTree } from "./old-tree.mjs";

const [commit = "85f713a", world = "mixed"] = process.argv.slice(2);
const FILES = ["world.ts", "mixed.ts", "kubeadm.ts"];

withOldTree(commit, ({ scratch, tree, vitest }) => {
  const dataDir = join(scratch, "data");
  mkdirSync(join(tree, "tests/upgrade"), { recursive: true });
  for (const file of FILES) cpSync(join(import.meta.dirname, file), join(tree, "tests/upgrade", file));
  writeFileSync(
    join(tree, "tests/simulation/record-upgrade.test.ts"),
    `import { writeFileSync } from "node:fs";
import { silentLogger } from "@capstan/runtime";
import { test } from "vitest";
import { World } from "../upgrade/world.ts";

test("records", { timeout: 600_000 }, async () => {
  const world = await World.open(${JSON.stringify(dataDir)}, World.beginMs, silentLogger);
  await World.builders.${world}(world);
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
  for (const [index, path] of recorded.databases.entries())
    writeFileSync(join(target, `${index}.mdb.gz`), gzipSync(readFileSync(join(dataDir, path)), { level: 9 }));
});
