import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@capstan/apimachinery";
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
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket: "backups",
    accessKeyId: "id",
    secretAccessKey: "secret",
    scratchDir: join(dir, "scratch"),
    clock: new VirtualClock(),
  });
}

test("a snapshot is whole although the store closes the connection before it is all written", async () => {
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
  ["plain", "<Message>Not &quot;yours&quot;</Message>", 'AccessDenied: Not "yours"'],
  ["quoted whole", "<Message><![CDATA[Not <yours>]]></Message>", "AccessDenied: Not <yours>"],
])("a refusal is told in the store's words, %s", async (_how, message, told) => {
  const store = await storeThatSays("403 Forbidden", `<Error>\n<Code>AccessDenied</Code>\n${message}</Error>`);
  await expect(store.list("default/c1")).rejects.toThrow(told);
});
