import {
  type ApiRequest,
  type KubeObject,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { kindRef } from "../kind.ts";
import { applyCovers } from "./apply-covers.ts";
import { Client } from "./client.ts";

interface ConfigMapObject extends KubeObject {
  data?: Record<string, string>;
}

const ConfigMap = kindRef<ConfigMapObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
const namespace = "default";
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const clock = new VirtualClock();
  const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1), controllers: false });
  cleanups.push(() => server.close());
  const inner = server.admin();
  const sent: ApiRequest[] = [];
  const transport: Transport = {
    request: (request, signal) => {
      sent.push(request);
      return inner.request(request, signal);
    },
    watch: (request, signal) => inner.watch(request, signal),
    close: () => inner.close(),
  };
  return { clock, server, sent, client: new Client(transport, { fieldManager: "me", clock }) };
}

function configMap(name: string, data: Record<string, string> = {}): ConfigMapObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data };
}

describe("Client", () => {
  test("types follow the kind", async () => {
    const { client } = await start();
    const made = await client.create(configMap("a", { x: "1" }));
    expectTypeOf(made).toEqualTypeOf<ConfigMapObject>();
    expectTypeOf(await client.get(ConfigMap, { namespace, name: "a" })).toEqualTypeOf<ConfigMapObject | undefined>();
    expectTypeOf((await client.list(ConfigMap)).items).toEqualTypeOf<ConfigMapObject[]>();
    expectTypeOf(await client.patch({ kind: ConfigMap, namespace, name: "a" }, {})).toEqualTypeOf<ConfigMapObject>();
    expectTypeOf(await client.patch(made, {})).toEqualTypeOf<ConfigMapObject>();
    const untyped = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
    expectTypeOf(await client.get(untyped, { namespace, name: "a" })).toEqualTypeOf<Unstructured | undefined>();
  });

  test("discovers unknown kinds once per group and version, and finds a CRD that is created later", async () => {
    const { client, sent, server } = await start();
    await client.create(configMap("a"));
    await client.create({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "s" } });
    expect(sent.filter(({ path }) => path === "/api/v1")).toHaveLength(1);
    const thing = { apiVersion: "late.io/v1", kind: "Thing", metadata: { namespace, name: "t" } };
    await expect(client.create(thing)).rejects.toThrow(/no matches for kind "Thing" in version "late.io\/v1": install/);
    await server.registerCrds([
      {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "things.late.io" },
        spec: {
          group: "late.io",
          scope: "Namespaced",
          names: { kind: "Thing", listKind: "ThingList", plural: "things", singular: "thing" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
        },
      },
    ]);
    expect(await client.create(thing)).toMatchObject({ kind: "Thing" });
    expect(await client.mapper.preferred("late.io", "Thing")).toMatchObject({ version: "v1", plural: "things" });
    await expect(client.mapper.preferred("late.io", "Nothing")).rejects.toThrow(/no matches for kind "Nothing"/);
  });

  test("a namespaced object without namespace is an error that says so, before any request", async () => {
    const { client, sent } = await start();
    client.mapper.register(ConfigMap);
    await expect(client.get(ConfigMap, { name: "a" })).rejects.toThrow(/has no namespace/);
    await expect(client.patch({ kind: ConfigMap, namespace, name: "" }, {})).rejects.toThrow(/needs a name/);
    expect(sent).toEqual([]);
  });

  test("conflicts, dry runs and warnings", async () => {
    const { client, clock, server } = await start();
    const made = await client.create(configMap("a"));
    await client.update({ ...made, data: { x: "1" } });
    await expect(client.update({ ...made, data: { x: "2" } })).rejects.toMatchObject({ reason: "Conflict", code: 409 });
    await client.patch(made, { data: { x: "3" } }, { dryRun: true });
    expect((await client.get(ConfigMap, { namespace, name: "a" }))?.data).toEqual({ x: "1" });
    const warnings: string[] = [];
    const onWarning = (text: string): void => void warnings.push(text);
    const warned = new Client(server.admin(), { fieldManager: "me", clock, fieldValidation: "Warn", onWarning });
    await warned.patch(made, { surplus: 1 });
    expect(warnings).toEqual(['unknown field "surplus"']);
  });
});

describe("ensure", () => {
  const writes = (sent: ApiRequest[]): number => sent.filter(({ method }) => method !== "GET").length;

  test("applies once; then only if the applied or the desired fields change", async () => {
    const { client, sent, server, clock } = await start();
    const other = new Client(server.admin(), { fieldManager: "other", clock });
    const key = { namespace, name: "a" };
    let live: ConfigMapObject | undefined = await client.ensure(configMap("a", { x: "1", y: "2" }), undefined);
    expect(writes(sent)).toBe(1);
    live = await client.ensure(configMap("a", { x: "1", y: "2" }), live);
    expect(writes(sent)).toBe(1);
    // Another manager's field does not matter.
    live = await other.patch(live, { data: { z: "9" } });
    live = await client.ensure(configMap("a", { x: "1", y: "2" }), live);
    expect(writes(sent)).toBe(1);
    // Ours does.
    live = await other.patch(live, { data: { x: "theirs" } });
    live = await client.ensure(configMap("a", { x: "1", y: "2" }), live);
    expect(writes(sent)).toBe(2);
    expect(live.data).toEqual({ x: "1", y: "2", z: "9" });
    // A field that is no longer wanted goes, and wanting less again is not mistaken for nothing to do.
    live = await client.ensure(configMap("a", { x: "1" }), live);
    expect(live.data).toEqual({ x: "1", z: "9" });
    live = await client.ensure(configMap("a", { x: "1", y: "2" }), live);
    live = await client.ensure(configMap("a", { x: "1" }), live);
    expect((await client.get(ConfigMap, key))?.data).toEqual({ x: "1", z: "9" });
    expect(writes(sent)).toBe(5);
    // A plain apply in between makes the memory worthless.
    await client.apply(configMap("a", { x: "1", w: "0" }));
    live = await client.ensure(configMap("a", { x: "1" }), await client.get(ConfigMap, key));
    expect(live.data).toEqual({ x: "1", z: "9" });
  });

  test("applies again to a recreated object", async () => {
    const { client, sent } = await start();
    const live = await client.ensure(configMap("a", { x: "1" }), undefined);
    await client.delete(live);
    await client.ensure(configMap("a", { x: "1" }), undefined);
    expect(writes(sent)).toBe(3);
  });

  test.each([
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [{ a: [{ n: 1, d: 5 }] }, { a: [{ n: 1 }] }, true],
    [{ a: [1, 2] }, { a: [1] }, false],
    [{ a: {} }, { a: [] }, false],
    [{}, { constructor: {} }, false],
  ])("covers %j %j: %s", (live, desired, expected) => {
    expect(applyCovers(live, desired)).toBe(expected);
  });
});
