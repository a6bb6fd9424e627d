import { isObject, type JSONSchemaProps, type Unstructured } from "@capstan/apimachinery";
import type { AdmissionProblem } from "../schema/kind.ts";
import { foreignDetail, namedTarget, resolveReference } from "./resolve.ts";

/** A step on the way to a reference: a field, or every item of a list or map. */
type Step = { readonly field: string } | "each";

/** The way from an object to one of its references. */
type Path = readonly Step[];

const known = new WeakMap<JSONSchemaProps, readonly Path[]>();

/** The fields of a schema that can name an object of another namespace: those with a name and a namespace. Status is not written by users. */
export function referenceFields(schema: JSONSchemaProps): readonly Path[] {
  let found = known.get(schema);
  if (found === undefined) {
    const { spec } = schema.properties ?? {};
    found = spec === undefined ? [] : pathsIn(spec, [{ field: "spec" }]);
    known.set(schema, found);
  }
  return found;
}

function pathsIn(schema: JSONSchemaProps, at: Path): Path[] {
  const properties = schema.properties ?? {};
  const items = [schema.items, schema.additionalProperties].filter(isObject) as JSONSchemaProps[];
  return [
    ...(isText(properties["name"]) && isText(properties["namespace"]) ? [at] : []),
    ...Object.entries(properties).flatMap(([field, inner]) => pathsIn(inner, [...at, { field }])),
    ...items.flatMap((inner) => pathsIn(inner, [...at, "each"])),
  ];
}

function isText(schema: JSONSchemaProps | undefined): boolean {
  return schema?.type === "string";
}

interface FoundReference {
  readonly field: string;
  readonly reference: { readonly name?: string; readonly namespace?: string };
}

/** The references that an object holds, with where they are. */
function referencesOf(object: Unstructured, schema: JSONSchemaProps): FoundReference[] {
  return referenceFields(schema).flatMap((path) => valuesAt(object, path, ""));
}

function valuesAt(value: unknown, path: Path, at: string): FoundReference[] {
  const [step, ...rest] = path;
  if (step === undefined) return isObject(value) ? [{ field: at, reference: textsOf(value) }] : [];
  if (step !== "each")
    return isObject(value) ? valuesAt(value[step.field], rest, at === "" ? step.field : `${at}.${step.field}`) : [];
  const items = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return items.flatMap(([key, item]) => valuesAt(item, rest, `${at}[${key}]`));
}

function textsOf({ name, namespace }: Record<string, unknown>): FoundReference["reference"] {
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof namespace === "string" ? { namespace } : {}),
  };
}

/**
 * The references of an object to other namespaces. `granted`: fields whose contract allows that; their kind checks the
 * grant. Existing ones stay acceptable, so that objects of earlier versions can be changed: no controller follows them.
 */
export function foreignReferenceProblems(
  object: Unstructured,
  old: Unstructured | undefined,
  schema: JSONSchemaProps,
  granted: readonly string[] = [],
): AdmissionProblem[] {
  if (object.metadata.namespace === undefined) return [];
  const before = new Set(
    old?.apiVersion === object.apiVersion ? referencesOf(old, schema).map((found) => JSON.stringify(found)) : [],
  );
  return referencesOf(object, schema).flatMap((found): AdmissionProblem[] => {
    const { field, reference } = found;
    if (granted.includes(field) || before.has(JSON.stringify(found))) return [];
    if (!("problem" in resolveReference(object, reference, field))) return [];
    const detail = foreignDetail(namedTarget(object, reference));
    return [{ type: "FieldValueInvalid", field: `${field}.namespace`, value: reference.namespace, detail }];
  });
}
