import { deepFreeze, type JSONSchemaProps } from "@capstan/apimachinery";
import { DEFINITIONS } from "./generated/schemas.ts";

/** A recorded definition: a schema whose `$ref` is the plain name of another definition. */
export type Definition = JSONSchemaProps;

const parsed = new Map<string, Definition>();
const expanded = new Map<string, JSONSchemaProps>();

const OPEN: JSONSchemaProps = deepFreeze({ type: "object", "x-kubernetes-preserve-unknown-fields": true });

/** Definitions whose published form is not precise enough for validation, pruning and field ownership. */
const SPECIAL: Readonly<Record<string, JSONSchemaProps>> = deepFreeze({
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { "x-kubernetes-int-or-string": true },
  // A quantity may be written as any number: `cpu: 0.5`.
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { "x-kubernetes-preserve-unknown-fields": true },
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": OPEN,
  // Six decimals, no more and no less.
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": { type: "string", format: "micro-time" },
  "io.k8s.apimachinery.pkg.runtime.RawExtension": OPEN,
});

/** The recorded definition, parsed on first use and shared by all servers of the process; undefined if not recorded. */
export function definition(name: string): Definition | undefined {
  let value = parsed.get(name);
  if (value === undefined && Object.hasOwn(DEFINITIONS, name)) {
    value = deepFreeze(JSON.parse(DEFINITIONS[name] ?? "{}") as Definition);
    parsed.set(name, value);
  }
  return value;
}

/** The definition with all references replaced. Equal parts are the same frozen object, so that a process holds each once. */
export function expandedDefinition(name: string): JSONSchemaProps {
  return expandNamed(name, []);
}

function expandNamed(name: string, above: readonly string[]): JSONSchemaProps {
  const special = SPECIAL[name];
  if (special !== undefined) return special;
  // JSONSchemaProps holds itself: below its first occurrence anything is allowed.
  if (above.includes(name)) return OPEN;
  const known = expanded.get(name);
  if (known !== undefined) return known;
  const source = definition(name);
  if (source === undefined) throw new Error(`no recorded definition ${name}: run tools/record-openapi/record.mjs`);
  const value = deepFreeze(expand(source, [...above, name]));
  expanded.set(name, value);
  return value;
}

function expand(schema: JSONSchemaProps, above: readonly string[]): JSONSchemaProps {
  const { $ref, properties, items, additionalProperties, ...rest } = schema;
  const base = $ref === undefined ? {} : expandNamed($ref, above);
  if ($ref !== undefined && Object.keys(schema).length === 1) return base;
  return {
    ...base,
    ...rest,
    ...(properties === undefined ? {} : { properties: mapValues(properties, (p) => expand(p, above)) }),
    ...(items === undefined ? {} : { items: expand(items, above) }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: expand(additionalProperties, above) }
      : additionalProperties === undefined
        ? {}
        : { additionalProperties }),
  };
}

function mapValues<A, B>(values: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}

const PACKAGES: Readonly<Record<string, string>> = {
  "": "io.k8s.api.core",
  "apiextensions.k8s.io": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
  "apiregistration.k8s.io": "io.k8s.kube-aggregator.pkg.apis.apiregistration",
};

/** Name of the definition of a built-in kind: the Go package backwards, as Kubernetes publishes it. */
export function definitionName(group: string, version: string, kind: string): string {
  return `${PACKAGES[group] ?? `io.k8s.api.${group.split(".")[0]}`}.${version}.${kind}`;
}

/** The full schema of a recorded built-in kind, also of those without a type here (reviews, Scale, CustomResourceDefinition). */
export function builtinSchema(group: string, version: string, kind: string): JSONSchemaProps {
  return expandedDefinition(definitionName(group, version, kind));
}
