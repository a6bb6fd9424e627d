import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const withKeys = (count: number): string => {
  const data = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "large" }, data });
};

test("bodies with countless values are refused before they are parsed, in every form", async () => {
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

test("a large write lets others in between its steps", async () => {
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

test("complaints about unknown fields end at a hundred, as Go's decoder does", async () => {
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
