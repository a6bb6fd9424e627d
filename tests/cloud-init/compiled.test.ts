import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileScript } from "@capstan/userdata";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../real-kubernetes/index.ts";
import { ensureCloudInit } from "./cloud-init-program.mjs";

const testdata = new URL("../../providers/bootstrap-kubeadm/testdata/", import.meta.url);
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const metadata = { local_hostname: "node-1", "local-hostname": "node-1", hostname: "node-1", instance_id: "i-0" };
/** Programs that user data calls: they only note that they were called. */
const STUBS = ["kubeadm", "hostnamectl", "cloud-init-per", "systemctl", "mkfs"];
const STUB = '#!/bin/sh\necho "$0 $*" >> /var/called\n';
/** What the programs leave behind for themselves; cloud-init makes a sudoers file where sudo is not installed, and ntp is not compared. */
const OWN =
  /^\.\/(var\/lib|tmp|root|root\/\.cache\b.*|run|run\/cloud-init\b.*|var\/lib\/cloud\b.*|var\/log\b.*|etc\/(passwd|shadow|group|gshadow|subuid|subgid)-|etc\/sudoers|etc\/systemd\b.*) /;

let program: ReturnType<typeof ensureCloudInit>;
let folder: string;
beforeAll(() => {
  program = ensureCloudInit();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-scratch-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Changed {
  /** Changed paths with kind, mode, owner and content. */
  changes: string[];
  output: string;
}

/** Runs a command in a scratch copy of this machine. */
async function inScratch(
  name: string,
  files: Record<string, string>,
  command: string[],
  input: string,
): Promise<Changed> {
  const place = join(folder, name);
  for (const each of ["extra", "memory"]) mkdirSync(join(place, each), { recursive: true });
  const stubs = Object.fromEntries(STUBS.map((stub) => [`usr/local/sbin/${stub}`, STUB]));
  for (const [path, text] of Object.entries({ ...stubs, ...files })) {
    const target = join(place, "extra", path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    chmodSync(target, 0o755);
  }
  const { code, stdout, stderr } = await runCommand(file("scratch-root.sh"), [place, ...command], {
    input,
    env: {
      LC_ALL: "C.UTF-8",
      PATH: "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin",
      PYTHONPATH: program.modules,
      SCRATCH_BINDS: program.modules,
    },
  });
  if (code !== 0) throw new Error(stderr);
  const changes = stdout.split("\n").filter((line) => line !== "" && !OWN.test(line));
  return { changes, output: readFileSync(join(place, "output"), "utf8") };
}

async function byCloudInit(text: string): Promise<Changed> {
  const files = { "usr/local/run-stages.py": readFileSync(file("run-stages.py"), "utf8") };
  const command = [program.python, "-B", "/usr/local/run-stages.py"];
  return await inScratch("cloud-init", files, command, JSON.stringify({ text, metadata }));
}

/** The same by the compiled script; undefined if it refuses the data. */
async function byScript(content: string): Promise<Changed | undefined> {
  const compiled = compileScript({ format: "cloud-config", content }, { hostname: "node-1", instanceData: metadata });
  if ("problems" in compiled) return undefined;
  return await inScratch("script", { "usr/local/script": compiled.script }, ["/bin/bash", "/usr/local/script"], "");
}

async function expectSame(text: string): Promise<Changed> {
  const [ours, theirs] = await Promise.all([byScript(text), byCloudInit(text)]);
  expect(ours?.changes, `script: ${ours?.output}\ncloud-init: ${theirs.output}`).toEqual(theirs.changes);
  return theirs;
}

describe("the compiled script does what real cloud-init does", () => {
  test("with files in every encoding, users, groups, keys and commands", async () => {
    const text = readFileSync(file("everything.yaml"), "utf8");
    const { changes } = await expectSame(text);
    const paths = changes.map((line) => line.split(" ")[0]);
    // Each of these shows that a part of the file was done at all.
    for (const path of ["./etc/gz", "./home/ann/late", "./etc/shadow", "./root/.ssh/authorized_keys", "./var/state"])
      expect(paths).toContain(path);
  });

  const names = readdirSync(testdata).filter((name) =>
    /^(worker|init-full|control-plane-join-full)[^.]*(?<!v1beta3)\.golden$/.test(name),
  );
  test("in recorded cases, but for disks", async () => {
    const refused: string[] = [];
    for (const name of names) {
      const text = readFileSync(new URL(name, testdata), "utf8");
      if (
        "problems" in
        compileScript({ format: "cloud-config", content: text }, { hostname: "n", instanceData: metadata })
      )
        refused.push(name);
      else await expectSame(text);
      for (const each of ["cloud-init", "script"]) rmSync(join(folder, each), { recursive: true, force: true });
    }
    expect(refused, "those with disks").toEqual([
      "control-plane-join-full.golden",
      "worker-disks.golden",
      "worker-full.golden",
      "worker-old-form.golden",
    ]);
  }, 400_000);
});
