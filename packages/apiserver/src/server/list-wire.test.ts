import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, type Unstructured } from "@capstan/apimachinery";
import { afterEach, describe, expect, it } from "vitest";
import type { CrdVersion, CustomResourceDefinition } from "../crd/crd-object.ts";
import { newEncryptionKeyLine, parseEncryptionKeys } from "../store/encryption.ts";
import { type LmdbStore, openLmdbStore } from "../store/lmdb-store.ts";
import { startTestServer, type TestServer, widgetCrd } from "../testing/server.ts";
import type { Converter } from "../types.ts";
import type { HttpRequest, HttpServerResponse } from "./http-handler.ts";

/** What goes over the wire is put together from bytes that are kept; in process the objects themselves are handed over. */
const MAPS = "/api/v1/namespaces/default/configmaps";
const SECRETS = "/api/v1/namespaces/default/secrets";
const widgets = (version: string): string => `/apis/example.test/${version}/namespaces/default/widgets`;
const MERGE = "application/merge-patch+json";
/** Twenty of them are more than a run of neighbours. */
const TEXT = "x".repeat(20_000);
const COUNT = 20;

interface List {
  items: Unstructured[];
  metadata: Record<string, unknown>;
}

class Client extends EventEmitter {
  readonly writableEnded = false;
  readonly pieces: Buffer[] = [];

  writeHead(): void {}

  write(piece: Buffer, done: () => void): boolean {
    this.pieces.push(piece);
    done();
    return true;
  }

  end(piece?: Buffer): void {
    if (piece !== undefined) this.pieces.push(piece);
    this.emit("close");
  }
}

let t: TestServer;
let directory: string | undefined;

async function start(options: Parameters<typeof startTestServer>[0] = {}): Promise<void> {
  const auth = { staticTokens: new Map([["t", { name: "admin", groups: ["system:masters"] }]]) };
  t = await startTestServer({ controllers: false, auth, ...options });
}

afterEach(async () => {
  await t.server.close();
  if (directory !== undefined) await rm(directory, { recursive: true });
  directory = undefined;
});

async function wire(url: string): Promise<List> {
  const client = new Client();
  const request = { method: "GET", url, headers: { authorization: "Bearer t" }, socket: {} } as unknown as HttpRequest;
  const closed = once(client, "close");
  t.server.handle(request, client as unknown as HttpServerResponse);
  await closed;
  return JSON.parse(Buffer.concat(client.pieces).toString()) as List;
}

function untyped(object: Unstructured): Partial<Unstructured> {
  const copy: Partial<Unstructured> = { ...object };
  delete copy.apiVersion;
  delete copy.kind;
  return copy;
}

/** The list twice over the wire and once in process; items of built-ins carry no type on the wire. */
async function same(path: string, typed: boolean): Promise<Unstructured[]> {
  const { items } = (await t.get(path)).body as List;
  const expected = typed ? items.map(untyped) : items;
  expect((await wire(path)).items).toEqual(expected);
  expect((await wire(path)).items).toEqual(expected);
  return items;
}

const name = (i: number): string => `m${String(i).padStart(3, "0")}`;
const names = (items: readonly Unstructured[]): (string | undefined)[] => items.map((o) => o.metadata.name);
const map = (text: string, data = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: text },
  data: { TEXT, ...data },
});

async function fill(data = {}): Promise<void> {
  for (let i = 0; i < COUNT; i++) await t.post(MAPS, map(name(i), data));
}

describe("a list on the wire", () => {
  it("shows what was created, updated and deleted since the last one", async () => {
    await start();
    await fill();
    await same(MAPS, true);
    await t.post(MAPS, map("m003-new"));
    expect(names(await same(MAPS, true))).toContain("m003-new");
    await t.patch(`${MAPS}/${name(5)}`, MERGE, { data: { changed: "yes" } });
    expect((await same(MAPS, true)).filter((o) => (o["data"] as { changed?: string }).changed === "yes")).toHaveLength(
      1,
    );
    await t.delete(`${MAPS}/${name(7)}`);
    expect(names(await same(MAPS, true))).not.toContain(name(7));
  });

  it("shows the requested page, at its revision", async () => {
    await start();
    await fill();
    const whole = await wire(MAPS);
    const first = await wire(`${MAPS}?limit=15`);
    await t.delete(`${MAPS}/${name(17)}`);
    const rest = await wire(`${MAPS}?limit=15&continue=${String(first.metadata["continue"])}`);
    expect([...first.items, ...rest.items]).toEqual(whole.items);
    expect(rest.metadata["resourceVersion"]).toBe(first.metadata["resourceVersion"]);
    expect(names((await wire(`${MAPS}?fieldSelector=metadata.name!=${name(3)}`)).items)).toHaveLength(COUNT - 2);
    expect(names((await wire(MAPS)).items)).toHaveLength(COUNT - 1);
  });

  it("does not leak objects of another server", async () => {
    await start();
    await fill();
    await same(MAPS, true);
    const other = t;
    await start();
    await fill({ other: "yes" });
    const [first] = await same(MAPS, true);
    expect(first?.["data"]).toEqual({ TEXT, other: "yes" });
    await other.server.close();
  });

  const twoVersions = (properties: Record<string, object>): Unstructured =>
    widgetCrd((crd) => {
      const { versions } = (crd as CustomResourceDefinition).spec;
      const spec = { type: "object", properties, "x-kubernetes-preserve-unknown-fields": true };
      const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
      const v1 = { name: "v1", served: true, storage: true, schema } as CrdVersion;
      versions.splice(0, versions.length, v1, { ...v1, name: "v2", storage: false });
    });
  const colour = { type: "string", default: "red" };
  const converter: Converter = {
    group: "example.test",
    kind: "Widget",
    convert: (object, to) => ({
      ...object,
      apiVersion: `example.test/${to}`,
      spec: { ...(object["spec"] as object), to },
    }),
  };

  it("shows custom resources by the current schema and in the requested version", async () => {
    await start({ converters: [converter] });
    await t.server.registerCrds([twoVersions({ colour })]);
    for (let i = 0; i < COUNT; i++) {
      const spec = i % 2 === 0 ? { TEXT, colour: "blue" } : { TEXT };
      await t.post(widgets("v1"), { apiVersion: "example.test/v1", kind: "Widget", metadata: { name: name(i) }, spec });
    }
    const specs = (items: readonly Unstructured[]): Record<string, unknown>[] =>
      items.map((o) => o["spec"] as Record<string, unknown>);
    expect(specs(await same(widgets("v1"), false))[1]).toEqual({ TEXT, colour: "red" });
    expect(specs(await same(widgets("v2"), false))[1]).toEqual({ TEXT, colour: "red", to: "v2" });
    await t.server.registerCrds([twoVersions({ colour, finish: { type: "string", default: "matt" } })]);
    expect(specs(await same(widgets("v1"), false))[1]).toEqual({ TEXT, colour: "red", finish: "matt" });
    expect(specs(await same(widgets("v2"), false))[1]).toMatchObject({ finish: "matt", to: "v2" });
  });

  it("shows Secrets whichever key they are encrypted with", async () => {
    const random = seededRandom(3);
    const [one, two] = [newEncryptionKeyLine("one", random), newEncryptionKeyLine("two", random)];
    directory = await mkdtemp(join(tmpdir(), "capstan-list-"));
    const open = (keys: string): Promise<LmdbStore> =>
      openLmdbStore(directory ?? "", { encryptionKeys: parseEncryptionKeys(keys), random });
    await start({ store: await open(one) });
    for (let i = 0; i < COUNT; i++)
      await t.post(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { name: name(i) }, stringData: { TEXT } });
    const before = await same(SECRETS, true);
    await t.server.close();
    const store = await open(two + one);
    await start({ store });
    expect(await same(SECRETS, true)).toEqual(before);
    expect(await store.reencrypt()).toBeGreaterThanOrEqual(COUNT);
    expect(await same(SECRETS, true)).toEqual(before);
    await t.patch(`${SECRETS}/${name(4)}`, MERGE, { stringData: { more: "text" } });
    expect(await same(SECRETS, true)).not.toEqual(before);
  });
});
