import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { S3Store } from "@capstan/backup";
import { openDialGate } from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ObjectStore } from "./harness/object-store.ts";

/** Backups in an object store, against an S3 server of another hand. */
let server: ObjectStore;
let dir: string;

const store = (overrides: object = {}): S3Store =>
  new S3Store({
    field: "spec.etcd.backup.s3",
    gate: openDialGate(),
    endpoint: server.endpoint,
    bucket: server.bucket,
    prefix: "site-1/hosted",
    accessKeyId: server.accessKeyId,
    secretAccessKey: server.secretAccessKey,
    scratchDir: join(dir, "scratch"),
    clock: systemClock,
    ...overrides,
  });

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "capstan-s3-"));
  server = await ObjectStore.start({ pageSize: 5 });
});

afterAll(() => {
  server?.close();
  rmSync(dir, { recursive: true, force: true });
});

test("what is saved is listed, read back byte for byte, and deleted", async () => {
  const file = join(dir, "snapshot.db");
  const bytes = Buffer.alloc(3 * 1024 * 1024, "0123456789abcdef");
  writeFileSync(file, bytes);
  const names = ["20261116T030000Z", "20261116T040000Z-before-v1.35.4"];
  for (const name of names) await store().save("default/c1", name, file, `{"of":"${name}"}`);
  await store().save("default/c1-other", "20261116T050000Z", file, "{}");

  const listed = await store().list("default/c1");
  expect(listed.map((backup) => backup.name)).toEqual(names);
  expect(listed[0]?.sizeBytes).toBe(bytes.length);
  expect(await store().description("default/c1", names[0] ?? "")).toBe(`{"of":"${names[0]}"}`);
  const fetched = await store().snapshot("default/c1", names[0] ?? "");
  expect(readFileSync(fetched.file).equals(bytes)).toBe(true);
  await fetched.release();
  expect(existsSync(fetched.file)).toBe(false);

  await store().delete("default/c1", names[0] ?? "");
  expect((await store().list("default/c1")).map((backup) => backup.name)).toEqual([names[1]]);
  expect(await store().list("default/c1-other")).toHaveLength(1);
});

test("failures contain the store's own message and never the key", async () => {
  await expect(store().description("default/c1", "20200101T000000Z")).rejects.toMatchObject({ code: "ENOENT" });
  await expect(store({ bucket: "missing" }).list("default/c1")).rejects.toThrow(/NoSuchBucket/);
  const wrongKey = store({ secretAccessKey: "wrong-secret" }).list("default/c1");
  await expect(wrongKey).rejects.toThrow(/SignatureDoesNotMatch/);
  await expect(wrongKey).rejects.not.toThrow(/wrong-secret/);
  const refused = store({ endpoint: "http://127.0.0.1:1" }).list("default/c1");
  await expect(refused).rejects.toThrow(/ECONNREFUSED/);
  await expect(refused).rejects.not.toThrow(server.secretAccessKey);
});

test("more backups than one page of the store's answer are all listed", async () => {
  const file = join(dir, "small.db");
  writeFileSync(file, "x");
  const many = store({ prefix: "many" });
  for (let i = 0; i < 8; i++) await many.save("default/c1", `20261116T0${i}0000Z`, file, "{}");
  expect(await many.list("default/c1")).toHaveLength(8);
});
