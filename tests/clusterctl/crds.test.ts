import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseYaml } from "@capstan/apimachinery";
import { ALL_KINDS } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { root } from "../docs/blocks.ts";
import { type Crd, crdDifferences } from "./compare-crds.ts";
import { differenceReason, unusedReasons } from "./known-differences.ts";

const FOLDERS = [
  "core/config/crd/bases",
  "bootstrap/kubeadm/config/crd/bases",
  "controlplane/kubeadm/config/crd/bases",
];

/** The CRDs of the Cluster API that tools/cluster-api pins. */
function upstreamCrds(): Crd[] {
  const asked = spawnSync("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api"], {
    cwd: join(root, "tools/cluster-api"),
    encoding: "utf8",
  });
  if (asked.status !== 0) throw new Error(`go list failed: ${asked.stderr}`);
  return FOLDERS.map((folder) => join(asked.stdout.trim(), folder)).flatMap((folder) =>
    readdirSync(folder).map((file) => parseYaml(readFileSync(join(folder, file), "utf8")) as Crd),
  );
}

describe("our CustomResourceDefinitions are upstream's but for the named differences", () => {
  const pairs = upstreamCrds().map((theirs) => {
    const kind = ALL_KINDS.find(({ group, plural }) => `${plural}.${group}` === theirs.metadata.name);
    return { name: theirs.metadata.name, theirs, ours: kind?.crd() as Crd | undefined };
  });

  test("every kind of upstream's is here but Runtime SDK's", () => {
    expect(pairs.filter(({ ours }) => ours === undefined).map(({ name }) => name)).toEqual([
      "extensionconfigs.runtime.cluster.x-k8s.io",
    ]);
  });

  test.each(pairs.filter(({ ours }) => ours !== undefined))("$name", ({ name, theirs, ours }) => {
    const unknown = crdDifferences(theirs, ours as Crd).filter((line) => differenceReason(name, line) === undefined);
    expect(unknown).toEqual([]);
  });

  test("no difference is named that there is not", () => {
    const all = pairs.flatMap(({ name, theirs, ours }) =>
      ours === undefined ? [] : crdDifferences(theirs, ours).map((line) => ({ name, line })),
    );
    expect(unusedReasons(all)).toEqual([]);
  });
});
