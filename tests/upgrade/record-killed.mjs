/**
 * Records the folders of a control plane whose manager, at an earlier commit, was killed after each of its actions on etcd during an
 * upgrade: `node tests/upgrade/record-killed.mjs`. The world is that of the commit's own test.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { withOldTree } from "./old-tree.mjs";

const COMMIT = "85f713a";
const TEST = "providers/controlplane-hosted/src/placement/process/etcd-change-killed.test.ts";
const TARGET = "../../providers/controlplane-hosted/src/placement/etcd-upgrade/testdata/killed-folders.json.gz";

withOldTree(COMMIT, ({ scratch, tree, vitest }) => {
  const [world = ""] = readFileSync(join(tree, TEST), "utf8").split(/^test\(/m);
  const out = join(scratch, "killed.json");
  writeFileSync(
    join(tree, TEST),
    `import { writeFileSync } from "node:fs";
${world}
const FATES = {
  serves: { phase: "Ready", restarts: 0, message: "" },
  fails: { phase: "Failed", restarts: 3, message: "its last error: cannot read this" },
} as const;

test("records", { timeout: 600_000 }, async () => {
  const folders: { etcd: string; files: Record<string, string> }[] = [];
  for (const [name, state] of Object.entries(FATES))
    for (let moment = 1; ; moment++) {
      workloads.fate = ({ id, command }) => (id.name === "etcd" && command.includes(NEW) ? state : FATES.serves);
      const killed = await killedAt(moment);
      const files: Record<string, string> = {};
      const all = await readdir(root, { recursive: true, withFileTypes: true });
      for (const entry of all.filter((each) => each.isFile())) {
        const path = join(entry.parentPath, entry.name);
        files[path.slice(root.length + 1)] = (await readFile(path, "utf8")).replaceAll(root, "ROOT");
      }
      await rm(root, { recursive: true, force: true });
      await begin();
      if (!killed) break;
      folders.push({ etcd: name, files });
    }
  writeFileSync(${JSON.stringify(out)}, JSON.stringify({ authorities, folders }));
});
`,
  );
  vitest(TEST);
  const recorded = gzipSync(readFileSync(out), { level: 9 });
  writeFileSync(resolve(import.meta.dirname, TARGET), recorded);
});
