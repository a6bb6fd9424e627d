import { differing, JSON_PATCH, MERGE, type Script, STRATEGIC, type Step } from "../harness/script.ts";

const CM = "/api/v1/namespaces/<ns>/configmaps";
const cm = (name: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...more,
});
const json = (body: unknown, name = "p"): Step => ({ do: `PATCH ${CM}/${name}`, type: JSON_PATCH, body });
const merge = (body: unknown, name = "p"): Step => ({ do: `PATCH ${CM}/${name}`, type: MERGE, body });
const strategic = (path: string, body: unknown): Step => ({ do: `PATCH ${path}`, type: STRATEGIC, body });
const SA = "/api/v1/namespaces/<ns>/serviceaccounts/s";
const DEPLOYMENT = "/apis/apps/v1/namespaces/<ns>/deployments/d";
const container = (name: string, more: object = {}): object => ({ name, image: `${name}:1`, ...more });

/** JSON patch, merge patch and strategic merge patch on built-in kinds. */
export const patches: Script = {
  name: "patches",
  steps: [
    { do: `POST ${CM}`, id: "p", body: cm("p", { data: { a: "1", b: "2" } }) },
    json([{ op: "add", path: "/data/c", value: "3" }]),
    json([
      { op: "replace", path: "/data/a", value: "x" },
      { op: "remove", path: "/data/b" },
    ]),
    json([
      { op: "test", path: "/data/a", value: "x" },
      { op: "copy", from: "/data/a", path: "/data/d" },
      { op: "move", from: "/data/c", path: "/data/e" },
    ]),
    json([{ op: "test", path: "/data/a", value: "wrong" }]),
    json([{ op: "test", path: "/data/nope", value: "wrong" }]),
    json([{ op: "remove", path: "/data/nope" }]),
    json([{ op: "replace", path: "/data/nope", value: "1" }]),
    json([{ op: "add", path: "/nope/deep", value: "1" }]),
    json([{ op: "copy", from: "/data/nope", path: "/data/z" }]),
    json([{ op: "move", from: "/data/nope", path: "/data/z" }]),
    json([{ op: "frobnicate", path: "/data/a", value: "1" }]),
    json([{ path: "/data/a", value: "1" }]),
    json([{ op: "add", value: "1" }]),
    json({ op: "add" }),
    json("[{"),
    json('"text"'),
    json([]),
    json([{ op: "add", path: "/metadata/labels", value: { "a~b/c": "1" } }]),
    json([{ op: "replace", path: "/metadata/labels/a~0b~1c", value: "2" }]),
    json([
      { op: "add", path: "/metadata/finalizers", value: ["example.com/a"] },
      { op: "add", path: "/metadata/finalizers/-", value: "example.com/c" },
      { op: "add", path: "/metadata/finalizers/1", value: "example.com/b" },
    ]),
    json([{ op: "remove", path: "/metadata/finalizers/-1" }]),
    json([{ op: "remove", path: "/metadata/finalizers/7" }]),
    json([{ op: "add", path: "/metadata/finalizers/x", value: "example.com/d" }]),
    json([{ op: "replace", path: "/metadata/finalizers", value: [] }]),
    json([{ op: "replace", path: "/metadata/name", value: "other" }]),
    json([{ op: "replace", path: "/metadata/namespace", value: "other" }]),
    json([{ op: "replace", path: "/metadata/uid", value: "other" }]),
    json([{ op: "replace", path: "/metadata/resourceVersion", value: "1" }]),
    differing("json-order", json([{ op: "replace", path: "/kind", value: "Secret" }])),
    differing("json-order", json([{ op: "replace", path: "/apiVersion", value: "v2" }])),
    differing("json-order", json([{ op: "replace", path: "/data", value: "text" }])),
    differing("json-order", json([{ op: "replace", path: "/data/a", value: 5 }])),
    json([{ op: "replace", path: "", value: {} }]),
    json([{ op: "add", path: "/data/a", value: "x" }], "missing"),
    { ...json(Array.from({ length: 10_001 }, () => ({ op: "test", path: "/data/a", value: "x" }))) },
    merge({ data: { a: "m", d: null, f: "new" } }),
    merge({ data: { a: "m" } }),
    merge({ metadata: { labels: null, annotations: { note: "x" } } }),
    merge({ metadata: { resourceVersion: "<p.metadata.resourceVersion>" }, data: { a: "n" } }),
    merge({ metadata: { uid: "11111111-1111-4111-8111-111111111111" } }),
    merge({ metadata: { name: "other" } }),
    merge({ metadata: { generation: 9, creationTimestamp: "2020-01-01T00:00:00Z", selfLink: "x" } }),
    differing("json-order", merge({ kind: "Secret" })),
    differing("json-order", merge({ data: 5 })),
    differing("json-order", merge({ data: { a: 5 } })),
    merge([1]),
    merge("{"),
    merge("null"),
    merge("5"),
    merge({ data: null }),
    merge({ data: { a: "x" } }, "missing"),
    { do: `PATCH ${CM}/p?force=true`, type: MERGE, body: {} },
    { do: `PATCH ${CM}/p?fieldManager=other`, type: MERGE, body: { data: { o: "1" } } },
    strategic(`${CM}/p`, { data: { s: "1", o: null } }),
    strategic(`${CM}/p`, { data: { $patch: "replace", only: "1" } }),
    strategic(`${CM}/p`, { data: { $patch: "delete" } }),
    strategic(`${CM}/p`, { data: { $patch: "nonsense" } }),
    strategic(`${CM}/p`, { metadata: { finalizers: ["example.com/1", "example.com/2"] } }),
    strategic(`${CM}/p`, { metadata: { finalizers: ["example.com/3"] } }),
    strategic(`${CM}/p`, { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/1"] } }),
    strategic(`${CM}/p`, {
      metadata: { "$setElementOrder/finalizers": ["example.com/3", "example.com/2"], finalizers: ["example.com/3"] },
    }),
    strategic(`${CM}/p`, { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/2", "example.com/3"] } }),
    strategic(`${CM}/p`, "{"),
    strategic(`${CM}/p`, [1]),
    differing("json-order", strategic(`${CM}/p`, { data: { a: 1 } })),
    {
      do: "POST /api/v1/namespaces/<ns>/serviceaccounts",
      body: { metadata: { name: "s" }, secrets: [{ name: "a" }, { name: "b" }], imagePullSecrets: [{ name: "i" }] },
    },
    strategic(SA, { secrets: [{ name: "c" }], imagePullSecrets: [{ name: "j" }] }),
    strategic(SA, { secrets: [{ $patch: "delete", name: "a" }] }),
    strategic(SA, { "$setElementOrder/secrets": [{ name: "c" }, { name: "b" }], secrets: [{ name: "b" }] }),
    strategic(SA, { secrets: [{ $patch: "replace" }, { name: "z" }] }),
    differing("mistakes-are-400", strategic(SA, { secrets: [{ kind: "x" }] })),
    {
      do: "POST /apis/apps/v1/namespaces/<ns>/deployments",
      body: {
        metadata: { name: "d" },
        spec: {
          replicas: 0,
          selector: { matchLabels: { a: "b" } },
          template: {
            metadata: { labels: { a: "b" } },
            spec: {
              containers: [
                container("one", { env: [{ name: "A", value: "1" }], ports: [{ containerPort: 80 }] }),
                container("two"),
              ],
            },
          },
        },
      },
      differs: "workload-warning",
      only: ["spec", "metadata.name", "code"],
    },
    {
      ...strategic(DEPLOYMENT, {
        spec: { template: { spec: { containers: [{ name: "two", image: "two:2" }, container("three")] } } },
      }),
      only: ["spec"],
    } as Step,
    {
      ...strategic(DEPLOYMENT, {
        spec: {
          template: {
            spec: {
              containers: [
                { name: "one", env: [{ name: "B", value: "2" }], ports: [{ containerPort: 80, name: "http" }] },
              ],
            },
          },
        },
      }),
      only: ["spec"],
    } as Step,
    {
      ...strategic(DEPLOYMENT, { spec: { template: { spec: { containers: [{ name: "three", $patch: "delete" }] } } } }),
      only: ["spec"],
    } as Step,
    {
      ...strategic(DEPLOYMENT, { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } }),
      only: ["spec"],
    } as Step,
    {
      ...strategic(DEPLOYMENT, {
        spec: {
          template: {
            spec: {
              "$setElementOrder/containers": [{ name: "two" }, { name: "one" }],
              containers: [{ name: "one", image: "one:3" }],
            },
          },
        },
      }),
      only: ["spec"],
    } as Step,
    strategic(DEPLOYMENT, { spec: { selector: { matchLabels: { a: "c" } } } }),
    strategic(DEPLOYMENT, { spec: { replicas: -1 } }),
    differing(
      "mistakes-are-400",
      strategic(DEPLOYMENT, { spec: { template: { spec: { containers: [{ image: "nameless" }] } } } }),
    ),
    strategic(`${DEPLOYMENT}x`, { spec: {} }),
  ],
};
