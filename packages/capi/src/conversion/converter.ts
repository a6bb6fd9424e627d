import {
  deepCopy,
  deepEqual,
  isObject,
  type JSONSchemaProps,
  type JsonObject,
  stableStringify,
  type Unstructured,
} from "@capstan/apimachinery";
import { fit } from "./fit.ts";
import type { ConversionContext, Rule } from "./rules.ts";
import { threeWay } from "./three-way.ts";
import { canonicalize, transformDown, transformUp } from "./transform.ts";

/** Annotation with the fields that the other version lacks, under upstream's name. */
export const CONVERSION_DATA_ANNOTATION = "cluster.x-k8s.io/conversion-data";

/** The parts of an object that conversion is about. */
const PARTS = ["spec", "status"];

/** How references get a version by default: Cluster API's own groups all serve v1beta1. */
export const DEFAULT_API_VERSION = (group: string): string => `${group}/v1beta1`;

/** Converts one kind between an old version and the stored one, without loss in either direction. */
export interface SpokeConverter {
  toStored(object: Unstructured, apiVersion: string, apiVersionOf?: ConversionContext["apiVersionOf"]): Unstructured;
  fromStored(object: Unstructured, apiVersion: string, apiVersionOf?: ConversionContext["apiVersionOf"]): Unstructured;
}

/** A converter from the list of differences. */
export function spokeConverter(rules: readonly Rule[], stored: JSONSchemaProps, old: JSONSchemaProps): SpokeConverter {
  const up = (body: JsonObject, context: ConversionContext): JsonObject => {
    const converted = transformUp(body, rules, context);
    fit(converted, stored);
    return converted;
  };
  const down = (body: JsonObject, context: ConversionContext): JsonObject => {
    const converted = transformDown(body, rules, context);
    fit(converted, old);
    return converted;
  };
  const same = (body: JsonObject): JsonObject => body;
  const canonical = (body: JsonObject, context: ConversionContext): JsonObject => {
    const copy = deepCopy(body);
    canonicalize(copy, rules, context);
    return copy;
  };
  return {
    toStored: (object, apiVersion, apiVersionOf) =>
      convert(object, apiVersion, contextOf(object, apiVersionOf), { there: up, back: down, canonical }),
    fromStored: (object, apiVersion, apiVersionOf) =>
      convert(object, apiVersion, contextOf(object, apiVersionOf), { there: down, back: up, canonical: same }),
  };
}

interface Direction {
  there(body: JsonObject, context: ConversionContext): JsonObject;
  back(body: JsonObject, context: ConversionContext): JsonObject;
  canonical(body: JsonObject, context: ConversionContext): JsonObject;
}

function convert(object: Unstructured, apiVersion: string, context: ConversionContext, way: Direction): Unstructured {
  const body = way.canonical(partsOf(object), context);
  const direct = way.there(body, context);
  const saved = savedOf(object);
  const result = saved === undefined ? direct : restored(saved, direct, context, way);
  const complete = deepEqual(way.back(result, context), body);
  return { apiVersion, kind: object.kind, metadata: metadataOf(object, complete ? undefined : body), ...result };
}

/** Merges the saved object of the target version with the changes made since in the other version. */
function restored(saved: JsonObject, direct: JsonObject, context: ConversionContext, way: Direction): JsonObject {
  const base = way.there(way.back(saved, context), context);
  const merged = threeWay(saved, base, direct);
  return isObject(merged) ? merged : direct;
}

function partsOf(object: JsonObject): JsonObject {
  return Object.fromEntries(PARTS.filter((part) => object[part] !== undefined).map((part) => [part, object[part]]));
}

/** Users may write anything into the annotation: a value that is not an object counts as absent. */
function savedOf(object: Unstructured): JsonObject | undefined {
  const text = object.metadata.annotations?.[CONVERSION_DATA_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) && PARTS.every((part) => parsed[part] === undefined || isObject(parsed[part]))
      ? partsOf(parsed)
      : undefined;
  } catch {
    return undefined;
  }
}

function metadataOf(object: Unstructured, lost: JsonObject | undefined): Unstructured["metadata"] {
  const { annotations: before, ...metadata } = object.metadata;
  const { [CONVERSION_DATA_ANNOTATION]: _, ...annotations } = before ?? {};
  if (lost !== undefined) annotations[CONVERSION_DATA_ANNOTATION] = stableStringify(lost);
  return Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations };
}

function contextOf(object: Unstructured, apiVersionOf?: ConversionContext["apiVersionOf"]): ConversionContext {
  return { namespace: object.metadata.namespace, apiVersionOf: apiVersionOf ?? DEFAULT_API_VERSION };
}
