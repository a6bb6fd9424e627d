import { APPLY, crd, differing, installCrd, type Script, type Step } from "../harness/script.ts";

const G = "/apis/apply.example/v1/namespaces/<ns>/widgets";
const widget = (name: string, spec: unknown, metadata: object = {}): object => ({
  apiVersion: "apply.example/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
  spec,
});
const apply = (
  name: string,
  manager: string,
  body: unknown,
  more: Partial<Step> & { query?: string; sub?: string } = {},
): Step => {
  const { query = "", sub = "", ...rest } = more;
  return { do: `PATCH ${G}/${name}${sub}?fieldManager=${manager}${query}`, type: APPLY, body, ...rest } as Step;
};
const CM = "/api/v1/namespaces/<ns>/configmaps";
const cm = (name: string, data: unknown, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

const definition = crd("widgets", "apply.example", {
  subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          replicas: { type: "integer", default: 1 },
          image: { type: "string" },
          tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
          ports: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            items: {
              type: "object",
              required: ["port"],
              properties: {
                port: { type: "integer" },
                protocol: { type: "string", default: "TCP" },
                name: { type: "string" },
              },
            },
          },
          atoms: { type: "array", items: { type: "string" } },
          settings: { type: "object", additionalProperties: { type: "string" } },
          atomic: {
            type: "object",
            "x-kubernetes-map-type": "atomic",
            properties: { a: { type: "string" }, b: { type: "string" } },
          },
          free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
      status: { type: "object", properties: { replicas: { type: "integer" }, phase: { type: "string" } } },
    },
  },
});

/** Server-side apply: ownership, merging, conflicts and everything around them. */
export const serverSideApply: Script = {
  name: "apply",
  steps: [
    ...installCrd(definition),
    apply(
      "a",
      "one",
      widget("a", { image: "x", tags: ["t1"], ports: [{ port: 80, name: "http" }], settings: { k: "1" } }),
    ),
    apply(
      "a",
      "one",
      widget("a", { image: "x", tags: ["t1"], ports: [{ port: 80, name: "http" }], settings: { k: "1" } }),
    ),
    apply("a", "two", widget("a", { image: "y" })),
    apply("a", "two", widget("a", { image: "y", settings: { k: "2" }, replicas: 3 })),
    apply(
      "a",
      "two",
      widget("a", { image: "x", tags: ["t2"], ports: [{ port: 443, name: "https" }], settings: { l: "2" } }),
    ),
    apply("a", "two", widget("a", { image: "y" }), { query: "&force=true" }),
    apply("a", "one", widget("a", { image: "z" })),
    apply(
      "a",
      "one",
      widget("a", {
        tags: ["t1", "t3"],
        ports: [
          { port: 80, name: "web" },
          { port: 80, protocol: "UDP" },
        ],
      }),
    ),
    apply("a", "one", widget("a", { tags: ["t3"] })),
    apply("a", "one", widget("a", {})),
    apply("a", "one", { apiVersion: "apply.example/v1", kind: "Widget", metadata: { name: "a" } }),
    { do: `GET ${G}/a` },
    { do: `PATCH ${G}/a?fieldManager=patcher`, body: { spec: { image: "p", atoms: ["a", "b"] } } },
    apply("a", "two", widget("a", { image: "q", atoms: ["a"] })),
    apply("a", "two", widget("a", { image: "p", atoms: ["a", "b"] })),
    apply("a", "two", widget("a", { image: "q", atoms: ["a"] }), { query: "&force=true" }),
    differing("bare-mistakes-are-400", apply("a", "three", widget("a", { tags: ["d", "d"] }))),
    differing("bare-mistakes-are-400", apply("a", "three", widget("a", { ports: [{ port: 1 }, { port: 1 }] }))),
    apply("a", "three", widget("a", { ports: [{ name: "no port" }] })),
    apply("a", "three", widget("a", { atomic: { a: "1" } })),
    apply("a", "four", widget("a", { atomic: { b: "1" } })),
    apply("a", "four", widget("a", { free: { deep: { x: 1, list: [1, 2] } } })),
    apply("a", "five", widget("a", { free: { deep: { y: 1, list: [1, 2, 3] } } })),
    differing("bare-mistakes-are-400", apply("a", "five", widget("a", { unknown: 1 }))),
    differing(
      "bare-mistakes-are-400",
      apply("a", "five", widget("a", { unknown: 1 }), { query: "&fieldValidation=Strict" }),
    ),
    differing("bare-mistakes-are-400", apply("a", "five", widget("a", { replicas: "many" }))),
    apply("a", "five", widget("a", { replicas: null, image: null })),
    apply("a", "", widget("a", {})),
    { do: `PATCH ${G}/a`, type: APPLY, body: widget("a", {}) },
    apply("a", "x".repeat(129), widget("a", {})),
    apply("b", "five", widget("a", {})),
    apply("a", "five", { apiVersion: "apply.example/v1", kind: "Widget", spec: {} }),
    apply("a", "five", { apiVersion: "apply.example/v2", kind: "Widget", metadata: { name: "a" } }),
    apply("a", "five", { kind: "Widget", metadata: { name: "a" } }),
    apply("a", "five", { apiVersion: "apply.example/v1", kind: "Gadget", metadata: { name: "a" } }),
    apply("a", "five", widget("a", {}, { managedFields: [{ manager: "x" }] })),
    apply("a", "five", widget("a", {}, { resourceVersion: "1" })),
    apply("a", "five", widget("a", {}, { uid: "22222222-2222-4222-8222-222222222222" })),
    apply("fresh", "five", widget("fresh", {}, { uid: "22222222-2222-4222-8222-222222222222" })),
    apply("fresh", "five", widget("fresh", {}, { resourceVersion: "1" })),
    apply("a", "five", widget("a", {}, { namespace: "default" })),
    differing("yaml-errors", apply("a", "five", "{")),
    differing("yaml-errors", apply("a", "five", "a: [b")),
    apply("a", "five", "just text"),
    apply("a", "five", ""),
    apply("dry", "five", widget("dry", { image: "x" }), { query: "&dryRun=All" }),
    { do: `GET ${G}/dry` },
    apply(
      "a",
      "status-writer",
      { apiVersion: "apply.example/v1", kind: "Widget", metadata: { name: "a" }, status: { phase: "Up" } },
      { sub: "/status" },
    ),
    apply(
      "a",
      "status-other",
      { apiVersion: "apply.example/v1", kind: "Widget", metadata: { name: "a" }, status: { phase: "Down" } },
      { sub: "/status" },
    ),
    apply(
      "a",
      "status-writer",
      {
        apiVersion: "apply.example/v1",
        kind: "Widget",
        metadata: { name: "a", labels: { x: "1" } },
        spec: { image: "ignored" },
        status: { phase: "Up", replicas: 2 },
      },
      { sub: "/status" },
    ),
    apply(
      "missing",
      "status-writer",
      { apiVersion: "apply.example/v1", kind: "Widget", metadata: { name: "missing" }, status: {} },
      { sub: "/status" },
    ),
    apply("a", "one", {
      apiVersion: "apply.example/v1",
      kind: "Widget",
      metadata: { name: "a", labels: { l: "1" }, annotations: { n: "1" }, finalizers: ["example.com/f"] },
    }),
    apply("a", "two", {
      apiVersion: "apply.example/v1",
      kind: "Widget",
      metadata: { name: "a", labels: { l: "2" }, finalizers: ["example.com/g"] },
    }),
    apply("a", "one", { apiVersion: "apply.example/v1", kind: "Widget", metadata: { name: "a", labels: { l: "1" } } }),
    { do: `PATCH ${G}/a/scale?fieldManager=scaler`, body: { spec: { replicas: 5 } } },
    { do: `PATCH ${G}/a/scale?fieldManager=scaler`, type: APPLY, body: cm("a", {}) },
    apply("a", "one", widget("a", { replicas: 6 })),
    { do: `PATCH ${G}/a?fieldManager=reset`, body: { metadata: { managedFields: [{}] } } },
    apply("a", "after", widget("a", { image: "changed" })),
    apply("a", "after", widget("a", { image: "changed" }), { query: "&force=true" }),
    // Built-in kinds, and a change from client-side apply.
    { do: `PATCH ${CM}/c?fieldManager=one`, type: APPLY, body: cm("c", { a: "1" }) },
    { do: `PATCH ${CM}/c?fieldManager=two`, type: APPLY, body: cm("c", { a: "2", b: "2" }) },
    { do: `PATCH ${CM}/c?fieldManager=two`, type: APPLY, body: cm("c", { b: "2" }) },
    {
      do: `PATCH ${CM}/c?fieldManager=one&force=false`,
      type: APPLY,
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: '3'\n",
    },
    { do: `PATCH ${CM}/c?fieldManager=one`, type: APPLY, body: cm("c", { a: 5 }), differs: "mistakes-are-400" },
    {
      do: `PATCH ${CM}/c?fieldManager=one`,
      type: APPLY,
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, nope: { a: 1 } },
      differs: "bare-mistakes-are-400",
    },
    {
      do: `PATCH ${CM}/c?fieldManager=one`,
      type: APPLY,
      body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","a":"2"}}',
      differs: "yaml-errors",
    },
    {
      do: `POST ${CM}?fieldManager=kubectl-client-side-apply`,
      body: cm(
        "csa",
        { a: "1", b: "1" },
        {
          annotations: {
            "kubectl.kubernetes.io/last-applied-configuration":
              '{"apiVersion":"v1","data":{"a":"1","b":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"csa"}}\n',
          },
        },
      ),
    },
    { do: `PATCH ${CM}/csa?fieldManager=kubectl`, type: APPLY, body: cm("csa", { a: "2" }) },
    { do: `PATCH ${CM}/csa?fieldManager=kubectl&force=true`, type: APPLY, body: cm("csa", { a: "2" }) },
  ],
};
