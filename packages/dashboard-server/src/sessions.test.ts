import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Identity, Sessions } from "./sessions.ts";

let dir = "";
const clock = new VirtualClock();
const jane: Identity = { type: "user", user: { name: "jane", groups: [] } };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessions-"));
});
afterEach(() => rm(dir, { recursive: true }));

const open = (): Promise<Sessions> =>
  Sessions.open({ file: join(dir, "sessions.json"), clock, random: seededRandom(7) });

test("a link signs in once, and expires after an hour", async () => {
  const sessions = await open();
  const code = sessions.createLink(jane);
  expect(sessions.redeem(code)).toEqual(jane);
  expect(sessions.redeem(code)).toBeUndefined();
  expect(sessions.redeem("nonsense")).toBeUndefined();
  const late = sessions.createLink(jane);
  await clock.advance(3600_000);
  expect(sessions.redeem(late)).toBeUndefined();
});

test("sessions survive a restart; the file holds no secret of the browser and is readable by its owner only", async () => {
  const { id } = await (await open()).create(jane);
  const again = await open();
  expect(again.find(id)?.identity).toEqual(jane);
  const file = join(dir, "sessions.json");
  expect(await readFile(file, "utf8")).not.toContain(id);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a session ends when the user signs out or it expires", async () => {
  const sessions = await open();
  const { id } = await sessions.create(jane);
  await sessions.remove(id);
  expect(sessions.find(id)).toBeUndefined();
  expect((await open()).find(id)).toBeUndefined();
  const { id: second } = await sessions.create({ type: "token", token: "t" });
  await clock.advance(12 * 3600_000);
  expect(sessions.find(second)).toBeUndefined();
  expect(sessions.find(undefined)).toBeUndefined();
});
