import type { JSONSchemaProps } from "@capstan/apimachinery";

/** What of a CustomResourceDefinition is compared. */
export interface Crd {
  metadata: { name: string; labels?: Record<string, string> };
  spec: {
    group: string;
    scope: string;
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames?: string[];
      categories?: string[];
    };
    versions: CrdVersion[];
  };
}

interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  schema: { openAPIV3Schema: JSONSchemaProps };
  subresources?: object;
  additionalPrinterColumns?: { name: string; type: string; jsonPath: string; priority?: number }[];
  selectableFields?: { jsonPath: string }[];
}

/** Each difference as one line: `VERSION PATH FACT: THEIRS, ours OURS`. */
export function crdDifferences(theirs: Crd, ours: Crd): string[] {
  const lines: string[] = [];
  const note = (what: string, their: unknown, our: unknown): void => {
    if (text(their) !== text(our)) lines.push(`${what}: ${text(their)}, ours ${text(our)}`);
  };
  note("names", sorted(theirs.spec.names), sorted(ours.spec.names));
  note("scope", theirs.spec.scope, ours.spec.scope);
  const served = theirs.spec.versions.filter((version) => version.served);
  for (const their of served) {
    const our = ours.spec.versions.find(({ name }) => name === their.name);
    if (our === undefined) lines.push(`${their.name}: not served by ours`);
    else versionDifferences(their, our, (what, a, b) => note(`${their.name} ${what}`, a, b));
  }
  return lines;
}

function versionDifferences(their: CrdVersion, our: CrdVersion, note: (what: string, a: unknown, b: unknown) => void) {
  note("storage", their.storage, our.storage);
  note("deprecated", their.deprecated ?? false, our.deprecated ?? false);
  note("subresources", sorted(their.subresources ?? {}), sorted(our.subresources ?? {}));
  note("selectableFields", their.selectableFields, our.selectableFields);
  const columns = ({ additionalPrinterColumns: all = [] }: CrdVersion): string[] =>
    all.map(({ name, type, jsonPath, priority = 0 }) => [name, type, jsonPath, priority].join(" | "));
  note("columns", columns(their), columns(our));
  const [a, b] = [fieldsOf(their.schema.openAPIV3Schema), fieldsOf(our.schema.openAPIV3Schema)];
  for (const path of new Set([...a.keys(), ...b.keys()])) {
    const [facts, others] = [a.get(path), b.get(path)];
    if (facts === undefined || others === undefined) {
      note(`${path} field`, facts !== undefined, others !== undefined);
      continue;
    }
    for (const fact of new Set([...Object.keys(facts), ...Object.keys(others)]))
      note(`${path} ${fact}`, facts[fact], others[fact]);
  }
}

/** What a schema says of each field, by path; without words for people, and without what is so anyway. */
function fieldsOf(schema: JSONSchemaProps, path = "", into = new Map<string, Record<string, unknown>>()) {
  const { properties, items, additionalProperties, description: _, ...rest } = schema;
  const facts: Record<string, unknown> = { ...rest };
  if (facts["x-kubernetes-list-type"] === "atomic") delete facts["x-kubernetes-list-type"];
  for (const least of ["minLength", "minItems"]) if (facts[least] === 0) delete facts[least];
  if (schema.required !== undefined) facts["required"] = schema.required.toSorted();
  const rules = schema["x-kubernetes-validations"];
  if (rules !== undefined) facts["x-kubernetes-validations"] = rules.map(sorted).map(text).toSorted();
  into.set(path, facts);
  for (const [name, field] of Object.entries(properties ?? {})) fieldsOf(field, `${path}.${name}`, into);
  if (items !== undefined) fieldsOf(items, `${path}[]`, into);
  if (typeof additionalProperties === "object") fieldsOf(additionalProperties, `${path}{}`, into);
  return into;
}

function sorted(value: object): object {
  return Object.fromEntries(
    Object.entries(value)
      .map(
        ([key, item]) =>
          [key, typeof item === "object" && !Array.isArray(item) ? sorted(item as object) : item] as const,
      )
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function text(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
