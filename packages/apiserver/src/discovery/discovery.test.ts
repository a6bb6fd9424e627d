import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defineBuiltin } from "../builtin/define.ts";
import { builtinTypes } from "../builtin/index.ts";
import type { DocumentAnswer } from "../document.ts";
import type { ResourceRegistry, ResourceType } from "../types.ts";
import { createDiscovery } from "./discovery.ts";

interface Resource {
  resource: string;
  subresources?: { subresource: string }[];
}
interface Aggregated {
  items: { metadata: { name?: string }; versions: { version: string; resources: Resource[] }[] }[];
}
interface ResourceList {
  groupVersion: string;
  resources: { name: string }[];
}
const golden = JSON.parse(
  readFileSync(new URL("../builtin/generated/discovery.golden.json", import.meta.url), "utf8"),
) as {
  aggregated: { path: string; contentType: string; document: Aggregated }[];
  legacy: { path: string; document: ResourceList }[];
  groups: string[];
  group: object;
  core: object;
};

function registryOf(types: ResourceType[]): ResourceRegistry & { add(type: ResourceType): void } {
  let generation = 1;
  return {
    types: () => types,
    find: () => undefined,
    findKind: () => undefined,
    preferred: () => undefined,
    generation: () => generation,
    onChange: () => () => {},
    add: (type) => {
      types.push(type);
      generation++;
    },
  };
}

const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

function ask(registry: ResourceRegistry, path: string, headers: Record<string, string> = {}): DocumentAnswer {
  const answer = createDiscovery(registry)({ path, query: new URLSearchParams(), headers });
  if (answer === undefined) throw new Error(`${path} is not a discovery path`);
  return answer;
}

const json = <T>(answer: DocumentAnswer): T => JSON.parse(answer.body as string) as T;

const widget = builtinTypes().find((t) => t.kind === "Node") as ResourceType;
const served = builtinTypes();
const serves = (resource: string): boolean => served.some((t) => t.plural === resource);
/** APIServices cannot be changed here. */
const readOnly = <T extends object>(name: string, resource: T): T =>
  name === "apiservices" ? { ...resource, verbs: ["get", "list", "watch"] } : resource;
const ourSubresources = new Set(
  served.flatMap((t) => [
    ...t.subresources.map((s) => `${t.plural}/${s.name}`),
    ...(t.status ? [`${t.plural}/status`] : []),
    ...(t.scale === undefined ? [] : [`${t.plural}/scale`]),
  ]),
);

describe("aggregated discovery", () => {
  it.each(golden.aggregated)("$path is what the real server answers, of what is served here", (real) => {
    const answer = ask(registryOf([...builtinTypes()]), real.path, { accept: AGGREGATED });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe(real.contentType);
    const items = real.document.items
      .map((group) => ({
        ...group,
        versions: group.versions.map((version) => ({
          ...version,
          resources: version.resources
            .filter((r) => serves(r.resource))
            .map((r) => readOnly(r.resource, withOurSubresources(r))),
        })),
      }))
      .filter((g) => g.versions.some((v) => v.resources.length > 0));
    expect(json<Aggregated>(answer)).toEqual({ ...real.document, items });
  });

  function withOurSubresources(resource: Resource): Resource {
    if (resource.subresources === undefined) return resource;
    const { subresources, ...rest } = resource;
    const kept = subresources.filter((s) => ourSubresources.has(`${resource.resource}/${s.subresource}`));
    return kept.length === 0 ? rest : { ...rest, subresources: kept };
  }

  it("answers 304 to the ETag it gave, and something new after a change", () => {
    const registry = registryOf([...builtinTypes()]);
    const handler = createDiscovery(registry);
    const request = { path: "/apis", query: new URLSearchParams(), headers: { accept: AGGREGATED } };
    const etag = handler(request)?.headers.etag ?? "";
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    const again = { ...request, headers: { accept: AGGREGATED, "if-none-match": etag } };
    expect(handler(again)).toMatchObject({ status: 304, body: "" });
    registry.add(defineBuiltin({ group: "example.test", kind: "Widget", namespaced: true, columns: [], strategy: {} }));
    expect(handler(again)?.status).toBe(200);
    expect(handler(again)?.body).toContain("widgets");
  });

  it("is not given to clients that prefer the old form or know only v2beta1", () => {
    const registry = registryOf([...builtinTypes()]);
    for (const accept of [
      "application/json",
      "application/json,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
      "*/*",
    ])
      expect(json<{ kind: string }>(ask(registry, "/apis", { accept })).kind).toBe("APIGroupList");
  });

  it("names group and version of custom resources and orders their versions by preference", () => {
    const names = { group: "example.test", kind: "Widget", plural: "widgets", singular: "widget" };
    const custom = (version: string): ResourceType => ({ ...widget, ...names, version, builtin: false });
    const types = [custom("v1beta1"), custom("v1"), custom("v2alpha1"), ...builtinTypes()];
    const document = json<Aggregated>(ask(registryOf(types), "/apis", { accept: AGGREGATED }));
    const group = document.items.at(-1);
    expect(group?.metadata.name).toBe("example.test");
    expect(group?.versions.map((v) => v.version)).toEqual(["v1", "v1beta1", "v2alpha1"]);
    const kind = { group: "example.test", version: "v1", kind: "Widget" };
    expect(group?.versions[0]?.resources[0]).toMatchObject({
      responseKind: kind,
      subresources: [{ subresource: "status", responseKind: kind }],
    });
  });
});

describe("discovery in the old form", () => {
  it.each(golden.legacy.filter((l) => l.document.resources.some((r) => serves(r.name))))("$path", (real) => {
    const resources = real.document.resources
      .filter((r) => (r.name.includes("/") ? ourSubresources.has(r.name) : serves(r.name)))
      .map((r) => readOnly(r.name, r));
    const answer = ask(registryOf([...builtinTypes()]), real.path);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(json<ResourceList>(answer)).toEqual({ ...real.document, resources });
  });

  it("lists groups in the real order", () => {
    const document = json<{ groups: { name: string }[] }>(ask(registryOf([...builtinTypes()]), "/apis"));
    const names = document.groups.map((g) => g.name);
    expect(names).toEqual(golden.groups.filter((g) => names.includes(g)));
    expect(names.length).toBeGreaterThan(10);
  });

  it("answers /api and one group", () => {
    const registry = registryOf([...builtinTypes()]);
    expect(json<object>(ask(registry, "/api"))).toMatchObject(golden.core);
    expect(json<object>(ask(registry, "/apis/apps"))).toEqual(golden.group);
  });

  it("knows the two ways of not finding", () => {
    const registry = registryOf([...builtinTypes()]);
    expect(ask(registry, "/apis/nosuch")).toMatchObject({ status: 404, body: "404 page not found\n" });
    expect(ask(registry, "/apis/apps/v9")).toMatchObject({
      status: 404,
      body: { message: "the server could not find the requested resource", reason: "NotFound", details: {}, code: 404 },
    });
    const handler = createDiscovery(registry);
    expect(handler({ path: "/apis/apps/v1/deployments", query: new URLSearchParams(), headers: {} })).toBeUndefined();
    expect(handler({ path: "/version", query: new URLSearchParams(), headers: {} })).toBeUndefined();
  });
});
