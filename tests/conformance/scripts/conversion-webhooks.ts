import { APPLY, CRDS, crd, installCrd, type Script, type Step, TABLE } from "../harness/script.ts";
import { type ConversionBehaviour, conversionPath } from "../harness/webhook-server.ts";

const PROPERTIES = { colour: { type: "string" }, size: { type: "integer" } };
const schema = (properties: object): object => ({
  type: "object",
  properties: { spec: { type: "object", properties } },
});

const conversion = (does: ConversionBehaviour, versions: readonly string[] = ["v1"]): object => ({
  strategy: "Webhook",
  webhook: {
    conversionReviewVersions: versions,
    clientConfig: { url: `<webhooks.url>${conversionPath(does)}`, caBundle: "<webhooks.ca>" },
  },
});

/** A kind with two versions that differ in one field. */
function definition(plural: string, does: ConversionBehaviour, versions?: readonly string[]): ReturnType<typeof crd> {
  return crd(
    plural,
    "conversion.example",
    [
      {
        name: "v1",
        schema: schema(PROPERTIES),
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
      },
      {
        name: "v2",
        storage: false,
        schema: schema({ colour: { type: "string", default: "red" }, dimension: { type: "integer", maximum: 100 } }),
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "Dimension", type: "integer", jsonPath: ".spec.dimension" }],
      },
    ],
    { conversion: conversion(does, versions) },
  );
}

const at = (version: string, plural: string): string => `/apis/conversion.example/${version}/namespaces/<ns>/${plural}`;

function custom(version: string, plural: string, name: string, spec: object, metadata: object = {}): object {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
  return { apiVersion: `conversion.example/${version}`, kind, metadata: { name, ...metadata }, spec };
}

/** One kind per way in which a webhook can fail; each holds one object in v1 that is read in v2. */
const FAILING: readonly (readonly [plural: string, does: ConversionBehaviour])[] = [
  ["errors", { http: [500, "broken inside"] }],
  ["losts", { http: [404, "gone"] }],
  ["texts", { http: [200, "hello"] }],
  ["refusals", { result: { status: "Failure", message: "cannot be converted" } }],
  ["silences", { result: { status: "Failure" } }],
  ["blanks", { response: { result: {} } }],
  ["strangers", { response: { uid: "other" } }],
  ["absences", { drop: 1 }],
  ["renames", { metadata: { name: "renamed" } }],
  ["movers", { metadata: { namespace: "elsewhere" } }],
  ["doubles", { metadata: { uid: "other" } }],
  ["changers", { object: { kind: "Impostor" } }],
  ["stays", { object: { apiVersion: "conversion.example/v3" } }],
  ["labellers", { metadata: { labels: { "not a label": "x" } } }],
  ["annotators", { metadata: { annotations: { a: 1 } } }],
];

/** All are created before the first is awaited: the real server takes a second or two for each. */
function installAll(definitions: readonly ReturnType<typeof crd>[]): Step[] {
  const installs = definitions.map(installCrd);
  return [...installs.flatMap((steps) => steps.slice(0, 1)), ...installs.flatMap((steps) => steps.slice(1))];
}

function failing([plural]: (typeof FAILING)[number]): Step[] {
  const nonsense = plural === "texts" ? { differs: "webhook-nonsense" } : {};
  return [
    { do: `POST ${at("v1", plural)}`, body: custom("v1", plural, "a", { size: 1 }), only: ["spec", "message"] },
    { do: `GET ${at("v2", plural)}/a`, differs: "failed-conversions" },
    { do: `GET ${at("v2", plural)}`, differs: "failed-conversions" },
    { do: `POST ${at("v2", plural)}`, body: custom("v2", plural, "b", { dimension: 2 }), ...nonsense },
  ];
}

const ACTORS = definition("actors", {});
const v1 = at("v1", "actors");
const v2 = at("v2", "actors");

/** Versions converted by a webhook: every verb in the version that is not stored, and every way to fail. */
export const conversionWebhooks: Script = {
  name: "conversion-webhooks",
  steps: [
    ...installCrd(ACTORS),
    { do: `POST ${v1}`, body: custom("v1", "actors", "one", { size: 1, colour: "blue" }) },
    { do: `POST ${v2}`, body: custom("v2", "actors", "two", { dimension: 2 }) },
    { do: `POST ${v2}?dryRun=All`, body: custom("v2", "actors", "dry", { dimension: 2 }) },
    { do: `POST ${v2}`, body: custom("v2", "actors", "big", { dimension: 200 }) },
    { do: `GET ${v1}/one` },
    { do: `GET ${v2}/one` },
    { do: `GET ${v1}/two` },
    { do: `GET ${v2}/two` },
    { do: `GET ${v1}` },
    { do: `GET ${v2}` },
    { do: `GET ${v2}?limit=1` },
    { do: `GET ${v2}`, accept: TABLE },
    { watch: "w", path: `${v2}?watch=true&timeoutSeconds=30` },
    { events: "w", count: 2 },
    { do: `PATCH ${v2}/one`, body: { spec: { dimension: 3 } } },
    { do: `PATCH ${v1}/one`, body: { spec: { size: 4 }, metadata: { labels: { a: "b" } } } },
    { do: `PATCH ${v1}/one`, body: { spec: { size: 400 } } },
    { do: `PATCH ${v2}/one`, body: { spec: { colour: "green" } } },
    { do: `PATCH ${v2}/one`, body: { spec: { dimension: 500 } } },
    {
      do: `PATCH ${v2}/three?fieldManager=applier`,
      type: APPLY,
      body: custom("v2", "actors", "three", { dimension: 3 }),
    },
    {
      do: `PATCH ${v1}/three?fieldManager=other`,
      type: APPLY,
      body: custom("v1", "actors", "three", { size: 4 }),
    },
    {
      do: `PATCH ${v2}/three?fieldManager=applier`,
      type: APPLY,
      body: custom("v2", "actors", "three", { colour: "blue" }),
    },
    { do: `DELETE ${v2}/two` },
    { events: "w", count: 6 },
    { do: `GET ${CRDS}/actors.conversion.example`, only: ["spec.conversion.strategy", "status.storedVersions"] },
    ...installCrd(definition("olders", {}, ["v1beta1", "v1"])),
    { do: `POST ${at("v1", "olders")}`, body: custom("v1", "olders", "a", { size: 1 }), only: ["spec"] },
    { do: `GET ${at("v2", "olders")}/a` },
    ...installCrd(
      definition("taggers", { metadata: { labels: { by: "webhook" }, finalizers: ["x/y"], generation: 9 } }),
    ),
    { do: `POST ${at("v1", "taggers")}`, body: custom("v1", "taggers", "a", { size: 1 }, { annotations: { a: "b" } }) },
    { do: `GET ${at("v2", "taggers")}/a` },
    ...installAll(FAILING.map(([plural, does]) => definition(plural, does))),
    ...FAILING.flatMap(failing),
  ],
};
