import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { UserIds } from "./user-ids.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-user-ids-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Not the machine's own registry: tests leave no claims there. */
function userIds(of = join(root, "clusters"), last?: number): UserIds {
  return new UserIds(of, join(root, "registry"), last);
}

/** What the placement does when a control plane is deleted. */
async function remove(ids: UserIds, owner: string): Promise<void> {
  await rm(join(root, "clusters", owner), { recursive: true });
  await ids.release(owner);
}

const claims = async (): Promise<number[]> => (await readdir(join(root, "registry"))).map(Number);

test("user ids are remembered and never given to two owners", async () => {
  const ids = userIds();
  const [a, b] = await Promise.all([ids.allocate("default/a"), ids.allocate("default/b")]);
  expect(a).not.toBe(b);
  expect(await userIds().allocate("default/a")).toBe(a);
});

test("two managers on one machine never give the same user id, whoever is faster", async () => {
  const managers = Array.from({ length: 4 }, (_, index) => userIds(join(root, `manager-${index}`)));
  const ids = await Promise.all(
    managers.flatMap((manager) => ["default/a", "default/b"].map((owner) => manager.allocate(owner))),
  );
  expect(new Set(ids).size).toBe(8);
});

test("an id that another manager gave and retired in the meantime is not given again", async () => {
  const other = userIds(join(root, "other"));
  const given: number[] = [];
  // While this one looks at the processes of the machine, after it has read the claims.
  const meanwhile = async (): Promise<number[]> => {
    if (given.length > 0) return [];
    given.push(await other.allocate("default/a"), await other.allocate("default/b"));
    await rm(join(root, "other/default/a"), { recursive: true });
    await other.release("default/a");
    return [];
  };
  const slow = new UserIds(join(root, "clusters"), join(root, "registry"), undefined, meanwhile);
  expect(given).not.toContain(await slow.allocate("default/a"));
  expect(given).toHaveLength(2);
});

test("ids of a data directory are not given again when the registry was lost", async () => {
  const deleted = await userIds().allocate("default/a");
  await remove(userIds(), "default/a");
  const kept = await userIds().allocate("default/b");
  await rm(join(root, "registry"), { recursive: true });
  expect([deleted, kept]).not.toContain(await userIds().allocate("default/c"));
});

test("the id of a deleted owner is never given again, not to one of the same name either", async () => {
  const given: number[] = [];
  for (let round = 0; round < 5; round++)
    for (const owner of ["default/a", "other/b"]) {
      given.push(await userIds().allocate(owner));
      await remove(userIds(), owner);
    }
  expect(new Set(given).size).toBe(10);
  expect(given).toEqual(given.toSorted((a, b) => a - b));
});

test("the registry keeps the highest id and what is in use, not every id that was given", async () => {
  const ids = userIds();
  const kept = await ids.allocate("default/kept");
  for (let round = 0; round < 5; round++) {
    await ids.allocate("default/a");
    await remove(ids, "default/a");
  }
  const highest = kept + 5;
  expect((await claims()).toSorted((a, b) => a - b)).toEqual([kept, highest]);
});

test("a copied folder gets an id of its own", async () => {
  const a = await userIds().allocate("default/a");
  await cp(join(root, "clusters"), join(root, "copy"), { recursive: true });
  const copied = await userIds(join(root, "copy")).allocate("default/a");
  expect(copied).not.toBe(a);
  expect(await userIds(join(root, "copy")).allocate("default/a"), "remembered").toBe(copied);
  expect(await userIds().allocate("default/a"), "the original keeps its own").toBe(a);
});

test("a folder out of a backup of a deleted owner gets a new id", async () => {
  const ids = userIds();
  const old = await ids.allocate("default/a");
  await cp(join(root, "clusters/default/a"), join(root, "saved"), { recursive: true });
  await remove(ids, "default/a");
  const between = await ids.allocate("default/b");
  await cp(join(root, "saved"), join(root, "clusters/default/a"), { recursive: true });
  expect([old, between]).not.toContain(await ids.allocate("default/a"));
});

test("a folder that was deleted by hand and made again gets a new id, and its old claim is dropped", async () => {
  const old = await userIds().allocate("default/a");
  await rm(join(root, "clusters/default/a"), { recursive: true });
  const next = await userIds().allocate("default/a");
  expect(next).not.toBe(old);
  expect(await claims()).toEqual([next]);
});

test("an owner of an earlier version keeps its id, and new ids are above all that such versions gave", async () => {
  const dir = join(root, "clusters/default/a");
  await mkdir(dir, { recursive: true });
  await mkdir(join(root, "registry"), { recursive: true });
  await writeFile(join(dir, "user-id"), "1900000003");
  await writeFile(join(root, "registry/1900000003"), dir);
  expect(await userIds().allocate("default/a")).toBe(1_900_000_003);
  expect(await userIds().allocate("default/b")).toBeGreaterThanOrEqual(1_910_000_000);
});

test("when no id is left the error says so and what to do, and owners that have one keep it", async () => {
  const first = await userIds().allocate("default/a");
  const full = userIds(undefined, first);
  await expect(full.allocate("default/b")).rejects.toThrow(
    /no user id is left .* run further hosted control planes on/,
  );
  expect(await full.allocate("default/a")).toBe(first);
});
