import { ApiError, type WatchEvent } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ManagementApi, startManagementApi } from "./management-api.ts";

/** Attacker: a user that may read one Secret by name (`resourceNames`) and wants the bytes of the one next to it. */
const SECRETS = "/api/v1/namespaces/default/secrets";
const LOOT = Buffer.from("the other team's password").toString("base64");

let api: ManagementApi;
beforeEach(async () => {
  api = await startManagementApi();
  for (const [name, value] of [
    ["mine", "bWluZQ=="],
    ["theirs", LOOT],
  ])
    expect((await api.admin("POST", SECRETS, { metadata: { name }, data: { value } })).status).toBe(201);
  await api.allow("mallory", [
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: ["mine"],
      verbs: ["get", "list", "watch"],
    },
  ]);
});
afterEach(() => api.close());

/** The first events of a watch, or why it was refused. */
async function watched(path: string, fieldSelector: string | undefined, count: number): Promise<WatchEvent[] | string> {
  try {
    return await api.watch("mallory", path, fieldSelector === undefined ? {} : { fieldSelector }, count);
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    throw error;
  }
}

const WATCH_MINE = "/api/v1/watch/namespaces/default/secrets/mine";

it.each([
  ["metadata.name=theirs", 1],
  ["metadata.name!=mine", 1],
  ["type=Opaque", 2],
  ["metadata.namespace=default", 2],
])("does not watch another Secret with the field selector %s", async (fieldSelector, count) => {
  const seen = await watched(WATCH_MINE, fieldSelector, count);
  expect(JSON.stringify(seen)).not.toContain(LOOT);
  expect(seen).toBe("400 fieldSelector metadata.name doesn't match requested name");
});

it("watches the one that is allowed, by its path and by a field selector", async () => {
  const mine = [{ type: "ADDED", object: { metadata: { name: "mine" } } }];
  expect(await watched(WATCH_MINE, undefined, 1)).toMatchObject(mine);
  expect(await watched(WATCH_MINE, "metadata.name=mine,type=Opaque", 1)).toMatchObject(mine);
  expect(await watched(SECRETS, "metadata.name=mine", 1)).toMatchObject(mine);
});
