import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer } from "../testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const TOKEN = "/api/v1/namespaces/default/serviceaccounts/default/token";

let t: Awaited<ReturnType<typeof startTestServer>>;

beforeAll(async () => {
  t = await startTestServer();
  await t.post(MAPS, { metadata: { name: "a" } });
});

afterAll(() => t.server.close());

it.each([
  ["PUT without a name", "PUT", `${MAPS}/a`, { data: {} }, "undeterminable: name must be provided"],
  [
    "PUT of another name where nothing is",
    "PUT",
    `${MAPS}/none`,
    { metadata: { name: "b" } },
    "does not match the name",
  ],
  [
    "PUT of a revision that is none",
    "PUT",
    `${MAPS}/a`,
    { metadata: { name: "a", resourceVersion: "x" } },
    "ParseUint",
  ],
  ["POST with a revision", "POST", MAPS, { metadata: { name: "b", resourceVersion: "5" } }, "should not be set"],
  ["DeleteOptions of another kind", "DELETE", `${MAPS}/a`, { kind: "ConfigMap", apiVersion: "v1" }, "no kind"],
  ["a token request of another kind", "POST", TOKEN, { kind: "ConfigMap", apiVersion: "v1" }, "cannot be handled as a"],
  ["a token request without a body", "POST", TOKEN, undefined, "must be of type TokenRequest"],
] as const)("%s is 400", async (_what, method, path, body, text) => {
  const reply = await t.admin.request({ method, path, body });
  expect([reply.status, JSON.stringify(reply.body)]).toEqual([400, expect.stringContaining(text)]);
});
