import { type ApiRequest, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ApiServer, createApiServer } from "../api-server.ts";
import { memoryStore } from "../store/memory-store.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const META = { namespace: "default", name: "a", labels: undefined, annotations: { kept: "yes", left: undefined } };
const CONFIG = { apiVersion: "v1", kind: "ConfigMap", metadata: META, data: { kept: "1", left: undefined } };

let server: ApiServer;
beforeEach(async () => {
  server = await createApiServer({
    store: memoryStore(),
    clock: new VirtualClock(),
    random: seededRandom(1),
    controllers: false,
  });
});
afterEach(() => server.close());

/** What is stored after a request whose body is a value, and after the same request with the body as JSON text. */
async function both(request: ApiRequest): Promise<[Unstructured, Unstructured]> {
  const results: Unstructured[] = [];
  for (const body of [request.body, JSON.stringify(request.body)]) {
    const { body: stored, status } = await server.admin().request({ ...request, body });
    expect(status).toBeLessThan(300);
    const { uid: _, resourceVersion: __, ...metadata } = (stored as Unstructured).metadata;
    results.push({ ...(stored as Unstructured), metadata });
    await server.admin().request({ method: "DELETE", path: `${PATH}/a` });
  }
  return results as [Unstructured, Unstructured];
}

describe("a property that is undefined in a body in process is not sent", () => {
  test("by a create", async () => {
    const [value, text] = await both({ method: "POST", path: PATH, body: CONFIG });
    expect(value).toStrictEqual(text);
  });

  test("by an apply, which does not own it either", async () => {
    const headers = { "content-type": "application/apply-patch+yaml" };
    const query = { fieldManager: "test" };
    const [value, text] = await both({ method: "PATCH", path: `${PATH}/a`, headers, query, body: CONFIG });
    expect(value).toStrictEqual(text);
    expect(JSON.stringify(value.metadata.managedFields)).not.toContain("left");
  });

  test("by a merge patch, which removes nothing", async () => {
    await server.admin().request({ method: "POST", path: PATH, body: { ...CONFIG, data: { left: "stays" } } });
    const { body } = await server.admin().request({
      method: "PATCH",
      path: `${PATH}/a`,
      headers: { "content-type": "application/merge-patch+json" },
      body: { data: { left: undefined, kept: "2" } },
    });
    expect((body as { data?: unknown }).data).toStrictEqual({ left: "stays", kept: "2" });
  });
});
