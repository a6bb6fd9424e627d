import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cacheDir, defaultKubernetesVersion, previousKubernetesVersion, runCommand } from "../real-kubernetes/index.ts";

/** The flags that tools/record-flags recorded are those that the programs' own help tells of; which of them are refused is a unit test. */
const FLAGS = new URL("../../providers/controlplane-hosted/testdata/flags/", import.meta.url);
type Recording = Record<string, Record<string, { usage: string; hidden?: boolean }>>;
/** The last one is built only for some tests. */
const VERSIONS = [defaultKubernetesVersion, previousKubernetesVersion];
const binOf = (version: string): string => join(cacheDir(), "kubernetes", version, "bin");

function recorded(name: string): Recording {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FLAGS), "utf8")) as Recording;
}

async function helpOf(program: string): Promise<string[]> {
  const { stdout, stderr } = await runCommand(program, ["--help"]);
  const names = [...`${stdout}\n${stderr}`.matchAll(/^\s+(?:-\w, )?--([a-z0-9-]+)/gm)].map((match) => match[1] ?? "");
  return [...new Set(names)].toSorted();
}

describe.each(VERSIONS)("recorded flags of %s", (version) => {
  const there = version === defaultKubernetesVersion || existsSync(join(binOf(version), "kube-scheduler"));
  it.skipIf(!there)("are those of the help, and what it hides", async () => {
    for (const [program, flags] of Object.entries(recorded(version))) {
      const help = await helpOf(join(binOf(version), program));
      expect(help.length, program).toBeGreaterThan(50);
      expect(
        help.filter((name) => !(name in flags) && name !== "help"),
        program,
      ).toEqual([]);
      const shown = Object.entries(flags).flatMap(([name, { hidden }]) => (hidden === true ? [] : [name]));
      expect(
        shown.filter((name) => !help.includes(name)),
        program,
      ).toEqual([]);
    }
  });
});

it.each(["etcd", "etcd-v3.6"])("no flag in the help of %s is missing from what was recorded", async (program) => {
  const path = join(binOf(defaultKubernetesVersion), program);
  const version = /etcd Version: (\S+)/.exec((await runCommand(path, ["--version"])).stdout)?.[1];
  const flags = recorded(`etcd-v${version}`)["etcd"] ?? {};
  const help = await helpOf(path);
  expect(help.length).toBeGreaterThan(50);
  // Its help is written by hand and still lists flags that were removed.
  const missing = help.filter((name) => !(name in flags));
  for (const name of missing) {
    const { stderr } = await runCommand(path, [`--${name}=x`]);
    expect(stderr, name).toContain(`flag provided but not defined: -${name}`);
  }
});
