/** Turns the real OpenAPI v3 documents into compact definitions: facts only, no descriptions. */
const PREFIX = "#/components/schemas/";

/** A schema without prose, with `allOf: [{$ref}]` written as a plain `$ref` next to its siblings. */
export function compact(schema) {
  if (Array.isArray(schema)) return schema.map(compact);
  if (schema === null || typeof schema !== "object") return schema;
  const out = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "description" && typeof value === "string") continue;
    if (key === "$ref") out.$ref = value.slice(PREFIX.length);
    else if (key === "allOf" && value.length === 1 && value[0].$ref) out.$ref = value[0].$ref.slice(PREFIX.length);
    else if (key === "properties")
      out.properties = Object.fromEntries(Object.entries(value).map(([name, v]) => [name, compact(v)]));
    else if (key === "default" || key === "enum" || key === "x-kubernetes-group-version-kind") out[key] = value;
    else out[key] = compact(value);
  }
  return out;
}

const isZero = (v) => v === "" || v === 0 || (typeof v === "object" && v !== null && Object.keys(v).length === 0);

/** Drops defaults that only mirror Go's zero values, except on list-map keys, where server-side apply needs them. */
export function dropZeroDefaults(definitions) {
  const keys = new Map();
  visit(definitions, (s) => {
    const item = s.items?.$ref;
    if (!item) return;
    for (const key of s["x-kubernetes-list-map-keys"] ?? []) keys.set(`${item} ${key}`, true);
  });
  for (const [name, definition] of Object.entries(definitions)) {
    visit({ [name]: definition }, (s) => {
      for (const [property, p] of Object.entries(s.properties ?? {}))
        if (s === definition && keys.has(`${name} ${property}`) && p.default !== undefined) p["x-keep-default"] = true;
    });
  }
  visit(definitions, (s) => {
    if (s["x-keep-default"]) delete s["x-keep-default"];
    else if (s.default !== undefined && isZero(s.default)) delete s.default;
  });
}

function visit(schemas, see) {
  for (const s of Object.values(schemas)) {
    if (s === null || typeof s !== "object") continue;
    see(s);
    visit(s.properties ?? {}, see);
    visit(
      [s.items, s.additionalProperties, s.not].filter((x) => x && typeof x === "object"),
      see,
    );
    visit([...(s.allOf ?? []), ...(s.anyOf ?? []), ...(s.oneOf ?? [])], see);
  }
}

/** The named definitions and everything they refer to. */
export function closure(all, roots) {
  const kept = {};
  const need = [...roots];
  while (need.length > 0) {
    const name = need.pop();
    if (kept[name]) continue;
    if (!all[name]) throw new Error(`no definition ${name} in the recorded documents`);
    kept[name] = all[name];
    visit({ [name]: all[name] }, (s) => s.$ref && need.push(s.$ref));
  }
  return Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1)));
}
