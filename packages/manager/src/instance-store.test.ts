import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { silentLogger } from "@capstan/runtime";
import { afterAll, expect, test } from "vitest";
import { openInstanceStore } from "./instance-store.ts";

const dir = mkdtempSync(join(tmpdir(), "capstan-instance-store-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const line = (name: string, byte: number): string => `${name} ${Buffer.alloc(32, byte).toString("base64")}\n`;
const [OLD, NEW] = [line("old", 1), line("new", 2)];

test("a start with a new first key is all it takes to retire the old one", async () => {
  const file = join(dir, "keys");
  const told: string[] = [];
  const log = { ...silentLogger, info: (message: string) => void told.push(message) };
  const open = (keys: string): ReturnType<typeof openInstanceStore> => {
    writeFileSync(file, keys, { mode: 0o600 });
    return openInstanceStore(dir, file, { clock: new VirtualClock(), random: seededRandom(1), log });
  };
  let store = await open(OLD);
  await store.load();
  // The first value stays in the history.
  for (const revision of [1, 2])
    await store.commit([{ revision, key: "core/secrets/a/s", bytes: Buffer.from(`value ${revision}`) }]);
  await store.close();
  expect(told).toEqual([]);

  await (await open(NEW + OLD)).close();
  expect(told).toEqual(["Secrets were encrypted with the first key of the file"]);

  store = await open(NEW);
  const { objects } = await store.load();
  expect(objects.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(["value 2"]);
  const [before] = await store.readAt(1, "");
  expect(Buffer.from(before?.bytes ?? []).toString()).toBe("value 1");
  await store.close();
  expect(told).toHaveLength(1);

  await expect(open(OLD)).rejects.toThrow();
  await (await open(NEW)).close();
});
