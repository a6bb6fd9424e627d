import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ProgramState } from "../types.ts";
import { ProcessWorkloads } from "./process-workloads.ts";
import { UserIds } from "./user-ids.ts";

// Only root can give programs user ids of their own.
const asRoot = test.skipIf(process.getuid?.() !== 0);
const run = promisify(execFile);
let root: string;
let workloads: ProcessWorkloads;

beforeEach(async () => {
  // mkdtemp makes folders that only root may enter: the programs must cope, as below a home directory.
  root = await mkdtemp(join(tmpdir(), "capstan-users-"));
  workloads = new ProcessWorkloads({ root, clock: systemClock });
});

afterEach(async () => {
  await workloads.stopAll(() => 0);
  await rm(root, { recursive: true, force: true });
});

/** Not the machine's own registry: tests leave no claims there. */
function userIds(of = join(root, "clusters"), registry = join(root, "registry")): UserIds {
  return new UserIds(of, registry);
}

function until(owner: string, wanted: (state: ProgramState) => boolean): Promise<ProgramState> {
  return new Promise((resolve) => {
    const look = async (): Promise<void> => {
      const state = (await workloads.list(owner))[0];
      if (state === undefined || !wanted(state)) return;
      unsubscribe();
      resolve(state);
    };
    const unsubscribe = workloads.subscribe(() => void look());
    void look();
  });
}

const shell = (owner: string, uid: number, script: string) => ({
  id: { owner, name: "sh" },
  command: "/bin/sh",
  args: ["-c", script, "sh", "$FILES", "$DATA"],
  secretFiles: { "pki/ca.key": `key of ${owner}` },
  dataDir: true,
  uid,
});

asRoot("an id that a running process has is not given, also when no registry knows of it", async () => {
  const [first, second] = [await userIds().allocate("default/a"), await userIds().allocate("default/b")];
  await workloads.ensure(shell("default/a", first, "exec sleep 600"));
  const { pid } = await until("default/a", (s) => s.phase === "Ready");
  // It is root until its view of the file system is made.
  for (;;) if ((await stat(`/proc/${pid}`)).uid === first) break;
  const other = await userIds(join(root, "other"), join(root, "other-registry")).allocate("default/a");
  expect(other).not.toBe(first);
  expect(second).not.toBe(first);
});

asRoot("a program reads its own files and writes its own data below folders that are closed to it", async () => {
  const uid = await userIds().allocate("default/a");
  await workloads.ensure(
    shell("default/a", uid, 'id -u; cat "$1/pki/ca.key"; cat "$1/pki/ca.key" > "$2/copy"; exec sleep 600'),
  );
  const state = await until("default/a", (s) => s.phase === "Ready");
  const copy = join(root, "default/a/sh/data/copy");
  for (;;) if ((await readFile(copy, "utf8").catch(() => "")) !== "") break;
  expect(await readFile(copy, "utf8")).toBe("key of default/a");
  expect((await stat(copy)).uid).toBe(uid);
  expect(await readFile(`/proc/${state.pid}/status`, "utf8")).toMatch(new RegExp(`^Uid:\\s+${uid}\\s`, "m"));
});

asRoot("another owner's user can neither read files nor data, nor change what the manager relies on", async () => {
  const ids = userIds();
  const [a, b] = [await ids.allocate("default/a"), await ids.allocate("default/b")];
  await workloads.ensure(shell("default/a", a, 'echo secret > "$2/etcd"; exec sleep 600'));
  await until("default/a", (s) => s.phase === "Ready");
  const dir = join(root, "default/a/sh");
  const as = (uid: number, ...args: string[]): Promise<unknown> => run(args[0] ?? "", args.slice(1), { uid, gid: uid });
  // Even with every folder above opened, so that only the program's own folders protect it.
  await run("chmod", ["755", root, join(root, "default"), join(root, "default/a")]);
  for (const path of ["files/pki/ca.key", "data/etcd", "process.json", "sh.log"])
    await expect(as(b, "cat", join(dir, path)), path).rejects.toThrow(/Permission denied/);
  // The tenant itself must not be able to lead the manager, which is root, to other files or processes.
  for (const path of ["process.json", "files/pki/ca.key", "sh.log", "alive"])
    await expect(as(a, "rm", "-f", join(dir, path)), path).rejects.toThrow(/Permission denied/);
});
