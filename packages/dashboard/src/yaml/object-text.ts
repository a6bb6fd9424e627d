import { toYaml, type Unstructured } from "@capstan/apimachinery";

/** Server-side fields that are of no use when editing. */
const HIDDEN = ["managedFields", "selfLink"];

/** Renders an object as YAML for reading and editing. */
export function objectText(object: Unstructured): string {
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([key]) => !HIDDEN.includes(key)));
  return toYaml(inReadingOrder({ ...object, metadata }));
}

/** Renders two states of an object so that their diff shows neither reordered fields nor fields that the server sets. */
export function comparableTexts(before: Unstructured, after: Unstructured): { before: string; after: string } {
  const old = comparable(before);
  return { before: toYaml(old), after: toYaml(ordered(comparable(after), old)) };
}

function comparable(object: Unstructured): Unstructured {
  const { resourceVersion: _, generation: __, managedFields: ___, ...metadata } = object.metadata;
  const { status: ____, ...rest } = object;
  return inReadingOrder({ ...rest, metadata });
}

/** The same value with its fields in the order of another one; new fields come last. */
function ordered(value: unknown, like: unknown): unknown {
  if (Array.isArray(value)) {
    const models: unknown[] = Array.isArray(like) ? like : [];
    return value.map((entry, at) => ordered(entry, models[at]));
  }
  if (!isRecord(value)) return value;
  const model = isRecord(like) ? like : {};
  const keys = [
    ...Object.keys(model).filter((key) => Object.hasOwn(value, key)),
    ...Object.keys(value).filter((key) => !Object.hasOwn(model, key)),
  ];
  return Object.fromEntries(keys.map((key) => [key, ordered(value[key], model[key])]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Puts the fields that users change before those that controllers report, whatever order the API uses. */
function inReadingOrder(object: Unstructured): Unstructured {
  const { apiVersion, kind, metadata, status, ...rest } = object;
  return { apiVersion, kind, metadata, ...rest, ...(status === undefined ? {} : { status }) };
}
