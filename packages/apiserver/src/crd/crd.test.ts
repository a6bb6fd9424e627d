import type { Unstructured } from "@capstan/apimachinery";
import { settle } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { objectOf, startTestServer, type TestServer, widgetCrd } from "../testing/server.ts";
import type { Converter } from "../types.ts";
import type { CrdVersion, CustomResourceDefinition } from "./crd-object.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAME = "widgets.example.test";
const path = (version: string): string => `/apis/example.test/${version}/namespaces/default/widgets`;

const withSpec = (change: (spec: CustomResourceDefinition["spec"]) => void): Unstructured =>
  widgetCrd((crd) => change((crd as CustomResourceDefinition).spec));

const version = (name: string, rest: Partial<CrdVersion> = {}): CrdVersion => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  ...rest,
});

describe("a CRD", () => {
  it("is established within its create request and shows in discovery", async () => {
    const t = await startTestServer({ controllers: false });
    const crd = objectOf(await t.post(CRDS, widgetCrd())) as CustomResourceDefinition;
    expect(crd.status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([
      ["NamesAccepted", "True", "NoConflicts"],
      ["Established", "True", "InitialNamesAccepted"],
    ]);
    expect(crd.status?.storedVersions).toEqual(["v1"]);
    expect(crd.spec.names).toMatchObject({ singular: "widget", listKind: "WidgetList" });
    const resources = (await t.get("/apis/example.test/v1")).body as { resources: { name: string }[] };
    expect(resources.resources.map((r) => r.name).sort()).toEqual(["widgets", "widgets/scale", "widgets/status"]);
  });

  it("waits for names that another CRD has, and gets them when that one is deleted", async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([widgetCrd()]);
    const rival = widgetCrd((crd) => {
      crd.metadata.name = "gadgets.example.test";
      (crd as CustomResourceDefinition).spec.names = { plural: "gadgets", kind: "Widget" };
    });
    const posted = objectOf(await t.post(CRDS, rival)) as CustomResourceDefinition;
    expect(posted.status?.conditions?.[0]).toMatchObject({
      status: "False",
      reason: "ListKindConflict",
      message: '"WidgetList" is already in use',
    });
    expect((await t.get("/apis/example.test/v1/namespaces/default/gadgets")).status).toBe(404);
    await t.delete(`${CRDS}/${NAME}`);
    await t.clock.advance(10);
    expect((await t.get("/apis/example.test/v1/namespaces/default/gadgets")).status).toBe(200);
  });

  const named = (plural: string, shortNames: string[], padding = ""): Unstructured =>
    widgetCrd((crd) => {
      const { spec } = crd as CustomResourceDefinition;
      crd.metadata.name = `${plural}.example.test`;
      spec.names = { plural, singular: plural, kind: plural, listKind: `${plural}List`, shortNames };
      spec.versions = [version("v1", { storage: true, schema: { openAPIV3Schema: open(padding) } })];
    });
  const open = (description: string): object => ({
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    description,
  });
  const namesOf = async (t: TestServer, plural: string): Promise<unknown[]> => {
    const { status } = objectOf(await t.get(`${CRDS}/${plural}.example.test`)) as CustomResourceDefinition;
    return [status?.conditions?.map((c) => `${c.type}=${c.status}`).join(), status?.acceptedNames?.shortNames];
  };
  const GRANTED = "NamesAccepted=True,Established=True";
  const REFUSED = "NamesAccepted=False,Established=False";

  it.each([
    ["small", 0],
    ["large", 300_000],
  ])("grants a name once when another %s CRD requests it at the same time", async (_size, padding) => {
    const t = await startTestServer({ controllers: false });
    const crds = ["gears", "cogs"].map((plural) => named(plural, ["same"], "x".repeat(padding)));
    const bodies = crds.map((crd) => Buffer.from(JSON.stringify(crd)));
    const headers = { "content-type": "application/json" };
    await Promise.all(bodies.map((body) => t.admin.request({ method: "POST", path: CRDS, headers, body })));
    expect(await namesOf(t, "gears")).toEqual([GRANTED, ["same"]]);
    expect(await namesOf(t, "cogs")).toEqual([REFUSED, undefined]);
  });

  it("gets names that another CRD no longer uses", async () => {
    const t = await startTestServer({ controllers: false });
    await t.post(CRDS, named("gears", ["same"]));
    await t.post(CRDS, named("cogs", ["same"]));
    expect(await namesOf(t, "cogs")).toEqual([REFUSED, undefined]);
    const change = { spec: { names: { shortNames: ["other"] } } };
    await t.patch(`${CRDS}/gears.example.test`, "application/merge-patch+json", change);
    await settle();
    expect(await namesOf(t, "cogs")).toEqual([GRANTED, ["same"]]);
  });

  it("keeps versions that may be on disk", async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([widgetCrd()]);
    const live = objectOf(await t.get(`${CRDS}/${NAME}`)) as CustomResourceDefinition;
    const moved = structuredClone(live);
    moved.spec.versions = [
      { ...(live.spec.versions[0] as CrdVersion), storage: false },
      version("v2", { storage: true }),
    ];
    const put = objectOf(await t.put(`${CRDS}/${NAME}`, moved)) as CustomResourceDefinition;
    expect(put.status?.storedVersions).toEqual(["v1", "v2"]);
    const dropped = structuredClone(put);
    dropped.spec.versions = dropped.spec.versions.slice(1);
    const refused = await t.put(`${CRDS}/${NAME}`, dropped);
    expect(refused.body).toMatchObject({ code: 422, message: expect.stringContaining("status.storedVersions[0]") });
  });

  // Texts as a real kube-apiserver answers them.
  it.each<[string, (spec: CustomResourceDefinition["spec"]) => void, string]>([
    [
      "scope",
      (s) => (s.scope = "Odd"),
      'spec.scope: Unsupported value: "Odd": supported values: "Cluster", "Namespaced"',
    ],
    [
      "group",
      (s) => (s.group = "nodots"),
      'spec.group: Invalid value: "nodots": should be a domain with at least one dot',
    ],
    [
      "strategy",
      (s) => (s.conversion = { strategy: "Foo" }),
      'spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"',
    ],
    [
      "scale",
      (s) =>
        (s.versions = [
          version("v1", {
            storage: true,
            subresources: { scale: { specReplicasPath: ".status.x", statusReplicasPath: ".status.y" } },
          }),
        ]),
      'spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec',
    ],
    [
      "kinds",
      (s) => (s.names.listKind = "Widget"),
      'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same',
    ],
  ])("is refused for its %s", async (_what, change, text) => {
    const t = await startTestServer({ controllers: false });
    const crd = withSpec(change);
    const reply = await t.post(CRDS, {
      ...crd,
      metadata: { name: `widgets.${(crd as CustomResourceDefinition).spec.group}` },
    });
    expect(reply.status).toBe(422);
    expect((reply.body as { message: string }).message).toContain(text);
  });

  it("is registered again without a write when nothing changed", async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([widgetCrd()]);
    const before = objectOf(await t.get(`${CRDS}/${NAME}`)).metadata.resourceVersion;
    await t.server.registerCrds([widgetCrd()]);
    expect(objectOf(await t.get(`${CRDS}/${NAME}`)).metadata.resourceVersion).toBe(before);
  });
});

describe("versions", () => {
  const twoVersions = withSpec((spec) => {
    spec.versions = [version("v1", { storage: true }), version("v1beta1", { deprecated: true })];
  });

  it("convert by name alone with strategy None, and warn when deprecated", async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([twoVersions]);
    await t.post(path("v1"), {
      apiVersion: "example.test/v1",
      kind: "Widget",
      metadata: { name: "w" },
      spec: { a: 1 },
    });
    const old = await t.get(`${path("v1beta1")}/w`);
    expect(old.body).toMatchObject({ apiVersion: "example.test/v1beta1", spec: { a: 1 } });
    expect(old.warnings).toEqual(["example.test/v1beta1 Widget is deprecated; use example.test/v1 Widget"]);
  });

  const converter: Converter = {
    group: "example.test",
    kind: "Widget",
    convert: (object, to) => {
      const { spec, ...rest } = object as Unstructured & { spec: Record<string, unknown> };
      const size = to === "v1" ? { size: spec["dimension"] } : { dimension: spec["size"] };
      return { ...rest, apiVersion: `example.test/${to}`, spec: size };
    },
  };

  it("convert in process, on writes, reads, lists and watches", async () => {
    const t = await startTestServer({ controllers: false, converters: [converter] });
    await t.server.registerCrds([twoVersions]);
    const watch = t.watch(path("v1beta1"));
    await settle();
    const body = {
      apiVersion: "example.test/v1beta1",
      kind: "Widget",
      metadata: { name: "w" },
      spec: { dimension: 3 },
    };
    const made = await t.post(path("v1beta1"), body);
    expect(objectOf(made)["spec"]).toEqual({ dimension: 3 });
    expect(objectOf(await t.get(`${path("v1")}/w`))["spec"]).toEqual({ size: 3 });
    const list = (await t.get(path("v1beta1"))).body as { items: Unstructured[] };
    expect(list.items[0]).toMatchObject({ apiVersion: "example.test/v1beta1", spec: { dimension: 3 } });
    await t.patch(`${path("v1")}/w`, "application/merge-patch+json", { spec: { size: 4 } });
    await settle();
    expect(watch.events.map((e) => e.object["spec"])).toEqual([{ dimension: 3 }, { dimension: 4 }]);
  });

  it("default old objects by today's schema when they are read", async () => {
    const t = await startTestServer({ controllers: false });
    await t.server.registerCrds([twoVersions]);
    await t.post(path("v1"), {
      apiVersion: "example.test/v1",
      kind: "Widget",
      metadata: { name: "w" },
      spec: { a: 1 },
    });
    const schema = {
      type: "object",
      properties: { spec: { type: "object", properties: { b: { type: "string", default: "new" } } } },
    };
    await t.server.registerCrds([
      withSpec((spec) => {
        spec.versions = [version("v1", { storage: true, schema: { openAPIV3Schema: schema } }), version("v1beta1")];
      }),
    ]);
    expect(objectOf(await t.get(`${path("v1")}/w`))["spec"]).toEqual({ b: "new" });
  });
});
