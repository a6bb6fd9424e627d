import {
  deepCopy,
  formatDuration,
  isObject,
  type JSONSchemaProps,
  type JsonObject,
  parseDuration,
} from "@capstan/apimachinery";
import type { Codec, ConversionContext, Rule } from "./rules.ts";
import { deriveSchema } from "./spoke-schema.ts";
import { canonicalize, mapObjects, transformDown, transformUp } from "./transform.ts";

/** Go's notation without a sign: timeouts are never negative. */
const DURATION = "^(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";
const MAX_INT32 = 2 ** 31 - 1;

function milliseconds(text: unknown): number | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return parseDuration(text);
  } catch {
    return undefined;
  }
}

/** `1m30s` in v1beta1, 90 in v1beta2; parts of seconds are cut off. */
export const duration: Codec = {
  up: (old) => {
    const ms = milliseconds(old);
    return ms === undefined ? undefined : Math.min(Math.max(Math.trunc(ms / 1000), 0), MAX_INT32);
  },
  down: (seconds) => (typeof seconds === "number" ? formatDuration(seconds * 1000) : undefined),
  canonical: (old) => {
    const ms = milliseconds(old);
    return ms === undefined ? old : formatDuration(ms);
  },
  schema: () => ({ type: "string", pattern: DURATION, maxLength: 64 }),
};

const text: JSONSchemaProps = { type: "string" };
/** The schema of corev1.ObjectReference. */
export const OBJECT_REFERENCE: JSONSchemaProps = {
  type: "object",
  properties: {
    apiVersion: text,
    fieldPath: text,
    kind: text,
    name: text,
    namespace: text,
    resourceVersion: text,
    uid: text,
  },
  "x-kubernetes-map-type": "atomic",
};

function withNamespace(old: unknown, { namespace }: ConversionContext): unknown {
  return isObject(old) && old["namespace"] === undefined && namespace !== undefined ? { ...old, namespace } : old;
}

/** corev1.ObjectReference in v1beta1, a reference by group in v1beta2. */
export const reference: Codec = {
  up: (old) => {
    if (!isObject(old)) return undefined;
    const { apiVersion, kind, name } = old;
    const apiGroup = typeof apiVersion === "string" && apiVersion.includes("/") ? apiVersion.split("/")[0] : undefined;
    return defined({ apiGroup, kind, name });
  },
  down: (value, context) => {
    if (!isObject(value)) return undefined;
    const { apiGroup, kind, name } = value;
    const apiVersion =
      typeof apiGroup === "string" && typeof kind === "string" ? context.apiVersionOf(apiGroup, kind) : undefined;
    return defined({ apiVersion, kind, name, namespace: context.namespace });
  },
  canonical: withNamespace,
  schema: () => OBJECT_REFERENCE,
};

/** corev1.ObjectReference in v1beta1, a reference with version in v1beta2. */
export const versionedReference: Codec = {
  up: (old) =>
    isObject(old) ? defined({ apiVersion: old["apiVersion"], kind: old["kind"], name: old["name"] }) : undefined,
  down: (value, { namespace }) =>
    isObject(value)
      ? defined({ apiVersion: value["apiVersion"], kind: value["kind"], name: value["name"], namespace })
      : undefined,
  canonical: withNamespace,
  schema: () => OBJECT_REFERENCE,
};

/** corev1.ObjectReference in v1beta1, the Node's name in v1beta2. */
export const nodeReference: Codec = {
  up: (old) => (isObject(old) ? defined({ name: old["name"] }) : undefined),
  down: (value) => (isObject(value) ? defined({ apiVersion: "v1", kind: "Node", name: value["name"] }) : undefined),
  canonical: (old) => (isObject(old) ? { apiVersion: "v1", kind: "Node", ...old } : old),
  schema: () => OBJECT_REFERENCE,
};

/** A text that v1beta1 lets be empty. */
export const emptyText: Codec = {
  up: (old) => old,
  down: (value) => value,
  schema: (json) => {
    const { minLength: _, ...rest } = json;
    return rest;
  },
};

/** A map by name in v1beta1, a list of objects with `name` in v1beta2. `value`: the one field the objects have. */
export function mapToList(value?: string): Codec {
  return {
    up: (old) => {
      if (!isObject(old)) return undefined;
      return Object.keys(old)
        .sort()
        .map((name) => (value === undefined ? { name, ...objectOf(old[name]) } : { name, [value]: old[name] }));
    },
    down: (list) => {
      if (!Array.isArray(list)) return undefined;
      return Object.fromEntries(
        list.filter(isObject).map(({ name, ...rest }) => [String(name), value === undefined ? rest : rest[value]]),
      );
    },
    schema: (json) => {
      const { items } = json;
      const { name: _, ...properties } = (items as JSONSchemaProps | undefined)?.properties ?? {};
      const only = value === undefined ? undefined : properties[value];
      return { type: "object", additionalProperties: only ?? { type: "object", properties } };
    },
  };
}

/** A list of objects whose fields differ. */
export function list(rules: readonly Rule[]): Codec {
  return {
    up: (old, context) => mapObjects(old, (item) => transformUp(item, rules, context)),
    down: (value, context) => mapObjects(value, (item) => transformDown(item, rules, context)),
    canonical: (old, context) => mapObjects(old, (item) => canonicalCopy(item, rules, context)),
    schema: (json) => ({ ...json, items: deriveSchema(json.items ?? {}, rules) }),
  };
}

function canonicalCopy(old: JsonObject, rules: readonly Rule[], context: ConversionContext): JsonObject {
  const copy = deepCopy(old);
  canonicalize(copy, rules, context);
  return copy;
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
