/** Schemas of CRDs and objects of them: what is pruned, defaulted and rejected, and with which messages. */
import { setTimeout as sleep } from "node:timers/promises";

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/** Where a schema is in the answers; the recordings call it S. */
const SCHEMA_PATH = /spec\.(?:validation|versions\[0\]\.schema)\.openAPIV3Schema/g;

/** A definition with a group of its own, so that all may have the kind K. */
export function definition(name, schema) {
  const group = `${name}.example.com`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `ks.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { kind: "K", plural: "ks" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

const objectOf = (name, spec) => ({
  apiVersion: `${name}.example.com/v1`,
  kind: "K",
  metadata: { name: "x" },
  ...(spec === undefined ? {} : { spec }),
});
const collection = (name) => `/apis/${name}.example.com/v1/ks`;
export const withSpec = (spec) => ({ type: "object", properties: { spec } });

export async function define(call, name, schema) {
  const { status, text } = await call("POST", CRDS, { body: definition(name, schema) });
  if (status !== 201) throw new Error(`the definition ${name} was refused: ${text}`);
}

/** Asks until the answer is of another status than 404: a definition takes a moment to be served. */
async function whenServed(ask) {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 404) return answer;
    await sleep(100);
  }
}

export const create = (call, name, spec) =>
  whenServed(() => call("POST", `${collection(name)}?dryRun=All`, { body: objectOf(name, spec) }));

/** The causes of a refusal, sorted; a refusal without causes gives its message. */
function causes({ json }) {
  const found = json.details?.causes ?? [];
  if (found.length === 0) return [json.message];
  return found.map(({ field, reason, message }) => `${field}|${reason}|${message}`).sort();
}

export const values = { file: "src/schema/testdata/values.json", record: recordValues };
export const formats = { file: "src/schema/testdata/formats.json", record: recordValues };

let defined = 0;

async function recordValues({ call, before }) {
  const first = defined;
  for (const { spec } of before) await define(call, `values${defined++}`, withSpec(spec));
  const groups = [];
  for (const [n, { spec, cases }] of before.entries()) {
    const results = [];
    for (const { input } of cases) {
      const answer = await create(call, `values${first + n}`, input);
      const refused = answer.status !== 201;
      results.push({ input, ...(refused ? { errors: causes(answer) } : { output: answer.json.spec ?? null }) });
    }
    groups.push({ spec, cases: results });
  }
  return groups;
}

export const crds = { file: "src/schema/testdata/crds.json", record: recordSchemas };
export const refusals = { file: "src/schema/testdata/refusals.json", record: recordSchemas };

async function recordSchemas({ call, before }) {
  const results = [];
  for (const { schema } of before) {
    const { status, json } = await call("POST", `${CRDS}?dryRun=All`, { body: definition("crds", schema) });
    const found = json.details?.causes?.map(({ field, message }) => `${field}|${message}`) ?? [json.message];
    const errors = status === 201 ? [] : found;
    results.push({ schema, errors: errors.map((text) => text.replaceAll(SCHEMA_PATH, "S")).sort() });
  }
  return results;
}

export const rules = {
  file: "src/schema/testdata/rules.json",
  async record({ call, before }) {
    const { properties, spec } = before;
    const schemaWith = (rule) => withSpec({ type: "object", properties, "x-kubernetes-validations": [{ rule }] });
    const refused = [];
    const accepted = [];
    for (const rule of [...before.rules.map((r) => r.rule), ...before.refused]) {
      const name = `rules${accepted.length}`;
      const { status } = await call("POST", CRDS, { body: definition(name, schemaWith(rule)) });
      if (status === 201) accepted.push({ name, rule });
      else refused.push(rule);
    }
    const results = [];
    for (const { name, rule } of accepted) {
      const answer = await create(call, name, spec);
      const found = answer.status === 201 ? [] : answer.json.details.causes.map(({ message }) => message);
      if (found.length > 1) throw new Error(`${rule} has several errors: ${found.join("; ")}`);
      results.push({ rule, error: found[0] ?? null });
    }
    return { properties, spec, rules: results, refused };
  },
};

export const updates = {
  file: "src/schema/testdata/updates.json",
  async record({ call, before }) {
    const { schema, old } = before;
    // The old object breaks the rules: it was stored before they were made.
    const name = "updates";
    await define(call, name, { type: "object", "x-kubernetes-preserve-unknown-fields": true });
    const stored = await whenServed(() => call("POST", collection(name), { body: objectOf(name, old) }));
    const path = `${CRDS}/ks.${name}.example.com`;
    const current = (await call("GET", path)).json;
    current.spec.versions = definition(name, schema).spec.versions;
    const { status, text } = await call("PUT", path, { body: current });
    if (status !== 200) throw new Error(text);
    while ((await create(call, name, {})).status === 201) await sleep(100);
    const results = [];
    for (const { spec } of before.updates) {
      const body = objectOf(name, spec);
      body.metadata.resourceVersion = stored.json.metadata.resourceVersion;
      const answer = await call("PUT", `${collection(name)}/x?dryRun=All`, { body });
      results.push({ spec, errors: answer.status === 200 ? [] : causes(answer) });
    }
    return { schema, old, updates: results };
  },
};
