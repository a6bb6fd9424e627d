import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { S3Store } from "@capstan/controlplane-hosted";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cacheDir, freePorts, mustRun } from "../real-kubernetes/index.ts";
import { eventually, timed } from "./harness/index.ts";

/** Backups in an object store, against moto: an S3 server of another hand. */
let server: ChildProcess;
let dir: string;
let endpoint: string;

/** moto in an environment of its own, made once. */
async function motoServer(): Promise<string> {
  const home = join(cacheDir(), "e2e", "moto-5");
  const program = join(home, "bin/moto_server");
  if (existsSync(program)) return program;
  await timed("moto is installed", async () => {
    await mustRun("python3", ["-m", "venv", home]);
    await mustRun(join(home, "bin/pip"), ["install", "--quiet", "moto[s3,server]==5.*"]);
  });
  return program;
}

const store = (overrides: object = {}): S3Store =>
  new S3Store({
    endpoint,
    bucket: "backups",
    prefix: "site-1/hosted",
    accessKeyId: "key",
    secretAccessKey: "secret",
    scratchDir: join(dir, "scratch"),
    clock: systemClock,
    ...overrides,
  });

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "capstan-s3-"));
  const [port = 0] = await freePorts(1);
  endpoint = `http://127.0.0.1:${port}`;
  server = spawn(await motoServer(), ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  await eventually("moto", async () => (await fetch(`${endpoint}/moto-api/`)).ok);
  await fetch(`${endpoint}/backups`, { method: "PUT" });
});

afterAll(() => {
  server?.kill();
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

test("failures carry the store's own words and never the key", async () => {
  await expect(store().description("default/c1", "20200101T000000Z")).rejects.toMatchObject({ code: "ENOENT" });
  await expect(store({ bucket: "missing" }).list("default/c1")).rejects.toThrow(/NoSuchBucket/);
  const refused = store({ endpoint: "http://127.0.0.1:1" }).list("default/c1");
  await expect(refused).rejects.toThrow(/ECONNREFUSED/);
  await expect(refused).rejects.not.toThrow(/secret/);
});

test("more backups than one page of the store's answer are all listed", async () => {
  const file = join(dir, "small.db");
  writeFileSync(file, "x");
  const many = store({ prefix: "many" });
  const name = (i: number): string =>
    `20261116T${String(Math.floor(i / 60)).padStart(2, "0")}${String(i % 60).padStart(2, "0")}00Z`;
  for (let i = 0; i < 520; i++) await many.save("default/c1", name(i), file, "{}");
  expect(await many.list("default/c1")).toHaveLength(520);
});
