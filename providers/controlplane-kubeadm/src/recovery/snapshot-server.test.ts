import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, systemClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ServedSnapshot, SnapshotServer } from "./snapshot-server.ts";

let dir: string;
let file: string;
const servers: SnapshotServer[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-snapshots-"));
  file = join(dir, "snapshot.db");
  writeFileSync(file, "snapshot");
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  rmSync(dir, { recursive: true, force: true });
});

function start(host = "127.0.0.1", taken: (port: number) => boolean = () => false): SnapshotServer {
  const server = new SnapshotServer({
    clock: systemClock,
    random: seededRandom(servers.length + 1),
    host,
    dir: join(dir, "recoveries"),
    taken: () => Promise.resolve({ has: taken } as ReadonlySet<number>),
  });
  servers.push(server);
  return server;
}

function get({ url, caPem }: ServedSnapshot): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(url, { ca: caPem, agent: false }, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => {
        text += part.toString();
      });
      response.on("end", () => resolve(`${response.statusCode} ${text}`));
    });
    call.on("error", reject);
    call.end();
  });
}

test("serves a snapshot at an address of its own until it is withdrawn", async () => {
  const server = start();
  const address = await server.publish("a", file, false);
  expect(await get(address)).toBe("200 snapshot");
  const other = new URL(address.url);
  other.pathname = "/guess";
  expect(await get({ ...address, url: other.href })).toBe("404 ");
  expect(server.serves("a")).toBe(true);
  await server.withdraw("a");
  expect(server.serves("a")).toBe(false);
  await expect(get(address)).rejects.toThrow("ECONNREFUSED");
});

test("serves nothing for a recovery that was deleted", async () => {
  const server = start();
  const [kept, gone] = [await server.publish("a", file, false), await server.publish("b", file, false)];
  await server.keep(new Set(["a"]));
  expect(await get(kept)).toBe("200 snapshot");
  await expect(get(gone)).rejects.toThrow("ECONNREFUSED");
});

test("after a restart the same address serves it again, with the same certificate", async () => {
  const before = await start().publish("a", file, false);
  await servers[0]?.close();
  const after = await start().publish("a", file, true);
  expect(after).toEqual(before);
  expect(await get(before)).toBe("200 snapshot");
});

test("says why it cannot serve at an address that a machine knows, and takes another one before it does", async () => {
  const before = await start().publish("a", file, false);
  await expect(start().publish("a", file, true)).rejects.toThrow("EADDRINUSE");
  await expect(start("127.0.0.2").publish("a", file, true)).rejects.toThrow("this machine is 127.0.0.2 now");
  await expect(start().publish("b", file, true)).rejects.toThrow("not in the data directory");
  const other = await start().publish("a", file, false);
  expect(other.url).not.toBe(before.url);
  expect(await get(other)).toBe("200 snapshot");
});

test("forgets the addresses of recoveries that were deleted while no manager ran", async () => {
  await start().publish("a", file, false);
  await servers[0]?.close();
  expect(readdirSync(join(dir, "recoveries"))).toEqual(["a.json"]);
  await start().keep(new Set());
  expect(readdirSync(join(dir, "recoveries"))).toEqual([]);
});

test("takes no port that belongs to a program which does not run right now", async () => {
  const refused: number[] = [];
  const isTaken = (port: number): boolean => refused.length < 3 && refused.push(port) > 0;
  const { url } = await start("127.0.0.1", isTaken).publish("a", file, false);
  expect(refused).toHaveLength(3);
  expect(refused).not.toContain(Number(new URL(url).port));
});
