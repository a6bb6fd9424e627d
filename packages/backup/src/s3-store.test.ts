import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@capstan/apimachinery";
import { openDialGate } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { S3Store } from "./s3-store.ts";

const NAME = "20261116T030000Z";
let dir: string;
let server: Server | undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-s3-store-"));
});

afterEach(async () => {
  server?.close();
  await rm(dir, { recursive: true, force: true });
});

/** A store that gives one answer to everything and closes the connection, as some do. */
async function storeThatSays(head: string, body: string | Buffer): Promise<S3Store> {
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(`HTTP/1.1 ${head}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`);
      socket.end(body);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return new S3Store({
    field: "spec.store",
    gate: openDialGate(),
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket: "backups",
    accessKeyId: "id",
    secretAccessKey: "secret",
    scratchDir: join(dir, "scratch"),
    clock: new VirtualClock(),
  });
}

test("uploads a whole snapshot although the store closes the connection early", async () => {
  for (const size of [64 * 1024, 3 * 1024 * 1024]) {
    const bytes = Buffer.alloc(size, "0123456789abcdef");
    const store = await storeThatSays("200 OK", bytes);
    const { file, release } = await store.snapshot("default/c1", NAME);
    expect((await readFile(file)).equals(bytes)).toBe(true);
    await release();
    server?.close();
  }
});

test.each([
  [
    "AccessDenied",
    "403 Forbidden",
    "the store answered 403 (AccessDenied): the credentials in the Secret lack permission for this",
  ],
  [
    "PermanentRedirect",
    "301 Moved",
    "the store answered 301 (PermanentRedirect): the bucket is in another region: correct spec.store.endpoint and region",
  ],
  ["ServerSecret42", "500 Oops", "the store answered 500"],
])("explains the error code %s", async (code, head, explanation) => {
  const body = `<Error>\n<Code>${code}</Code>\n<Message>internal: root:x:0:0</Message></Error>`;
  const store = await storeThatSays(head, body);
  const error = await store.list("default/c1").catch((failed: unknown) => failed);
  expect(String(error)).toMatch(new RegExp(`: ${explanation.replace(/[()]/g, "\\$&")}$`));
});

test("lists no backup that lacks a file, or whose snapshot is empty", async () => {
  const object = (path: string, size: number): string =>
    `<Contents><Key>default/c1/${path}</Key><Size>${size}</Size></Contents>`;
  const body = `<ListBucketResult>${[
    object("20261116T010000Z/control-plane.json", 9),
    object("20261116T020000Z/snapshot.db", 9),
    object("20261116T030000Z/snapshot.db", 0),
    object("20261116T030000Z/control-plane.json", 9),
  ].join("")}</ListBucketResult>`;
  const store = await storeThatSays("200 OK", body);
  expect(await store.list("default/c1")).toEqual([]);
});

test("reads a listing in order, with quoted text and entities as text", async () => {
  const key = (name: string): string => `default/c1/${name}`;
  const body = `<ListBucketResult><Contents><Key>${key(NAME)}/snapshot.db</Key><Size>5</Size></Contents>
<Contents><Key><![CDATA[${key(NAME)}/control-plane.json]]></Key><Size>1</Size></Contents>
<Contents><Key>&lt;&amp;amp;</Key></Contents></ListBucketResult>`;
  const store = await storeThatSays("200 OK", body);
  expect(await store.list("default/c1")).toMatchObject([{ name: NAME, sizeBytes: 5 }]);
});

test.each(["..", "a/../b", "./a"])("a prefix %s is refused", (prefix) => {
  const make = (): S3Store =>
    new S3Store({
      field: "spec.store",
      gate: openDialGate(),
      endpoint: "http://store.example",
      bucket: "b",
      prefix,
      accessKeyId: "id",
      secretAccessKey: "secret",
      scratchDir: dir,
      clock: new VirtualClock(),
    });
  expect(make).toThrow("spec.store: bucket and prefix");
});
