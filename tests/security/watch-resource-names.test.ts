import { ApiError, type WatchEvent } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ManagementApi, objectOf, startManagementApi } from "./management-api.ts";

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

const FORMS = ["Table", "PartialObjectMetadataList"].map((as) => `application/json;as=${as};g=meta.k8s.io;v=v1`);

it.each(["application/json", ...FORMS])("lists no other Secret in the form %s", async (accept) => {
  const list = async (query: Record<string, string>): Promise<string> => {
    const mallory = api.server.transport({ name: "mallory", groups: ["system:authenticated"] });
    const { status, body } = await mallory.request({ method: "GET", path: SECRETS, query, headers: { accept } });
    return `${status} ${JSON.stringify(body)}`;
  };
  const first = await api.admin("GET", SECRETS, undefined, { limit: "1" });
  const { continue: next = "" } = (first.body as { metadata: { continue?: string } }).metadata;
  expect(next).not.toBe("");
  const { uid = "" } = objectOf(await api.admin("GET", `${SECRETS}/theirs`)).metadata;
  const queries: Record<string, string>[] = [
    {},
    { fieldSelector: "metadata.name!=mine" },
    { fieldSelector: "metadata.name=theirs" },
    { fieldSelector: "metadata.name in (mine,theirs)" },
    { fieldSelector: "metadata.name=theirs,metadata.name=mine" },
    { fieldSelector: "metadata.name=mine,metadata.name=theirs" },
    // The page behind `mine` of a user who may list everything.
    { fieldSelector: "metadata.name=mine", continue: next },
  ];
  for (const query of queries) {
    const answer = await list(query);
    expect(answer).not.toContain(LOOT);
    expect(answer).not.toContain(uid);
  }
  expect(await list({ fieldSelector: "metadata.name=mine" })).toMatch(/^200 .*"mine"/);
});

it("deletes nothing by a collection's field selector, which names no object to authorization", async () => {
  await api.allow("wrecker", [
    { apiGroups: [""], resources: ["secrets"], resourceNames: ["mine"], verbs: ["deletecollection"] },
  ]);
  const answer = await api.as("wrecker")("DELETE", SECRETS, undefined, { fieldSelector: "metadata.name=mine" });
  expect(answer.status).toBe(403);
  expect((await api.admin("GET", `${SECRETS}/mine`)).status).toBe(200);
});
