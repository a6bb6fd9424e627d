import { ownerReference, seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Client, type ReconcileContext } from "@capstan/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigMap } from "../contract/builtin-kinds.ts";
import { ensureOwned } from "./ensure-owned.ts";

const key = { namespace: "default", name: "owned" };

let server: ApiServer;
let client: Client;
beforeEach(async () => {
  const clock = new VirtualClock();
  server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1), controllers: false });
  client = new Client(server.admin(), { fieldManager: "test", clock });
});
afterEach(() => server.close());

const owner = (kind: string, uid: string) =>
  ownerReference({ apiVersion: "v1", kind, metadata: { name: "o", uid } }, { controller: true });

const desired = (level: string, uid = "1"): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...key, ownerReferences: [owner("Secret", uid)] },
  data: { level },
});

/** A reconcile whose cache has seen this. */
const context = (seen?: ConfigMap): ReconcileContext =>
  ({ client, cache: { get: () => seen }, signal: undefined }) as unknown as ReconcileContext;

describe("ensureOwned", () => {
  test("creates the object, then changes it, also when the cache has not seen it yet", async () => {
    expect(await ensureOwned(context(), ConfigMap, desired("a"))).toBeUndefined();
    const created = await client.get(ConfigMap, key);
    expect(created?.data).toEqual({ level: "a" });
    expect(await ensureOwned(context(created), ConfigMap, desired("b"))).toBeUndefined();
    expect(await ensureOwned(context(), ConfigMap, desired("c"))).toBeUndefined();
    expect((await client.get(ConfigMap, key))?.data).toEqual({ level: "c" });
  });

  test("leaves the object of another controller unchanged and names that controller", async () => {
    const theirs = await client.create(desired("theirs", "2"));
    for (const seen of [theirs, undefined])
      expect(await ensureOwned(context(seen), ConfigMap, desired("ours"))).toMatchObject({ kind: "Secret", uid: "2" });
    expect((await client.get(ConfigMap, key))?.data).toEqual({ level: "theirs" });
  });

  test("replaces a controller that this client applied and that the caller counts as the same", async () => {
    await client.apply(desired("before", "2"));
    const isOurs = ({ kind }: { kind: string }): boolean => kind === "Secret";
    expect(await ensureOwned(context(), ConfigMap, desired("after"), isOurs)).toBeUndefined();
    expect((await client.get(ConfigMap, key))?.data).toEqual({ level: "after" });
  });
});
