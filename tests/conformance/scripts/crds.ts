import { CRDS, crd, differing, installCrd, type Script, type Step, TABLE } from "../harness/script.ts";

const GROUP = "crds.example";
let counter = 0;
/** A CRD on trial with this schema below `spec`. */
const schema = (spec: unknown, root: object = {}): Step => ({
  do: `POST ${CRDS}?dryRun=All`,
  body: crd(`s${++counter}s`, GROUP, { schema: { type: "object", properties: { spec }, ...root } }),
  only: ["kind", "message", "reason", "details"],
});
/** A CRD on trial with these changes. */
const whole = (change: (definition: { metadata: { name: string }; spec: Record<string, unknown> }) => void): Step => {
  const definition = crd(`w${++counter}s`, GROUP, { schema: { type: "object" } });
  change(definition);
  return { do: `POST ${CRDS}?dryRun=All`, body: definition, only: ["kind", "message", "reason", "details"] };
};
const version = (name: string, more: object = {}): object => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: "object" } },
  ...more,
});

const many = crd("multis", GROUP, [
  {
    name: "v1",
    storage: true,
    schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { a: { type: "string", default: "one" } } } },
    },
  },
  {
    name: "v1beta1",
    storage: false,
    deprecated: true,
    schema: {
      type: "object",
      properties: {
        spec: { type: "object", properties: { a: { type: "string" }, b: { type: "string", default: "beta" } } },
      },
    },
  },
  {
    name: "v1alpha1",
    storage: false,
    deprecated: true,
    deprecationWarning: "go away",
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
]);
const M = (v: string): string => `/apis/${GROUP}/${v}/namespaces/<ns>/multis`;
const multi = (v: string, name: string, spec: object): object => ({
  apiVersion: `${GROUP}/${v}`,
  kind: "Multi",
  metadata: { name },
  spec,
});

/** CustomResourceDefinitions: names, versions, structural rules, several versions and removal. */
export const crds: Script = {
  name: "crds",
  steps: [
    schema({ type: "object" }),
    schema({}),
    schema({ type: "objekt" }),
    schema({ type: "array" }),
    schema({ type: "array", items: {} }),
    schema({ type: "object", properties: { a: {} } }),
    schema({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
    schema({ type: "object", additionalProperties: false }),
    schema({ type: "object", $ref: "#/x" }),
    schema({ type: "object", definitions: {} }),
    schema({ type: "object", patternProperties: { x: { type: "string" } } }),
    schema({ type: "array", uniqueItems: true, items: { type: "string" } }),
    schema({ type: "string", pattern: "(" }),
    schema({ type: "string", default: 5 }),
    schema({ type: "object", properties: { a: { type: "integer" } }, default: { a: "x" } }),
    schema({ type: "object", properties: { a: { type: "integer" } }, default: { b: 1 } }),
    schema({ type: "string", nullable: true, default: null }),
    schema({ type: "string", "x-kubernetes-int-or-string": true }),
    schema({ "x-kubernetes-preserve-unknown-fields": true }),
    schema({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
    schema({ type: "object", "x-kubernetes-embedded-resource": true }),
    schema({ type: "string", "x-kubernetes-embedded-resource": true }),
    schema({ type: "array", items: { type: "string" }, "x-kubernetes-list-type": "bag" }),
    schema({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "set" }),
    schema({
      type: "array",
      items: { type: "object", properties: { k: { type: "string" } } },
      "x-kubernetes-list-type": "map",
    }),
    schema({
      type: "array",
      items: { type: "object", properties: { k: { type: "string" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
    }),
    schema({
      type: "array",
      items: { type: "object", required: ["k"], properties: { k: { type: "object" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k", "k", "x"],
    }),
    schema({ type: "array", items: { type: "string" }, "x-kubernetes-list-map-keys": ["k"] }),
    schema({ type: "object", "x-kubernetes-map-type": "round" }),
    schema({ type: "string", "x-kubernetes-map-type": "atomic" }),
    schema({ type: "string", anyOf: [{ type: "string" }] }),
    schema({ type: "string", allOf: [{ default: "x" }, { description: "d" }, { nullable: true }] }),
    schema({ type: "object", anyOf: [{ properties: { ghost: { minimum: 1 } } }] }),
    schema({
      type: "object",
      properties: { a: { type: "string" } },
      not: { required: ["a"], additionalProperties: { type: "string" } },
    }),
    schema({ type: "integer", minLength: 3, maximum: 5, minimum: 9 }),
    schema({ type: "string", enum: [1, "a"] }),
    schema({ type: "object", required: ["a", "a"] }),
    schema({ type: "string", format: "k8s-long-name", minLength: -1 }),
    schema({ type: "object" }, { type: "string" }),
    schema({ type: "object" }, { additionalProperties: { type: "string" } }),
    schema(
      { type: "object" },
      { properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } } },
    ),
    schema(
      { type: "object" },
      { properties: { metadata: { type: "object", properties: { name: { type: "string", maxLength: 5 } } } } },
    ),
    schema(
      { type: "object" },
      { properties: { apiVersion: { type: "integer" }, kind: { type: "string", minLength: 1 } } },
    ),
    schema({ type: "object" }, { nullable: true }),
    whole((d) => {
      d.metadata.name = "wrong.name";
    }),
    whole((d) => {
      d.spec["group"] = "";
    }),
    whole((d) => {
      d.spec["group"] = "Bad_Group";
    }),
    whole((d) => {
      d.spec["scope"] = "Universal";
    }),
    whole((d) => {
      d.spec["names"] = {};
    }),
    whole((d) => {
      Object.assign(d.spec["names"] as object, {
        plural: "UPPER",
        kind: "lower case",
        shortNames: ["Bad!"],
        categories: ["x_y"],
      });
    }),
    whole((d) => {
      d.spec["versions"] = [];
    }),
    differing(
      "json-order",
      whole((d) => {
        d.spec["versions"] = [version("v1")];
      }),
    ),
    differing(
      "json-order",
      whole((d) => {
        d.spec["versions"] = [version("v1", { storage: true }), version("v2", { storage: true })];
      }),
    ),
    differing(
      "json-order",
      whole((d) => {
        d.spec["versions"] = [version("v1", { storage: true }), version("v1")];
      }),
    ),
    whole((d) => {
      d.spec["versions"] = [version("Bad.Version", { storage: true })];
    }),
    whole((d) => {
      d.spec["versions"] = [{ name: "v1", served: true, storage: true }];
    }),
    whole((d) => {
      d.spec["versions"] = [
        version("v1", {
          storage: true,
          subresources: {
            scale: { specReplicasPath: "spec.x", statusReplicasPath: ".spec.y", labelSelectorPath: ".a[0]" },
          },
        }),
      ];
    }),
    whole((d) => {
      d.spec["versions"] = [
        version("v1", {
          storage: true,
          additionalPrinterColumns: [
            { name: "", type: "thing", jsonPath: "" },
            { name: "x", type: "string", format: "nope", jsonPath: "a b" },
          ],
        }),
      ];
    }),
    whole((d) => {
      d.spec["versions"] = [
        version("v1", {
          storage: true,
          selectableFields: [{ jsonPath: ".spec.nope" }, { jsonPath: ".metadata.name" }, { jsonPath: "x" }],
        }),
      ];
    }),
    whole((d) => {
      d.spec["versions"] = [version("v1", { storage: true, deprecationWarning: "x" })];
    }),
    whole((d) => {
      d.spec["preserveUnknownFields"] = true;
    }),
    whole((d) => {
      d.spec["conversion"] = { strategy: "Magic" };
    }),
    whole((d) => {
      d.spec["conversion"] = { strategy: "Webhook" };
    }),
    whole((d) => {
      d.spec["conversion"] = {
        strategy: "Webhook",
        webhook: { conversionReviewVersions: ["v9"], clientConfig: { url: "http://x", service: { name: "" } } },
      };
    }),
    whole((d) => {
      d.metadata.name = "x.thing.k8s.io";
      d.spec["group"] = "thing.k8s.io";
      Object.assign(d.spec["names"] as object, { plural: "x" });
    }),
    {
      do: `POST ${CRDS}?fieldValidation=Strict`,
      body: {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "u" },
        spec: { unknown: 1 },
      },
    },
    // Several versions.
    ...installCrd(many),
    { do: `POST ${M("v1")}`, body: multi("v1", "a", {}) },
    { do: `POST ${M("v1beta1")}`, body: multi("v1beta1", "b", { a: "x" }) },
    { do: `POST ${M("v1alpha1")}`, body: multi("v1alpha1", "c", { z: 1 }) },
    { do: `POST ${M("v1")}`, body: multi("v1beta1", "d", {}) },
    { do: `GET ${M("v1")}/b` },
    { do: `GET ${M("v1beta1")}/a` },
    { do: `GET ${M("v1")}/c` },
    { do: `GET ${M("v1alpha1")}/c` },
    { do: `GET ${M("v1beta1")}` },
    { do: `GET ${M("v1")}`, accept: TABLE },
    { do: `PATCH ${M("v1beta1")}/a`, body: { spec: { b: "patched" } }, differs: "kept-managers" },
    { do: `PATCH ${M("v1")}/a`, body: { spec: { a: "patched" } }, differs: "kept-managers" },
    {
      do: `PATCH ${CRDS}/multis.${GROUP}`,
      body: { spec: { versions: [version("v2", { storage: true })] } },
      only: ["message", "details"],
    },
    { do: `PATCH ${CRDS}/multis.${GROUP}`, body: { spec: { group: "other.example" } }, only: ["message", "details"] },
    { do: `PATCH ${CRDS}/multis.${GROUP}`, body: { spec: { scope: "Cluster" } }, only: ["message", "details"] },
    { do: `PATCH ${CRDS}/multis.${GROUP}`, body: { spec: { names: { kind: "Other" } } }, only: ["message", "details"] },
    {
      do: `PATCH ${CRDS}/multis.${GROUP}/status`,
      body: { status: { storedVersions: [] } },
      only: ["message", "details"],
    },
    { do: `PUT ${CRDS}/multis.${GROUP}`, body: many, only: ["message", "details"] },
    // Names in use.
    {
      do: `POST ${CRDS}`,
      body: crd(
        "rivals",
        GROUP,
        { schema: { type: "object" } },
        { names: { plural: "rivals", kind: "Multi", listKind: "RivalList", shortNames: ["multi"] } },
      ),
      only: ["metadata.name"],
    },
    { wait: `${CRDS}/rivals.${GROUP}`, where: ["status.conditions.1.status", "False"] },
    { do: `GET ${CRDS}/rivals.${GROUP}`, only: ["status.conditions", "status.acceptedNames", "status.storedVersions"] },
    { do: `DELETE ${CRDS}/rivals.${GROUP}`, only: ["kind"] },
    // Removal.
    {
      do: `PATCH ${M("v1")}/a`,
      body: { metadata: { finalizers: ["example.com/hold"] } },
      only: ["metadata.finalizers"],
    },
    { watch: "gone", path: `${M("v1")}?watch=true&timeoutSeconds=10` },
    { do: `DELETE ${CRDS}/multis.${GROUP}`, only: ["metadata.finalizers", "metadata.deletionGracePeriodSeconds"] },
    { wait: `${CRDS}/multis.${GROUP}`, where: ["status.conditions.2.reason", "InstanceDeletionInProgress"] },
    { do: `POST ${M("v1")}`, body: multi("v1", "late", {}) },
    { do: `PATCH ${M("v1")}/a`, body: { metadata: { finalizers: null } }, only: ["metadata.name"] },
    { wait: `${CRDS}/multis.${GROUP}`, status: 404 },
    { wait: M("v1"), status: 404 },
    { do: `GET ${M("v1")}` },
    { wait: `/apis/${GROUP}`, status: 404 },
    { do: `GET /apis/${GROUP}` },
  ],
};
