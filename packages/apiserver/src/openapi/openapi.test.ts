import { type JSONSchemaProps, VirtualClock } from "@capstan/apimachinery";
import { beforeAll, describe, expect, it } from "vitest";
import { builtinTypes } from "../builtin/index.ts";
import type { DocumentAnswer } from "../document.ts";
import type { ResourceRegistry, ResourceType } from "../types.ts";
import { createOpenApi } from "./openapi.ts";

interface Operation {
  operationId: string;
  parameters: { name: string; in: string }[];
  requestBody?: { content: Record<string, unknown> };
  "x-kubernetes-group-version-kind": { group: string; version: string; kind: string };
}
interface Document {
  openapi?: string;
  swagger?: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JSONSchemaProps> };
  definitions: Record<string, JSONSchemaProps>;
}

const template = builtinTypes().find((t) => t.kind === "Node") as ResourceType;

function custom(kind: string, schema: JSONSchemaProps, group = "cluster.x-k8s.io"): ResourceType {
  const name = kind.toLowerCase();
  const names = { group, version: "v1beta2", kind, listKind: `${kind}List`, plural: `${name}s`, singular: name };
  return { ...template, ...names, schema, namespaced: true, status: true, builtin: false, strategicMerge: false };
}

function registryOf(types: readonly ResourceType[]): ResourceRegistry & { set(types: readonly ResourceType[]): void } {
  let current = types;
  let generation = 1;
  return {
    types: () => current,
    find: () => undefined,
    findKind: () => undefined,
    preferred: () => undefined,
    generation: () => generation,
    onChange: () => () => {},
    set: (next) => {
      current = next;
      generation++;
    },
  };
}

const machine = custom("Machine", {
  type: "object",
  description: "a machine",
  properties: {
    spec: {
      type: "object",
      properties: {
        port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        note: { type: "string", nullable: true },
        parts: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      },
    },
  },
});

const registry = registryOf([...builtinTypes(), machine]);
const clock = new VirtualClock(Date.UTC(2026, 0, 31, 12));
const handler = createOpenApi(registry, clock);

async function getLater(path: string, headers: Record<string, string> = {}): Promise<DocumentAnswer> {
  const [pathname = "", query] = path.split("?");
  const answer = await handler({ path: pathname, query: new URLSearchParams(query), headers });
  if (answer === undefined) throw new Error(`${path} is not served`);
  return answer;
}

function get(path: string, headers: Record<string, string> = {}): DocumentAnswer {
  const [pathname = "", query] = path.split("?");
  const answer = handler({ path: pathname, query: new URLSearchParams(query), headers });
  if (answer === undefined || answer instanceof Promise) throw new Error(`${path} is not served at once`);
  return answer;
}

const textOf = (answer: DocumentAnswer): string => (answer.body as Buffer).toString();
const parse = (answer: DocumentAnswer): Document => JSON.parse(textOf(answer)) as Document;
const indexPaths = (): Record<string, { serverRelativeURL: string }> =>
  (get("/openapi/v3").body as { paths: Record<string, { serverRelativeURL: string }> }).paths;

describe("/openapi/v3", () => {
  it("lists a document per group version", () => {
    expect(Object.keys(indexPaths())).toEqual(
      expect.arrayContaining(["api/v1", "apis/apps/v1", "apis/cluster.x-k8s.io/v1beta2"]),
    );
  });

  it("serves each by its hash for ever, redirects stale hashes, and knows ETags", () => {
    const url = indexPaths()["api/v1"]?.serverRelativeURL ?? "";
    expect(url).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]{128}$/);
    const fresh = get(url);
    expect(fresh).toMatchObject({ status: 200, headers: { "content-type": "application/json", vary: "Accept" } });
    expect(fresh.headers["cache-control"]).toBe("public, immutable");
    expect(fresh.headers["expires"]).toBe("Sun, 31 Jan 2027 12:00:00 GMT");
    expect(get("/openapi/v3/api/v1?hash=ABC")).toMatchObject({ status: 301, headers: { location: url } });
    const plain = get("/openapi/v3/api/v1");
    expect(plain.headers["cache-control"]).toBeUndefined();
    expect(get("/openapi/v3/api/v1", { "if-none-match": plain.headers.etag ?? "" }).status).toBe(304);
    expect(get("/openapi/v3/apis/nosuch/v1").status).toBe(404);
  });

  it("gives other hashes only to what changed", () => {
    const own = registryOf([...builtinTypes(), machine]);
    const serve = createOpenApi(own, clock);
    const hashes = (): Record<string, unknown> => {
      const index = serve({ path: "/openapi/v3", query: new URLSearchParams(), headers: {} });
      return (index as { body: { paths: Record<string, unknown> } }).body.paths;
    };
    const before = hashes();
    own.set([...builtinTypes(), { ...machine, schema: { type: "object" } }]);
    const after = hashes();
    expect(after["api/v1"]).toEqual(before["api/v1"]);
    expect(after["apis/cluster.x-k8s.io/v1beta2"]).not.toEqual(before["apis/cluster.x-k8s.io/v1beta2"]);
  });

  it("is not served to clients that want protobuf only", () => {
    const accept = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
    expect(get("/openapi/v3/api/v1", { accept }).status).toBe(406);
    expect(get("/openapi/v3/api/v1", { accept: `${accept}, application/json` }).status).toBe(200);
  });

  it("lets kubectl trust the server: each kind has a PATCH with its kind and fieldValidation", () => {
    for (const key of Object.keys(indexPaths())) {
      const document = parse(get(`/openapi/v3/${key}`));
      for (const type of registry
        .types()
        .filter((t) => `${t.group === "" ? "api" : `apis/${t.group}`}/${t.version}` === key)) {
        if (!type.verbs.includes("patch")) continue;
        const patches = Object.values(document.paths).flatMap((p) => (p.patch === undefined ? [] : [p.patch]));
        const own = patches.filter((p) => p["x-kubernetes-group-version-kind"].kind === type.kind);
        expect(own.length, type.kind).toBeGreaterThan(0);
        expect(own[0]?.parameters).toContainEqual(expect.objectContaining({ name: "fieldValidation", in: "query" }));
      }
    }
  });

  it("resolves every reference within the document", () => {
    for (const key of Object.keys(indexPaths())) {
      const text = textOf(get(`/openapi/v3/${key}`));
      const { components } = JSON.parse(text) as Document;
      for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
        expect(components.schemas, `${key}: ${name}`).toHaveProperty([name ?? ""]);
    }
  });

  it("has unique operation ids", () => {
    for (const key of Object.keys(indexPaths())) {
      const ids = [...textOf(get(`/openapi/v3/${key}`)).matchAll(/"operationId":"([^"]+)"/g)].map((m) => m[1]);
      expect(new Set(ids).size, key).toBe(ids.length);
    }
  });

  it("accepts strategic merge patches for built-in kinds only", () => {
    const content = (key: string, path: string): string[] =>
      Object.keys(parse(get(`/openapi/v3/${key}`)).paths[path]?.patch?.requestBody?.content ?? {});
    const strategic = "application/strategic-merge-patch+json";
    expect(content("api/v1", "/api/v1/namespaces/{namespace}/secrets/{name}")).toContain(strategic);
    const machines = "/apis/cluster.x-k8s.io/v1beta2/namespaces/{namespace}/machines/{name}";
    expect(content("apis/cluster.x-k8s.io/v1beta2", machines)).not.toContain(strategic);
    expect(content("apis/cluster.x-k8s.io/v1beta2", machines)).toContain("application/apply-patch+yaml");
  });
});

describe("schemas in /openapi/v3", () => {
  let schemas: Record<string, JSONSchemaProps>;
  beforeAll(() => {
    schemas = parse(get("/openapi/v3/apis/cluster.x-k8s.io/v1beta2")).components.schemas;
  });

  it("keep what a CRD's author wrote, and say which kind they are", () => {
    const schema = schemas["io.x-k8s.cluster.v1beta2.Machine"];
    expect(schema).toMatchObject({
      description: "a machine",
      "x-kubernetes-group-version-kind": [{ group: "cluster.x-k8s.io", version: "v1beta2", kind: "Machine" }],
    });
    expect(schema?.properties?.spec).toEqual(machine.schema.properties?.spec);
    expect(schema?.properties?.metadata).toEqual({
      description: expect.stringContaining("Standard object's metadata."),
      allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }],
    });
  });

  it("include the list and the shared definitions", () => {
    expect(schemas["io.x-k8s.cluster.v1beta2.MachineList"]?.required).toEqual(["items"]);
    for (const name of [
      "ObjectMeta",
      "OwnerReference",
      "ManagedFieldsEntry",
      "FieldsV1",
      "Time",
      "Status",
      "DeleteOptions",
    ])
      expect(schemas).toHaveProperty([`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`]);
  });

  it("are the recorded ones for built-in kinds, merge keys included", () => {
    const meta = schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]?.properties?.ownerReferences;
    expect(meta).toMatchObject({
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-patch-merge-key": "uid",
      "x-kubernetes-patch-strategy": "merge",
    });
  });
});

describe("/openapi/v2", () => {
  it("is Swagger 2.0 without the keywords it lacks", async () => {
    const answer = await getLater("/openapi/v2", { accept: "application/json" });
    const document = parse(answer);
    expect(document.swagger).toBe("2.0");
    const spec = document.definitions["io.x-k8s.cluster.v1beta2.Machine"]?.properties?.spec;
    expect(spec?.properties).toEqual({
      port: { "x-kubernetes-int-or-string": true },
      note: {},
      parts: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    });
    const text = textOf(answer);
    expect(text).not.toMatch(/"(nullable|oneOf|anyOf)"/);
    expect(text).not.toContain("components/schemas");
    for (const [, name] of text.matchAll(/"#\/definitions\/([^"]+)"/g))
      expect(document.definitions).toHaveProperty([name ?? ""]);
    expect((await getLater("/openapi/v2", { "if-none-match": answer.headers.etag ?? "" })).status).toBe(304);
  });

  it("is served as protobuf to clients that want nothing else", async () => {
    const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    const answer = await getLater("/openapi/v2", { accept });
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": accept.replace("@", ".") } });
    const bytes = answer.body as Buffer;
    // Document.swagger, field 1, somewhere; and the definition by its name in a NamedSchema's field 1.
    const name = "io.x-k8s.cluster.v1beta2.Machine";
    expect(bytes.includes(Buffer.concat([Buffer.from([0x0a, 3]), Buffer.from("2.0")]))).toBe(true);
    expect(bytes.includes(Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name)]))).toBe(true);
    expect((await getLater("/openapi/v2", { accept: "text/html" })).status).toBe(406);
  });
});
