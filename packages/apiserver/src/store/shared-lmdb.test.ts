import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, systemClock } from "@capstan/apimachinery";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createApiServer } from "../api-server.ts";
import { openDiskReserve } from "./disk-reserve.ts";
import { newEncryptionKeyLine, parseEncryptionKeys } from "./encryption.ts";
import { openSharedStores, type SharedStores } from "./shared-lmdb.ts";
import type { Store, StoreEntry } from "./store.ts";
import { storeSuite } from "./testing/store-suite.ts";
import { noSpace } from "./write-error.ts";

const root = mkdtempSync(join(tmpdir(), "capstan-shared-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newDirectory = (): string => mkdtempSync(join(root, "s-"));
const put = (revision: number, key: string, text: string): StoreEntry => ({ revision, key, bytes: Buffer.from(text) });

storeSuite("a part of a shared database", async () => {
  const directory = newDirectory();
  let shared = await openSharedStores(directory);
  // Neighbours on both sides of whatever place the name's hash has.
  for (const name of ["a", "b", "c", "d", "e"])
    await (await shared.open(name, "x")).commit([put(1, "core/pods/a/x", name)]);
  let store = await shared.open("ns/one", "u1");
  return {
    store,
    reopen: async () => {
      await store.close();
      await shared.close();
      shared = await openSharedStores(directory);
      store = await shared.open("ns/one", "u1");
      return store;
    },
  };
});

async function textsOf(store: Store): Promise<string[]> {
  const { objects } = await store.load();
  return objects.map(({ key, bytes }) => `${key}=${Buffer.from(bytes).toString()}`);
}

/** Everything a server holds, byte for byte. */
async function serverContents(shared: SharedStores, name: string): Promise<string> {
  const store = await shared.open(name, "u");
  const server = await createApiServer({ store, clock: systemClock, random: seededRandom(7), controllers: false });
  const transport = server.admin();
  const label = { metadata: { labels: { changed: "yes" } } };
  const headers = { "content-type": "application/merge-patch+json" };
  await transport.request({ method: "PATCH", path: "/api/v1/namespaces/kube-public", body: label, headers });
  const paths = [
    "/api/v1/namespaces",
    "/api/v1/namespaces?resourceVersion=5&resourceVersionMatch=Exact",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ];
  const bodies = await Promise.all(paths.map((path) => transport.request({ method: "GET", path })));
  await server.close();
  return JSON.stringify(bodies.map(({ body }) => body));
}

describe("stores in one database", () => {
  it("are isolated from each other", async () => {
    const shared = await openSharedStores(newDirectory());
    const one = await shared.open("ns/one", "u1");
    const two = await shared.open("ns/two", "u2");
    await Promise.all([one.commit([put(1, "core/pods/a/x", "1")]), two.commit([put(1, "core/pods/a/x", "2")])]);
    await shared.remove("ns/one");
    await shared.remove("ns/one");
    expect(await textsOf(await shared.open("ns/one", "u1"))).toEqual([]);
    expect(await textsOf(await shared.open("ns/two", "u2"))).toEqual(["core/pods/a/x=2"]);
    await shared.close();
  });

  it("never expose the data of an earlier owner of the name", async () => {
    const directory = newDirectory();
    let shared = await openSharedStores(directory);
    await (await shared.open("ns/one", "old")).commit([put(1, "core/secrets/a/s", "secret")]);
    await shared.close();
    shared = await openSharedStores(directory);
    expect(await textsOf(await shared.open("ns/one", "new"))).toEqual([]);
    await shared.close();
    shared = await openSharedStores(directory);
    expect(await textsOf(await shared.open("ns/one", "old"))).toEqual([]);
    await shared.close();
  });

  it("encrypt Secrets where there is a key, also those written before", async () => {
    const directory = newDirectory();
    let shared = await openSharedStores(directory);
    await (await shared.open("ns/one", "u")).commit([put(1, "core/secrets/a/s", "old secret")]);
    await shared.close();
    const encryptionKeys = parseEncryptionKeys(newEncryptionKeyLine("k", seededRandom(1)));
    shared = await openSharedStores(directory, { encryptionKeys });
    expect(await textsOf(await shared.open("ns/one", "u"))).toEqual(["core/secrets/a/s=old secret"]);
    await shared.close();
    shared = await openSharedStores(directory);
    const without = await shared.open("ns/one", "u");
    await expect(without.load()).rejects.toThrow(/key that is not in the key file/);
    await shared.close();
  });

  it("hold identical objects of many servers once, and return them byte for byte", async () => {
    const directory = newDirectory();
    let shared = await openSharedStores(directory);
    const names = Array.from({ length: 30 }, (_, i) => `ns/c${i}`);
    const before = [];
    for (const name of names) before.push(await serverContents(shared, name));
    const size = statSync(join(directory, "db-1", "data.mdb")).size;
    await shared.close();
    shared = await openSharedStores(directory);
    const after = [];
    for (const name of names) after.push(await serverContents(shared, name));
    expect(after).toEqual(before);
    await shared.close();
    // Some 90 objects of about 1 KiB each and their history.
    expect(size / names.length).toBeLessThan(80 * 1024);
  });

  it("refuse everything but deletions while the shared disk is full", async () => {
    const reserve = openDiskReserve(newDirectory());
    const shared = await openSharedStores(newDirectory(), { reserve });
    const store = await shared.open("ns/one", "u");
    expect(store.refusal?.(false)).toBeUndefined();
    vi.spyOn(reserve, "refusal").mockReturnValue(noSpace("/data"));
    expect(store.refusal?.(false)?.message).toContain("no space left on /data");
    expect(store.refusal?.(true)).toBeUndefined();
    expect(store.problem?.()).toContain("no space left on /data");
    await shared.close();
  });
});
