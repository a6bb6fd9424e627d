/**
 * Walks a field tree of upstream's CRD and lists, for every field, pairs of values that differ in one way: set and not set, empty
 * and not set, one value and another, one more element, another order.
 */

/** Stands for a field that is not there. */
export const ABSENT = undefined;

/**
 * @typedef {{ type?: string; format?: string; enum?: unknown[]; minimum?: number; required?: string[];
 *   properties?: Record<string, Schema>; items?: Schema; additionalProperties?: Schema }} Schema
 * @typedef {{ path: string; from: unknown; to: unknown; way: string }} Change
 */

/**
 * All changes of the fields below `path`.
 * @param {Schema} schema
 * @param {string} path
 * @returns {Generator<Change>}
 */
export function* changes(schema, path) {
  const pair = (way, from, to) => ({ path, way, from, to });
  if (schema.properties !== undefined) {
    if (path !== "") yield pair("empty", ABSENT, {});
    for (const [name, property] of Object.entries(schema.properties))
      yield* changes(property, path === "" ? name : `${path}.${name}`);
    return;
  }
  if (schema.items !== undefined) {
    yield* arrayChanges(schema.items, pair);
    return;
  }
  const name = path.slice(path.lastIndexOf(".") + 1);
  const [a, b] = [sample(schema, 0, name), sample(schema, 1, name)];
  yield pair("added", ABSENT, a);
  yield pair("removed", a, ABSENT);
  if (JSON.stringify(a) !== JSON.stringify(b)) yield pair("changed", a, b);
  const zero = zeroOf(schema);
  if (zero !== undefined) {
    yield pair("zero added", ABSENT, zero);
    yield pair("zero removed", zero, ABSENT);
  }
  if (schema.additionalProperties !== undefined) yield pair("key added", a, { ...a, ...b, more: b["key"] });
}

function* arrayChanges(items, pair) {
  const [a, b] = [sample(items, 0), sample(items, 1)];
  yield pair("empty added", ABSENT, []);
  yield pair("empty removed", [], ABSENT);
  yield pair("emptied", [a], []);
  yield pair("added", ABSENT, [a]);
  yield pair("removed", [a], ABSENT);
  yield pair("changed", [a], [b]);
  yield pair("element added", [a], [a, b]);
  yield pair("reordered", [a, b], [b, a]);
  // What is optional in an element, by itself.
  for (const [name, property] of Object.entries(items.properties ?? {})) {
    for (const { path, way, from, to } of changes(property, name)) {
      const [before, after] = [withField(a, path, from), withField(a, path, to)];
      if (JSON.stringify(before) !== JSON.stringify(after)) yield pair(`${path} ${way}`, [before], [after]);
    }
  }
}

function zeroOf(schema) {
  if (schema.type === "boolean") return false;
  if (schema.type === "integer" && (schema.minimum ?? 0) <= 0) return 0;
  return schema.additionalProperties === undefined ? undefined : {};
}

/**
 * A value of the schema with everything that is required; two variants differ in every scalar that allows it.
 * @param {Schema} schema
 * @param {number} variant
 * @param {string} [name] of the field
 * @returns {any}
 */
export function sample(schema, variant, name = "") {
  if (schema.enum !== undefined) {
    const values = schema.enum.filter((value) => value !== "");
    return values[variant % values.length];
  }
  if (schema["x-kubernetes-int-or-string"]) return ["1", "2"][variant];
  if (schema.additionalProperties !== undefined) return { key: sample(schema.additionalProperties, variant) };
  if (schema.items !== undefined) return [sample(schema.items, variant)];
  if (schema.properties !== undefined) {
    const names = schema.required ?? Object.keys(schema.properties).slice(0, 1);
    return Object.fromEntries(names.map((name) => [name, sample(schema.properties[name], variant, name)]));
  }
  if (schema.type === "boolean") return variant === 0;
  if (schema.type === "integer") return Math.max(schema.minimum ?? 0, 10) + variant;
  if (schema.format === "date-time") return `2027-01-0${variant + 1}T00:00:00Z`;
  if (schema.format === "byte") return ["YQ==", "Yg=="][variant];
  // The only string that upstream's types parse.
  if (name === "token") return [`${"a".repeat(6)}.${"a".repeat(16)}`, `${"b".repeat(6)}.${"b".repeat(16)}`][variant];
  return ["a", "b"][variant];
}

/** Everything that can be set, set. */
export function fullSample(schema, variant, name = "") {
  if (schema.properties !== undefined)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, fullSample(property, variant, name)]),
    );
  if (schema.items !== undefined) return [fullSample(schema.items, variant)];
  return sample(schema, variant, name);
}

/**
 * A copy of an object with the field at a dotted path set, or removed if the value is undefined.
 * @template T
 * @param {T} object
 * @param {string} path
 * @param {unknown} value
 * @returns {T}
 */
export function withField(object, path, value) {
  const copy = structuredClone(object);
  const names = path.split(".");
  const last = names.pop() ?? "";
  let at = /** @type {any} */ (copy);
  for (const name of names) {
    if (value === ABSENT && at[name] === undefined) return copy;
    at = at[name] ??= {};
  }
  if (value === ABSENT) delete at[last];
  else at[last] = structuredClone(value);
  return copy;
}
