import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { settle, systemClock, type Unstructured } from "@capstan/apimachinery";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testCertificates } from "../testing/certificates.ts";
import { objectOf, startTestServer, widgetCrd } from "../testing/server.ts";
import type { CustomResourceDefinition } from "./crd-object.ts";

interface Review {
  request: { uid: string; desiredAPIVersion: string; objects: (Unstructured & { spec: Record<string, unknown> })[] };
}

let server: Server;
let caBundle = "";
let broken = false;
let calls = 0;
let mostObjects = 0;

/** v1 calls it `size`, v1beta1 `dimension`. */
function convert(review: Review): object {
  const { uid, desiredAPIVersion, objects } = review.request;
  mostObjects = Math.max(mostObjects, objects.length);
  const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };
  if (broken) return { ...kind, response: { uid, result: { status: "Failed", message: "out of order" } } };
  const convertedObjects = objects.map(({ spec, ...rest }) => {
    const size = spec["size"] ?? spec["dimension"];
    const converted = desiredAPIVersion.endsWith("/v1") ? { size } : { dimension: size };
    return { ...rest, apiVersion: desiredAPIVersion, spec: converted };
  });
  return { ...kind, response: { uid, result: { status: "Success" }, convertedObjects } };
}

beforeAll(async () => {
  const { ca, server: serving } = await testCertificates(systemClock.now());
  caBundle = Buffer.from(ca.certPem).toString("base64");
  server = createServer({ cert: serving.certPem, key: serving.keyPem }, (request, response) => {
    calls++;
    let text = "";
    request.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on("end", () => response.end(JSON.stringify(convert(JSON.parse(text) as Review))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const crd = (): Unstructured =>
  widgetCrd((object) => {
    const { spec } = object as CustomResourceDefinition;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    spec.versions = [
      { name: "v1", served: true, storage: true, schema },
      { name: "v1beta1", served: true, storage: false, schema },
    ];
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/convert`;
    spec.conversion = {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: { url, caBundle } },
    };
  });

const path = (version: string): string => `/apis/example.test/${version}/namespaces/default/widgets`;

/** Real sockets need real loop turns, however many. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await settle(1);
}

describe("a conversion webhook", () => {
  it("converts what is written, read, listed and watched, once per object", async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([crd()]);
    const watch = t.watch(path("v1beta1"));
    await settle();
    for (const name of ["a", "b"]) {
      const body = {
        apiVersion: "example.test/v1beta1",
        kind: "Widget",
        metadata: { name },
        spec: { dimension: name },
      };
      const made = await t.post(path("v1beta1"), body);
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      expect(objectOf(made)["spec"]).toEqual({ dimension: name });
    }
    expect(objectOf(await t.get(`${path("v1")}/a`))["spec"]).toEqual({ size: "a" });
    await until(() => watch.events.length === 2);
    const before = calls;
    const list = (await t.get(path("v1beta1"))).body as { items: Unstructured[] };
    expect(list.items.map((o) => o["spec"])).toEqual([{ dimension: "a" }, { dimension: "b" }]);
    expect(calls).toBe(before);
    await t.patch(`${path("v1")}/a`, "application/merge-patch+json", { spec: { size: "c" } });
    await t.delete(`${path("v1")}/b`);
    await until(() => watch.events.length === 4);
    expect(watch.events.map((e) => [e.type, (e.object["spec"] as { dimension: string }).dimension])).toEqual([
      ["ADDED", "a"],
      ["ADDED", "b"],
      ["MODIFIED", "c"],
      ["DELETED", "b"],
    ]);
    watch.stop();
    await t.server.close();
  });

  it("gets a long list in parts", async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([crd()]);
    const names = Array.from({ length: 250 }, (_, i) => `w${1000 + i}`);
    const body = { apiVersion: "example.test/v1", kind: "Widget" };
    await Promise.all(names.map((name) => t.post(path("v1"), { ...body, metadata: { name }, spec: { size: name } })));
    const before = calls;
    mostObjects = 0;
    const list = (await t.get(path("v1beta1"))).body as { items: Unstructured[] };
    expect(list.items.map((o) => o["spec"])).toEqual(names.map((dimension) => ({ dimension })));
    expect([calls - before, mostObjects]).toEqual([3, 100]);
    await t.server.close();
  });

  it("finds conflicts between appliers of different versions", async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([crd()]);
    const apply = (version: string, manager: string, spec: object): ReturnType<typeof t.patch> =>
      t.patch(
        `${path(version)}/a`,
        "application/apply-patch+yaml",
        { apiVersion: `example.test/${version}`, kind: "Widget", metadata: { name: "a" }, spec },
        { fieldManager: manager },
      );
    expect((await apply("v1beta1", "first", { dimension: 3 })).status).toBe(201);
    const clash = await apply("v1", "second", { size: 4 });
    expect(clash.status).toBe(409);
    expect((clash.body as { message: string }).message).toBe(
      'Apply failed with 1 conflict: conflict with "first": .spec.dimension',
    );
    expect((await apply("v1", "second", { size: 3 })).status).toBe(200);
    await t.patch(`${path("v1")}/a`, "application/merge-patch+json", { spec: { size: 5 } });
    const owners = objectOf(await t.get(`${path("v1")}/a`)).metadata.managedFields ?? [];
    const owned = owners.map(({ manager, fieldsV1 }) => [manager, Object.keys(fieldsV1?.["f:spec"] ?? {})]);
    expect(Object.fromEntries(owned)).toEqual({ first: [], second: [], unknown: ["f:size"] });
    await t.server.close();
  });

  it("that fails is a 500 which names it and its reason", async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([crd()]);
    await t.post(path("v1"), {
      apiVersion: "example.test/v1",
      kind: "Widget",
      metadata: { name: "a" },
      spec: { size: 1 },
    });
    broken = true;
    const reply = await t.get(`${path("v1beta1")}/a`);
    broken = false;
    expect(reply.status).toBe(500);
    expect((reply.body as { message: string }).message).toBe(
      "conversion webhook for example.test/v1, Kind=Widget failed: out of order",
    );
    expect((await t.get(`${path("v1")}/a`)).status).toBe(200);
    await t.server.close();
  });
});
