import type { JSONSchemaProps, Unstructured } from "@capstan/apimachinery";
import type {
  PrinterColumn,
  ResourceRegistry,
  ResourceType,
  Strategy,
  SubresourceHandler,
  SubresourceType,
  Verb,
} from "../types.ts";
import { builtinSchema } from "./definitions.ts";

/** All verbs of a normal resource, in the order discovery prints them. */
export const ALL_VERBS: readonly Verb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** What differs between built-in kinds; everything else follows from it. */
export interface BuiltinSpec {
  group: string;
  /** Default: v1. */
  version?: string;
  kind: string;
  /** Default: lower-case kind plus "s". */
  plural?: string;
  singular?: string;
  shortNames?: readonly string[];
  categories?: readonly string[];
  namespaced: boolean;
  verbs?: readonly Verb[];
  status?: boolean;
  scale?: ResourceType["scale"];
  subresources?: readonly SubresourceType[];
  columns: readonly PrinterColumn[];
  fieldSelectors?: ResourceType["fieldSelectors"];
  strategy: Partial<Strategy>;
  createWarning?: string;
  storedAs?: ResourceType["storedAs"];
  derived?: (registry: ResourceRegistry) => readonly Unstructured[];
}

/** A built-in resource type. Its schema is expanded on first access. */
export function defineBuiltin(spec: BuiltinSpec): ResourceType {
  const { group, kind, version = "v1" } = spec;
  const singular = spec.singular ?? kind.toLowerCase();
  return Object.freeze({
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural: spec.plural ?? `${singular}s`,
    singular,
    shortNames: spec.shortNames ?? [],
    categories: spec.categories ?? [],
    namespaced: spec.namespaced,
    verbs: spec.verbs ?? ALL_VERBS,
    builtin: true,
    storageVersion: version,
    get schema(): JSONSchemaProps {
      return builtinSchema(group, version, kind);
    },
    status: spec.status ?? false,
    scale: spec.scale,
    subresources: spec.subresources ?? [],
    columns: spec.columns,
    fieldSelectors: spec.fieldSelectors ?? {},
    strategy: { allowCreateOnUpdate: false, allowUnconditionalUpdate: true, ...spec.strategy },
    createWarning: spec.createWarning,
    strategicMerge: true,
    storedAs: spec.storedAs,
    derived: spec.derived,
  });
}

const bodyTypes = new WeakMap<SubresourceType, ResourceType>();

/** The type of what is posted to a subresource with a kind of its own (TokenRequest, Eviction). */
export function bodyType(type: ResourceType, subresource: SubresourceType): ResourceType {
  let made = bodyTypes.get(subresource);
  if (made === undefined) {
    const { group = type.group, kind } = subresource;
    made = defineBuiltin({ group, kind, namespaced: type.namespaced, columns: [], strategy: {} });
    bodyTypes.set(subresource, made);
  }
  return made;
}

/** The same type with a handler for one of its subresources; the schema stays unexpanded. */
export function withSubresource(type: ResourceType, name: string, handle: SubresourceHandler): ResourceType {
  const subresources = type.subresources.map((s) => (s.name === name ? { ...s, handle } : s));
  return Object.create(Object.getPrototypeOf(type), {
    ...Object.getOwnPropertyDescriptors(type),
    subresources: { value: subresources, enumerable: true },
  }) as ResourceType;
}
