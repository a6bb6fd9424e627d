import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { expect, test } from "vitest";
import { managerTransport } from "./access.ts";

test("the manager may do what its roles say and nothing else", async () => {
  const clock = new VirtualClock();
  const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
  const transport = await managerTransport(server, clock);
  const status = async (method: "DELETE" | "GET", path: string): Promise<number> =>
    (await transport.request({ method, path })).status;
  expect(await status("GET", "/api/v1/namespaces/default/secrets")).toBe(200);
  expect(await status("GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles")).toBe(200);
  expect(await status("DELETE", "/api/v1/namespaces/default")).toBe(403);
  expect(await status("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles")).toBe(403);
  expect(await status("GET", "/api/v1/namespaces/default/serviceaccounts")).toBe(403);
  // Who may read metrics is asked of the API server.
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "x" } };
  const path = "/apis/authentication.k8s.io/v1/tokenreviews";
  expect((await transport.request({ method: "POST", path, body: review })).status).toBe(201);
  await server.close();
});
