import { readdirSync, readFileSync } from "node:fs";
import { type CloudConfig, parseCloudConfig, renderCloudConfig, type UserData } from "@capstan/userdata";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../real-kubernetes/index.ts";
import { ensureCloudInit } from "./cloud-init-program.mjs";

const testdata = new URL("../../providers/bootstrap-kubeadm/testdata/", import.meta.url);
const metadata = { local_hostname: "node-1", "instance-id": "i-0", instance_id: "i-0" };

interface Reading {
  config: Record<string, unknown>;
  files: { path: string; content: string; mode: number; owner: string; append: boolean }[];
  problem: string | null;
}

let program: ReturnType<typeof ensureCloudInit>;
beforeAll(() => {
  program = ensureCloudInit();
});

/** Where upstream's shape is not what cloud-init's schema says, though its modules take it: cloud-init warns, we keep the shape. */
const WARNINGS: Record<string, RegExp> = {
  "init-machine.golden":
    /^Cloud config schema errors: fs_setup\.0\.label: .*ntp\.servers: None is not of type 'array'$/,
  "worker-disks.golden": /^Cloud config schema errors: disk_setup.*layout.*fs_setup\.0\.partition.*fs_setup\.1\.label/,
  "worker-full.golden": /^Cloud config schema errors: disk_setup.*layout.*users\.0: .*users\.1: /,
  "worker-old-form.golden": /^Cloud config schema errors: users\.0: /,
  "worker-prerelease.golden": /^Cloud config schema errors: ntp\.servers: None is not of type 'array'$/,
};

/** What real cloud-init (the Debian package) makes of user data. */
async function readByCloudInit(texts: readonly string[]): Promise<Reading[]> {
  const script = readFileSync(new URL("read.py", import.meta.url), "utf8");
  const { code, stdout, stderr } = await runCommand(program.python, ["-B", "-c", script], {
    input: JSON.stringify(texts.map((text) => ({ text, metadata }))),
    env: { LC_ALL: "C.UTF-8", PYTHONPATH: program.modules },
  });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Reading[];
}

/** Our reading in the form of theirs. */
function expectSame(ours: CloudConfig, theirs: Reading): void {
  expect(theirs.files).toEqual(
    ours.writeFiles.map(({ path, content, permissions, owner, append }) => ({
      path,
      content: content.toString("base64"),
      mode: Number.parseInt(permissions, 8),
      owner,
      append,
    })),
  );
  const { config } = theirs;
  expect(config["runcmd"]).toEqual(ours.runCommands);
  expect(config["bootcmd"] ?? []).toEqual(ours.bootCommands);
  expect(config["users"] ?? []).toEqual(ours.users);
  expect(config["mounts"] ?? []).toEqual(ours.mounts);
  expect(config["disk_setup"] ?? {}).toEqual(ours.diskSetup);
  expect(config["fs_setup"] ?? []).toEqual(ours.filesystems);
  expect((config["ntp"] as { servers?: string[] } | undefined)?.servers ?? []).toEqual(ours.ntp?.servers ?? []);
}

describe("real cloud-init reads what we read", () => {
  test("in every recorded case", async () => {
    const names = readdirSync(testdata).filter((name) => name.endsWith(".golden") && !name.startsWith("ignition"));
    const texts = names.map((name) => readFileSync(new URL(name, testdata), "utf8"));
    const readings = await readByCloudInit(texts);
    texts.forEach((text, index) => {
      const theirs = readings[index];
      if (theirs === undefined) throw new Error(`no reading of ${names[index]}`);
      expectSame(parseCloudConfig(text, { metadata }), theirs);
      expect(theirs.problem ?? "").toMatch(WARNINGS[names[index] ?? ""] ?? /^$/);
    });
  });

  test("whatever texts it holds", async () => {
    const text = fc.string({ unit: "binary", maxLength: 60 }).filter((value) => !/\{[{%#]|\p{Cs}/u.test(value));
    const line = text.filter((value) => value.trim() === value && value !== "" && !/[\p{Cc}\u2028\u2029]/u.test(value));
    const samples = fc.sample(
      fc.record({
        files: fc.array(fc.record({ path: line, content: text, owner: line }), { maxLength: 4 }),
        preKubeadmCommands: fc.array(
          text.filter((value) => value !== ""),
          { maxLength: 4 },
        ),
        mounts: fc.array(fc.array(line, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 2 }),
        users: fc.array(fc.record({ name: line, gecos: line, sshAuthorizedKeys: fc.array(line, { maxLength: 2 }) }), {
          maxLength: 2,
        }),
        kubeadm: fc.constant({ action: "join" as const, controlPlane: false, joinConfiguration: "a: b\n" }),
      }) satisfies fc.Arbitrary<UserData>,
      { numRuns: 200, seed: 1 },
    );
    const texts = samples.map((data) => renderCloudConfig(data));
    const readings = await readByCloudInit(texts);
    texts.forEach((rendered, index) => {
      const theirs = readings[index];
      if (theirs === undefined) throw new Error("no reading");
      expectSame(parseCloudConfig(rendered), theirs);
    });
  });
});
