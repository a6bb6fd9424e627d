import type { ApiRequest } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startTestServer, widgetCrd } from "../testing/server.ts";

const segment = fc.oneof(
  fc.constantFrom(
    "api",
    "apis",
    "v1",
    "namespaces",
    "default",
    "configmaps",
    "widgets",
    "example.test",
    "status",
    "scale",
    "a",
    "watch",
    "",
    "..",
    "%00",
  ),
  fc.string({ maxLength: 8 }),
);
const path = fc.oneof(
  fc.array(segment, { maxLength: 8 }).map((parts) => `/${parts.join("/")}`),
  fc.constantFrom(
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/configmaps/a",
    "/apis/example.test/v1/namespaces/default/widgets",
    "/apis/example.test/v1/namespaces/default/widgets/w",
    "/apis/example.test/v1/namespaces/default/widgets/w/status",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/api/v1/namespaces/default/secrets/s",
  ),
);
const parameter = fc.constantFrom(
  "labelSelector",
  "fieldSelector",
  "limit",
  "continue",
  "resourceVersion",
  "resourceVersionMatch",
  "dryRun",
  "fieldManager",
  "fieldValidation",
  "force",
  "propagationPolicy",
  "gracePeriodSeconds",
  "timeoutSeconds",
  "includeObject",
);
const contentType = fc.constantFrom(
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "text/plain",
  "",
);
const key = fc.constantFrom(
  "apiVersion",
  "kind",
  "metadata",
  "spec",
  "status",
  "data",
  "name",
  "labels",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "resourceVersion",
  "versions",
  "names",
  "schema",
  "__proto__",
  "constructor",
  "op",
  "path",
  "value",
  "$patch",
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("v1", "example.test/v1", "ConfigMap", "Widget", "a", "w", "", null, 0, -1, 1.5, true),
    fc.string({ maxLength: 6 }),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(key, tie("any"), { maxKeys: 4 }),
  ),
})).any;
const body = fc.oneof(
  fc.constant(undefined),
  value,
  fc.uint8Array({ maxLength: 40 }),
  fc.json().map((text) => Buffer.from(text)),
);

const request: fc.Arbitrary<ApiRequest> = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE"),
  path,
  query: fc.dictionary(parameter, fc.oneof(fc.string({ maxLength: 10 }), fc.constantFrom("true", "0", "All", "1"))),
  headers: fc.record({
    "content-type": contentType,
    accept: fc.constantFrom("application/json", "application/json;as=Table;g=meta.k8s.io;v=v1", "*/*", "x"),
  }),
  body,
});

describe("malformed requests", () => {
  it("get a client error and never harm the server", { timeout: 60_000 }, async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([widgetCrd()]);
    await t.post("/api/v1/namespaces/default/configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a" },
    });
    await t.post("/apis/example.test/v1/namespaces/default/widgets", {
      apiVersion: "example.test/v1",
      kind: "Widget",
      metadata: { name: "w" },
    });
    await fc.assert(
      fc.asyncProperty(request, async (r) => {
        const pending = t.admin.request(r);
        // Reads that ask for a revision of the future wait for it.
        const reply = await Promise.race([pending, t.clock.advance(3000).then(() => pending)]);
        expect(reply.status, JSON.stringify([r, reply.body])).toBeGreaterThanOrEqual(200);
        expect(t.failures, JSON.stringify(r)).toEqual([]);
      }),
      { numRuns: 3000 },
    );
    expect((await t.get("/readyz")).body).toBe("ok");
  });
});
