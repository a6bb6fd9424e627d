import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const withKeys = (count: number): string => {
  const data = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "large" }, data });
};

test("rejects bodies with too many values before they are parsed, in every form", async () => {
  const t = await startTestServer({ controllers: false });
  const send = (method: "PATCH" | "POST", path: string, contentType: string, text: string) =>
    t.admin.request({
      method,
      path,
      query: { fieldManager: "x" },
      headers: { "content-type": contentType },
      body: Buffer.from(text),
    });
  const refused = { status: 413, body: { reason: "RequestEntityTooLarge" } };
  const named = `${CONFIG_MAPS}/large`;
  expect(await send("POST", CONFIG_MAPS, "application/json", withKeys(60_000))).toMatchObject(refused);
  expect(await send("PATCH", named, "application/merge-patch+json", withKeys(60_000))).toMatchObject(refused);
  expect(await send("PATCH", named, "application/apply-patch+yaml", withKeys(60_000))).toMatchObject(refused);
  await t.server.close();
});

test("a large write yields to other requests between its steps", async () => {
  const t = await startTestServer({ controllers: false });
  const large = t.admin.request({
    method: "POST",
    path: CONFIG_MAPS,
    headers: { "content-type": "application/json" },
    body: Buffer.from(withKeys(9_000)),
  });
  const order: string[] = [];
  const first = large.then((reply) => order.push(`large ${reply.status}`));
  const second = t.get("/readyz").then(() => order.push("small"));
  await Promise.all([first, second]);
  expect(order).toEqual(["small", "large 201"]);
  await t.server.close();
});

test("reports at most a hundred unknown fields, as Go's decoder does", async () => {
  const t = await startTestServer({ controllers: false });
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`unknown${i}`, 1]));
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, ...many };
  const reply = await t.admin.request({
    method: "POST",
    path: CONFIG_MAPS,
    query: { fieldValidation: "Strict" },
    body,
  });
  expect(reply.status).toBe(400);
  expect((reply.body as { message: string }).message.match(/unknown field/g)).toHaveLength(100);
  await t.server.close();
});

test("limits how far patches can grow an object", async () => {
  const t = await startTestServer({ controllers: false });
  await t.post(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "grows" }, data: { a: "b" } });
  const statuses: number[] = [];
  for (let step = 0; step < 5; step++) {
    const data = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`k${step}-${i}`, "v"]));
    const reply = await t.admin.request({
      method: "PATCH",
      path: `${CONFIG_MAPS}/grows`,
      headers: { "content-type": "application/merge-patch+json" },
      body: Buffer.from(JSON.stringify({ data })),
    });
    statuses.push(reply.status);
  }
  expect(statuses).toEqual([200, 200, 200, 413, 413]);
  await t.server.close();
});

test("a watch sends all initial objects before later events", async () => {
  const t = await startTestServer({ controllers: false });
  const names = Array.from({ length: 1_300 }, (_, i) => `m${String(i).padStart(4, "0")}`);
  await Promise.all(
    names.map((name) => t.post(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name } })),
  );
  const watch = t.watch(CONFIG_MAPS, {
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: "true",
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  while (watch.events.length === 0) await turn();
  await t.patch(`${CONFIG_MAPS}/m0000`, "application/merge-patch+json", { data: { a: "b" } });
  while (watch.events.length < 1_302) await turn();
  watch.stop();
  const seen = watch.events.map(({ type, object }) => `${type} ${object.metadata.name ?? ""}`);
  expect(seen).toEqual([...names.map((name) => `ADDED ${name}`), "BOOKMARK ", "MODIFIED m0000"]);
  await t.server.close();
});

test("encodes long lists in pieces and completely", async () => {
  const t = await startTestServer({ controllers: false });
  const names = Array.from({ length: 1_100 }, (_, i) => `m${String(i).padStart(4, "0")}`);
  await Promise.all(
    names.map((name) => t.post(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name } })),
  );
  const table = await t.get(CONFIG_MAPS, {}, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
  const rows = (table.body as { rows: { cells: string[] }[] }).rows;
  expect(rows.map(({ cells }) => cells[0])).toEqual(names);
  const selected = await t.get(CONFIG_MAPS, { fieldSelector: "metadata.name!=m0500" });
  expect((selected.body as { items: unknown[] }).items).toHaveLength(1_099);
  await t.server.close();
});
