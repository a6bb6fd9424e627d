import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, lchown, lstat, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { giveAll, reclaim, removeReclaimed } from "./reclaim.ts";

// Only root can take folders from users, and give them. An id that nothing else on the machine has.
const asRoot = test.skipIf(process.getuid?.() !== 0);
const UID = 1_999_000_002;
let root: string;
let data: string;
let outside: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-reclaim-"));
  data = join(root, "data");
  outside = join(root, "outside");
  await mkdir(join(data, "member/snap"), { recursive: true });
  await mkdir(join(outside, "keys"), { recursive: true });
  await writeFile(join(data, "member/snap/db"), "");
  await writeFile(join(outside, "keys/ca.key"), "");
  await symlink(outside, join(data, "member/link"));
  if (process.getuid?.() !== 0) return;
  for (const path of ["", "member", "member/snap", "member/snap/db", "member/link"])
    await lchown(join(data, path), UID, UID);
  for (const path of ["", "member", "member/snap"]) await chmod(join(data, path), 0o777);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const owner = async (path: string): Promise<number> => (await lstat(path)).uid;

asRoot("a process that is left in a folder cannot put links into it once it is reclaimed", async () => {
  const left = spawn("/bin/sh", ["-c", "echo; read go; ln -s /etc snap/link; mv snap other"], {
    cwd: join(data, "member"),
    uid: UID,
    gid: UID,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = once(left, "exit");
  await once(left.stdout, "data");
  await reclaim(data);
  left.stdin.end("go\n");
  await exited;
  expect((await readdir(join(data, "member"))).toSorted()).toEqual(["link", "snap"]);
  expect(await readdir(join(data, "member/snap"))).toEqual(["db"]);
});

asRoot("neither taking nor giving nor removing follows links", async () => {
  await reclaim(data);
  expect((await stat(outside)).mode & 0o777).not.toBe(0o700);
  expect([await owner(join(data, "member/snap")), await owner(data)]).toEqual([0, 0]);
  await giveAll(data, UID);
  for (const path of ["", "member", "member/link", "member/snap/db"]) expect(await owner(join(data, path))).toBe(UID);
  for (const path of ["", "keys", "keys/ca.key"]) expect(await owner(join(outside, path))).toBe(0);
  await removeReclaimed(data);
  expect(await readdir(root, { recursive: true })).toEqual(["outside", "outside/keys", "outside/keys/ca.key"]);
});

test("a folder that is missing needs nothing", async () => {
  await reclaim(join(root, "missing"));
  await removeReclaimed(join(root, "missing"));
});
