import { type Json, pbConfigMap, pbNoise, repeat, wide } from "./worst-bodies.ts";
import { crd, deep, laughs, rules, versions } from "./worst-kinds.ts";
import { massRequests } from "./worst-masses.ts";
import { webhookRequests } from "./worst-webhooks.ts";

/** A request that causes as much work as the limits allow. */
export interface WorstRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** `application/json` by default. */
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: () => Json | readonly Json[] | string | Buffer;
  /** Sent before each attempt, not measured; deletions are awaited. */
  readonly before?: readonly WorstRequest[];
  /** Many objects that are made before that. */
  readonly fill?: { readonly path: string; readonly count: number; readonly make: (i: number) => Json };
  /** The work continues after the response, until this is deleted. */
  readonly until?: string;
}

/** As many fields as an object may have in addition to their owners, and as many values as a body. */
const FULL = 9_500;
const BODY = 19_000;
const MAPS = "/api/v1/namespaces/worst/configmaps";
const PODS = "/api/v1/namespaces/worst/pods";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GEARS = "/apis/worst.example/v1/namespaces/worst/gears";
const JSON_PATCH = "application/json-patch+json";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";
const YAML = "application/yaml";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

const map = (name: string, more: Json): Json => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...more });
const gear = (name: string, spec: Json): Json => ({
  apiVersion: "worst.example/v1",
  kind: "Gear",
  metadata: { name },
  spec,
});
const meta = (metadata: Json): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "meta", ...metadata },
});
const clear = (path: string): WorstRequest => ({ name: "clear", method: "DELETE", path });
const post = (
  name: string,
  path: string,
  body: WorstRequest["body"],
  more: Partial<WorstRequest> = {},
): WorstRequest => ({
  name,
  method: "POST",
  path,
  ...(body === undefined ? {} : { body }),
  ...more,
});
const patch = (
  name: string,
  path: string,
  type: string,
  body: NonNullable<WorstRequest["body"]>,
  more: Partial<WorstRequest> = {},
): WorstRequest => ({
  name,
  method: "PATCH",
  path: `${path}?fieldManager=worst`,
  type,
  body,
  ...more,
});
const get = (name: string, path: string, more: Partial<WorstRequest> = {}): WorstRequest => ({
  name,
  method: "GET",
  path,
  ...more,
});

const bigCrd = (name: string, schema: () => Json, more?: Json): WorstRequest =>
  post(`CRD with ${name}`, CRDS, () => crd("bigs", "worst.example", "Big", { type: "object", ...schema() }, more), {
    before: [clear(`${CRDS}/bigs.worst.example`)],
  });

const spec = (properties: Json): Json => ({ properties: { spec: { type: "object", properties } } });

const BIG = `${CRDS}/bigs.worst.example`;
const BIGS = "/apis/worst.example/v1/namespaces/worst/bigs";
const big = (spec: Json): Json => ({ apiVersion: "worst.example/v1", kind: "Big", metadata: { name: "b" }, spec });
const manyFields = (count: number): Json =>
  spec(Object.fromEntries(repeat(count, (i) => [`f${i}`, { type: "string" }])));
const bigBefore = (fields: number): Pick<WorstRequest, "before"> => ({
  before: [clear(BIG), bigCrd("", () => manyFields(fields))],
});
const ADD_FIELD = {
  op: "add",
  path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/f1/description",
  value: "x",
};

/** The most expensive requests of every kind, on a server with this many objects. */
export function worstRequests(objects: number): readonly WorstRequest[] {
  return [...SINGLE, ...massRequests(objects)];
}

const SINGLE: readonly WorstRequest[] = [
  post("JSON: one value of 1 MB", MAPS, () => map("megabyte", { data: { k: "x".repeat(1_000_000) } })),
  post("JSON: one value of 2.9 MB", MAPS, () => map("one", { data: { k: "x".repeat(2_900_000) } })),
  post("JSON: one value of escapes", MAPS, () => map("escapes", { data: { k: '\n"\u0001é'.repeat(150_000) } })),
  post("JSON: as many keys as may be", MAPS, () => map("keys", { data: wide(FULL) }), {
    before: [clear(`${MAPS}/keys`)],
  }),
  post("JSON: 200,000 keys", MAPS, () => map("keys", { data: wide(200_000) })),
  post("JSON: unknown fields", MAPS, () => map("unknown", wide(BODY)), { before: [clear(`${MAPS}/unknown`)] }),
  post("JSON: unknown fields, strict", `${MAPS}?fieldValidation=Strict`, () => map("unknown", wide(BODY))),
  post("JSON: the same key again and again", MAPS, () => `{"kind":"ConfigMap",${repeat(BODY, () => '"a":1').join()}}`),
  post("JSON: all keys twice", MAPS, () => {
    const keys = repeat(9_000, (i) => `"k${i}":"v"`).join();
    return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"twice"},"data":{${keys},${keys}}}`;
  }),
  post("JSON: opened 3,000,000 times", MAPS, () => "[".repeat(3_000_000)),
  post(
    "JSON: broken at its end",
    MAPS,
    () => `${JSON.stringify(map("broken", { data: { k: "x".repeat(2_900_000) } }))}}`,
  ),
  post("JSON: broken labels", MAPS, () => meta({ labels: Object.fromEntries(repeat(BODY, (i) => [`-${i}`, "*"])) })),
  post("JSON: annotations", MAPS, () => meta({ annotations: wide(BODY) })),
  post("JSON: finalizers", MAPS, () => meta({ finalizers: repeat(FULL, (i) => `a.b/c${i}`) })),
  post("JSON: owners", MAPS, () =>
    meta({
      ownerReferences: repeat(2_000, (i) => ({ apiVersion: "v1", kind: "ConfigMap", name: `o${i}`, uid: `u${i}` })),
    }),
  ),
  post("JSON: managers", MAPS, () => meta({ managedFields: managers(1_800) })),
  patch("apply: an object of 1,800 managers", `${MAPS}/meta`, APPLY, () => map("meta", { data: { k1: "mine" } }), {
    before: [clear(`${MAPS}/meta`), post("", MAPS, () => meta({ managedFields: managers(1_800) }))],
  }),
  post("Pod with 2,000 containers", PODS, () => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "many" },
    spec: { containers: repeat(2_000, (i) => ({ name: `c${i}`, image: "i", resources: { limits: { cpu: "1" } } })) },
  })),
  post("quantity of a million digits", PODS, () => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "digits" },
    spec: { containers: [{ name: "c", image: "i", resources: { limits: { cpu: "9".repeat(1_000_000) } } }] },
  })),
  post("YAML: aliases of aliases", MAPS, () => laughs(), { type: YAML }),
  post("YAML: 8 KB of brackets", MAPS, () => "[".repeat(8_000), { type: YAML }),
  post("YAML: 8 KB of dashes", MAPS, () => "- ".repeat(4_000), { type: YAML }),
  post("YAML: 30 KB in one line of brackets", MAPS, () => `${"[".repeat(15_000)}${"]".repeat(15_000)}`, { type: YAML }),
  post("YAML: 30 KB of small values", MAPS, () => `a: [${"1,".repeat(15_000)}1]`, { type: YAML }),
  post(
    "YAML: 30 KB of keys",
    MAPS,
    () => `metadata: {name: y}\ndata:\n${repeat(3_000, (i) => `  k${i}: v\n`).join("")}`,
    {
      type: YAML,
      before: [clear(`${MAPS}/y`)],
    },
  ),
  post("YAML: keys", MAPS, () => `metadata: {name: y}\ndata:\n${repeat(FULL, (i) => `  k${i}: v\n`).join("")}`, {
    type: YAML,
    before: [clear(`${MAPS}/y`)],
  }),
  post("YAML: 60,000 keys", MAPS, () => `data:\n${repeat(60_000, (i) => `  k${i}: v\n`).join("")}`, { type: YAML }),
  post("YAML: anchors, aliases", MAPS, () => `a: &a {b: c}\nd: [${"*a,".repeat(FULL)}]`, { type: YAML }),
  get("YAML answer of keys", `${MAPS}/keys`, {
    accept: YAML,
    before: [clear(`${MAPS}/keys`), post("", MAPS, () => map("keys", { data: wide(FULL) }))],
  }),
  get("YAML answer of 1 MB", `${MAPS}/one`, {
    accept: YAML,
    before: [clear(`${MAPS}/one`), post("", MAPS, () => map("one", { data: { k: "x y: ".repeat(200_000) } }))],
  }),
  post("protobuf: keys", MAPS, () => pbConfigMap("pb", FULL), {
    type: PROTOBUF,
    before: [clear(`${MAPS}/pb`)],
  }),
  post("protobuf: 300,000 keys", MAPS, () => pbConfigMap("pb", 300_000), { type: PROTOBUF }),
  post("protobuf: 3 MB of unknown fields", MAPS, () => pbNoise(1_400_000), { type: PROTOBUF }),
  patch("merge patch: keys", `${MAPS}/patched`, MERGE, () => ({ data: wide(FULL, "w") }), patched(FULL)),
  patch("merge patch: keys removed", `${MAPS}/patched`, MERGE, () => ({ data: wide(FULL, null) }), patched(FULL)),
  patch("strategic patch: keys", `${MAPS}/patched`, STRATEGIC, () => ({ data: wide(FULL, "w") }), patched(FULL)),
  patch(
    "strategic patch: order of owners",
    `${MAPS}/patched`,
    STRATEGIC,
    () => ({
      metadata: {
        "$setElementOrder/ownerReferences": repeat(800, (i) => ({ uid: `u${799 - i}` })),
        ownerReferences: repeat(800, (i) => ({ uid: `u${i}`, apiVersion: "v1", kind: "Secret", name: "s" })),
        "$setElementOrder/finalizers": repeat(1_500, (i) => `a.b/c${1_499 - i}`),
        "$deleteFromPrimitiveList/finalizers": repeat(1_500, (i) => `a.b/c${i}`),
        finalizers: repeat(1_500, (i) => `a.b/c${i}`),
      },
    }),
    patched(1),
  ),
  ...jsonPatches(),
  patch("apply: keys", `${MAPS}/applied`, APPLY, () => map("applied", { data: wide(FULL) }), {
    before: [clear(`${MAPS}/applied`)],
  }),
  patch(
    "apply: conflicts",
    `${MAPS}/patched`,
    APPLY,
    () => map("patched", { data: wide(FULL, "mine") }),
    patched(FULL),
  ),
  patch(
    "apply: YAML, keys",
    `${MAPS}/applied`,
    APPLY,
    () => `apiVersion: v1\nkind: ConfigMap\ndata:\n${repeat(FULL, (i) => `  k${i}: z\n`).join("")}`,
  ),
  patch("apply: items by name", `${GEARS}/applied`, APPLY, () => gear("applied", { byName: named(2_500) }), {
    before: [clear(`${GEARS}/applied`)],
  }),
  patch("apply: the items turned around", `${GEARS}/applied`, APPLY, () =>
    gear("applied", { byName: named(2_500).reverse() }),
  ),
  patch("apply: none of the items", `${GEARS}/applied`, APPLY, () => gear("applied", { byName: [] })),
  ...gears(),
  bigCrd("28,000 fields", () => manyFields(28_000)),
  patch(
    "a label of a CRD with 28,000 fields",
    BIG,
    MERGE,
    () => ({ metadata: { labels: { a: "b" } } }),
    bigBefore(28_000),
  ),
  patch("a field of a CRD with 28,000 fields", BIG, JSON_PATCH, () => [ADD_FIELD], bigBefore(28_000)),
  patch("apply: a CRD with 28,000 fields", BIG, APPLY, () => bigCrd("", () => manyFields(28_000)).body?.() ?? "", {
    ...bigBefore(27_999),
    path: `${BIG}?fieldManager=worst&force=true`,
  }),
  bigCrd("2.5 MB of descriptions", () =>
    spec(Object.fromEntries(repeat(2_500, (i) => [`f${i}`, { type: "string", description: "x".repeat(1000) }]))),
  ),
  get("OpenAPI v3 with a kind of 28,000 fields", "/openapi/v3/apis/worst.example/v1", bigBefore(28_000)),
  get("OpenAPI v2 with a kind of 28,000 fields", "/openapi/v2", bigBefore(28_000)),
  bigCrd("60 levels", () => deep(60)),
  bigCrd("1,000 CEL rules", () => ({
    ...spec({ a: { type: "string", maxLength: 10 } }),
    "x-kubernetes-validations": repeat(1_000, (i) => ({ rule: `!has(self.spec) || self.spec.a != 'v${i}'` })),
  })),
  post("custom resource judged by 1,000 CEL rules", BIGS, () => big({ a: "x" }), {
    before: [
      clear(BIG),
      bigCrd("", () => ({
        ...spec({ a: { type: "string", maxLength: 10 } }),
        "x-kubernetes-validations": repeat(1_000, (i) => ({ rule: `!has(self.spec) || self.spec.a != 'v${i}'` })),
      })),
    ],
  }),
  bigCrd("10,000 CEL rules", () => ({
    ...spec({ a: { type: "string", maxLength: 10 } }),
    "x-kubernetes-validations": repeat(10_000, (i) => ({ rule: `!has(self.spec) || self.spec.a != 'v${i}'` })),
  })),
  bigCrd("a CEL rule of 100 KB", () => ({
    ...spec({ a: { type: "string", maxLength: 10 } }),
    "x-kubernetes-validations": [{ rule: repeat(5_000, (i) => `self.spec.a != 'v${i}'`).join(" && ") }],
  })),
  bigCrd("a CEL rule of 2.5 MB", () => ({
    "x-kubernetes-validations": [{ rule: repeat(250_000, () => `1 == 1`).join(" && ") }],
  })),
  bigCrd("a regular expression of 1 MB", () => spec({ a: { type: "string", pattern: "(a|b)".repeat(200_000) } })),
  bigCrd("a regular expression of 20 KB", () => spec({ a: { type: "string", pattern: "(a|b)*c".repeat(3_000) } })),
  bigCrd("repeated repetitions", () => spec({ a: { type: "string", pattern: "((a{1,30}){1,30}){1,30}" } })),
  bigCrd("1,000 regular expressions", () =>
    spec(Object.fromEntries(repeat(1_000, (i) => [`f${i}`, { type: "string", pattern: `^[a-z]{1,20}(-${i})*$` }]))),
  ),
  bigCrd("an enum of 45,000", () => spec({ a: { type: "string", enum: repeat(45_000, (i) => `v${i}`) } })),
  bigCrd("a default of items", () =>
    spec({ a: { type: "array", items: { type: "string" }, default: repeat(45_000, (i) => `v${i}`) } }),
  ),
  bigCrd("5,000 columns", () => ({}), {
    additionalPrinterColumns: repeat(5_000, (i) => ({ name: `c${i}`, type: "string", jsonPath: `.spec.a${i}.b[0].c` })),
  }),
  post("CRD with 100 versions", CRDS, () => versions(100, 100), { before: [clear(`${CRDS}/bigs.worst.example`)] }),
  get("discovery", "/apis", { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" }),
  get("OpenAPI v3 index", "/openapi/v3"),
  get("OpenAPI v3 of 60 kinds", "/openapi/v3/apis/sixty.example/v1"),
  get("OpenAPI v2, JSON", "/openapi/v2"),
  get("OpenAPI v2, protobuf", "/openapi/v2", { accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" }),
  get("metrics", "/metrics"),
  ...webhookRequests(),
  post(
    "role of 1,500 rules, escalated by a user of as many",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/worst/roles",
    () => rules("Role", "copy"),
    {
      headers: { "impersonate-user": "rich" },
      before: [
        clear("/apis/rbac.authorization.k8s.io/v1/namespaces/worst/roles/copy"),
        post("", "/apis/rbac.authorization.k8s.io/v1/namespaces/worst/roles", () => rules("Role", "rich")),
        post("", "/apis/rbac.authorization.k8s.io/v1/namespaces/worst/rolebindings", () => ({
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "RoleBinding",
          metadata: { name: "rich" },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "rich" },
          subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "rich" }],
        })),
      ],
    },
  ),
  post(
    "rules review of a user of 1,500 rules",
    "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    () => ({ spec: { namespace: "worst" } }),
    {
      headers: { "impersonate-user": "rich" },
    },
  ),
  post("token review of 2.9 MB", "/apis/authentication.k8s.io/v1/tokenreviews", () => ({
    spec: { token: `${"eyJ".repeat(400_000)}.${"e".repeat(1_000_000)}.x` },
  })),
  post("certificate request of 2 MB", "/apis/certificates.k8s.io/v1/certificatesigningrequests", () => ({
    metadata: { name: "big" },
    spec: {
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["client auth"],
      request: Buffer.from(
        `-----BEGIN CERTIFICATE REQUEST-----\n${"MIIB".repeat(350_000)}\n-----END CERTIFICATE REQUEST-----\n`,
      ).toString("base64"),
    },
  })),
  get(
    "a long label selector over all objects",
    `/api/v1/namespaces/many/configmaps?labelSelector=${encodeURIComponent(`a in (${repeat(3_000, (i) => `v${i}`).join()}),b notin (${repeat(3_000, (i) => `w${i}`).join()})`)}`,
  ),
  get(
    "a long field selector over all objects",
    `/api/v1/namespaces/many/configmaps?fieldSelector=${encodeURIComponent(repeat(1_000, (i) => `metadata.name!=v${i}`).join())}`,
  ),
  get("list of all", "/api/v1/namespaces/many/configmaps"),
  get("list of all, packed", "/api/v1/namespaces/many/configmaps", { headers: { "accept-encoding": "gzip" } }),
  get("list of all as Table", "/api/v1/namespaces/many/configmaps", { accept: TABLE }),
  get("list of all as Table with objects", "/api/v1/namespaces/many/configmaps?includeObject=Object", {
    accept: TABLE,
  }),
  get("list of all as metadata", "/api/v1/namespaces/many/configmaps", { accept: PARTIAL }),
  get("list of 500 as YAML", "/api/v1/namespaces/many/configmaps?limit=500", { accept: YAML }),
  get("list of all, sorted pages of 1", "/api/v1/namespaces/many/configmaps?limit=1"),
  get(
    "watch of all from the start",
    "/api/v1/namespaces/many/configmaps?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
  ),
  get("watch of all as Tables", "/api/v1/namespaces/many/configmaps?watch=1&timeoutSeconds=1", { accept: TABLE }),
  get("list of all in another version, as Table", "/apis/sixty.example/v1beta1/namespaces/many/kind0s", {
    accept: TABLE,
  }),
  get("list of all in another version", "/apis/sixty.example/v1beta1/namespaces/many/kind0s"),
  post("a change that 3,000 watch", "/api/v1/namespaces/watched/configmaps", () => map("seen", { data: { k: "v" } }), {
    before: [clear("/api/v1/namespaces/watched/configmaps/seen")],
  }),
];

function patched(count: number): Pick<WorstRequest, "before"> {
  return {
    before: [clear(`${MAPS}/patched`), post("", MAPS, () => map("patched", { data: wide(count) }))],
  };
}

function jsonPatches(): WorstRequest[] {
  const listed = (): Json => gear("listed", { set: repeat(9_000, (i) => `v${i}`) });
  const before = [clear(`${GEARS}/listed`), post("", GEARS, listed)];
  const make = (name: string, one: (i: number) => Json, count = 10_000): WorstRequest =>
    patch(`JSON patch: ${count} × ${name}`, `${GEARS}/listed`, JSON_PATCH, () => repeat(count, one), { before });
  const many = { before: [clear(`${MAPS}/patched`), post("", MAPS, () => map("patched", { data: wide(4_000) }))] };
  return [
    make("add at the front", (i) => ({ op: "add", path: "/spec/set/0", value: `w${i}` })),
    make("remove at the front", () => ({ op: "remove", path: "/spec/set/0" })),
    make("copy", (i) => ({ op: "copy", from: "/metadata", path: `/spec/free/c${i}` })),
    make("copy of all", () => ({ op: "copy", from: "/spec", path: "/spec/free" }), 20),
    make("test of all", () => ({ op: "test", path: "/spec/set", value: repeat(2, (k) => `v${k}`) }), 5_000),
    make("move", (i) => ({ op: "move", from: `/spec/set/${i % 100}`, path: "/spec/set/-" })),
    patch(
      "JSON patch: 5000 × add key",
      `${MAPS}/patched`,
      JSON_PATCH,
      () => repeat(5_000, (i) => ({ op: "add", path: `/data/n${i}`, value: "v" })),
      many,
    ),
    patch(
      "JSON patch: 5000 × copy key",
      `${MAPS}/patched`,
      JSON_PATCH,
      () => repeat(5_000, (i) => ({ op: "copy", from: "/metadata/uid", path: `/data/n${i}` })),
      many,
    ),
    patch(
      "JSON patch: 10000 × a value of 250 bytes",
      `${MAPS}/patched`,
      JSON_PATCH,
      () => repeat(10_000, (i) => ({ op: "add", path: `/data/n${i % 10}`, value: "v".repeat(250) })),
      many,
    ),
  ];
}

function gears(): WorstRequest[] {
  const make = (name: string, body: () => Json): WorstRequest =>
    post(`custom resource: ${name}`, GEARS, () => gear("g", body()), { before: [clear(`${GEARS}/g`)] });
  return [
    make("free values", () => ({ free: wide(FULL) })),
    make("free objects", () => ({
      free: Object.fromEntries(repeat(2_800, (i) => [`k${i}`, { a: { b: 1 } }])),
    })),
    make("unknown values", () => ({ unknown: wide(FULL) })),
    make("a set of 45,000", () => ({ set: repeat(FULL, (i) => `v${i}`) })),
    make("a set with doubles", () => ({ set: repeat(FULL, (i) => `v${i % 5_000}`) })),
    make("items by name", () => ({ byName: named(2_500) })),
    make("items filled with defaults", () => ({ many: repeat(FULL, () => ({})) })),
    make("items of the wrong type", () => ({ many: repeat(BODY, () => 1) })),
    make("words against a pattern", () => ({ words: repeat(BODY, (i) => `a-b-c${"d".repeat(i % 20)}`) })),
    make("words that do not match", () => ({ words: repeat(BODY, (i) => `a-b-C${i}`) })),
    make("2.9 MB against a pattern", () => ({ text: `${"aab".repeat(960_000)}x` })),
    make("2.9 MB that do not match", () => ({ text: "aab".repeat(960_000) })),
    make("CEL, 1,000 × 1,000", () => ({ numbers: repeat(1_000, (i) => i) })),
    make("CEL on 100 texts of 5,000", () => ({ texts: repeat(100, () => "ab".repeat(2_500)) })),
    make("CEL rules on items", () => ({ ruled: repeat(6_000, (i) => ({ a: i, b: i + 1 })) })),
    make("CEL rules that fail on items", () => ({ ruled: repeat(6_000, (i) => ({ a: i + 1, b: i })) })),
    make("oneOf on items", () => ({ choice: repeat(9_000, () => ({ a: "x" })) })),
    make("oneOf that fails on items", () => ({ choice: repeat(6_000, () => ({ a: "x", b: "y" })) })),
  ];
}

function managers(count: number): Json[] {
  return repeat(count, (i) => ({
    manager: `m${i}`,
    operation: "Update",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { [`f:k${i}`]: {} } },
  }));
}

function named(count: number): Json[] {
  return repeat(count, (i) => ({ name: `n${i}`, value: i }));
}
