import {
  checkStructuralSchema,
  deepEqual,
  type FieldError,
  invalidValue,
  isDns1035Label,
  isDns1123Subdomain,
  isObject,
  type JSONSchemaProps,
  notSupported,
  required,
  structuralSteps,
} from "@capstan/apimachinery";
import { inSteps } from "../long-work.ts";
import { approvalOf, isProtectedGroup } from "./crd-names.ts";
import { type CrdNames, type CrdVersion, type CustomResourceDefinition, isConditionTrue } from "./crd-object.ts";
import { validateConversion } from "./crd-validation-conversion.ts";
import { validateColumns, validateScale, validateSelectableFields } from "./crd-validation-version.ts";
import { schemaHash } from "./schema-hash.ts";

/** All rules for a new CRD. */
export function validateCrd(crd: CustomResourceDefinition): FieldError[] {
  const whole = completed(crd);
  const { spec, metadata } = whole;
  const errors: FieldError[] = [];
  if (metadata.name !== `${spec.names.plural ?? ""}.${spec.group ?? ""}`) {
    errors.push(invalidValue("metadata.name", metadata.name ?? "", 'must be spec.names.plural+"."+spec.group'));
  }
  errors.push(...validateSpec(whole, undefined), ...validateApproval(whole), ...validateStoredVersions(whole));
  return errors;
}

/** The CRD with empty parts where the body has none, so that each rule can speak for itself. */
function completed(crd: CustomResourceDefinition): CustomResourceDefinition {
  const spec: Partial<CustomResourceDefinition["spec"]> = isObject(crd.spec) ? crd.spec : {};
  if (isObject(crd.spec) && Array.isArray(spec.versions) && isObject(spec.names)) return crd;
  const names = isObject(spec.names) ? spec.names : {};
  return { ...crd, spec: { ...spec, names, versions: spec.versions ?? [] } as CustomResourceDefinition["spec"] };
}

/** Rules for a changed CRD: what was valid before must not be made worse, and identities do not change. */
export function validateCrdUpdate(
  crd: CustomResourceDefinition,
  old: CustomResourceDefinition,
  subresource: string,
): FieldError[] {
  if (subresource === "status") return [];
  const whole = completed(crd);
  const errors = validateSpec(whole, old);
  const immutable = (path: string, now: unknown, before: unknown): void => {
    if (!deepEqual(now, before)) errors.push(invalidValue(path, now, "field is immutable"));
  };
  if (isConditionTrue(old, "Established")) {
    immutable("spec.scope", whole.spec.scope, old.spec.scope);
    immutable("spec.names.kind", whole.spec.names.kind, old.spec.names.kind);
  }
  immutable("spec.group", whole.spec.group, old.spec.group);
  immutable("spec.names.plural", whole.spec.names.plural, old.spec.names.plural);
  errors.push(...validateStoredVersions(whole));
  if (approvalOf(old) === "approved" || approvalOf(old) === "unapproved") errors.push(...validateApproval(crd));
  return errors;
}

function validateSpec(crd: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  const { spec } = crd;
  const errors: FieldError[] = [];
  if (!spec.group) errors.push(required("spec.group"));
  else {
    const strange = isDns1123Subdomain(spec.group);
    errors.push(...strange.map((m) => invalidValue("spec.group", spec.group, m)));
    if (strange.length === 0 && !spec.group.includes("."))
      errors.push(invalidValue("spec.group", spec.group, "should be a domain with at least one dot"));
  }
  errors.push(...validateScope(spec.scope));
  errors.push(...validateVersions(crd, old));
  errors.push(...validateNames(spec.names));
  if (spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true) {
    const path = "spec.preserveUnknownFields";
    if (spec.versions.some((v) => hasDefault(v.schema?.openAPIV3Schema))) {
      errors.push(invalidValue(path, true, "must be false in order to use defaults in the schema"));
    }
    const cure =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    errors.push(invalidValue(path, true, cure));
  }
  errors.push(...validateConversion(spec.conversion, "spec.conversion"));
  return errors;
}

/** Whether a schema sets a default anywhere below its properties and items. */
function hasDefault(schema: JSONSchemaProps | undefined): boolean {
  if (schema === undefined) return false;
  if (schema.default !== undefined || hasDefault(schema.items)) return true;
  const { additionalProperties } = schema;
  if (typeof additionalProperties === "object" && hasDefault(additionalProperties)) return true;
  return Object.values(schema.properties ?? {}).some(hasDefault);
}

function validateScope(scope: string | undefined): FieldError[] {
  if (!scope) return [required("spec.scope")];
  return scope === "Cluster" || scope === "Namespaced"
    ? []
    : [notSupported("spec.scope", scope, ["Cluster", "Namespaced"])];
}

function validateVersions(crd: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  const { versions } = crd.spec;
  const errors: FieldError[] = [];
  const shared = shareSchema(versions);
  const names = new Set<string>();
  versions.forEach((version, i) => {
    const path = `spec.versions[${i}]`;
    names.add(version.name);
    const strange = isDns1035Label(version.name ?? "");
    errors.push(...strange.map((m) => invalidValue(`${path}.name`, version.name, m)));
    const schemaPath = schemaPathOf(i, shared);
    if (!shared || i === 0) errors.push(...validateSchema(version, old, schemaPath, path));
    errors.push(...validateVersionParts(version, path, versions.length === 1));
  });
  if (names.size !== versions.length)
    errors.push(invalidValue("spec.versions", versions, "must contain unique version names"));
  // The first version is also the deprecated field spec.version inside upstream.
  const [first] = versions;
  if (first !== undefined)
    errors.push(...isDns1035Label(first.name ?? "").map((m) => invalidValue("spec.version", first.name, m)));
  const storage = versions.filter((v) => v.storage).length;
  if (storage !== 1)
    errors.push(invalidValue("spec.versions", versions, "must have exactly one version marked as storage version"));
  return errors;
}

function validateSchema(
  version: CrdVersion,
  old: CustomResourceDefinition | undefined,
  schemaPath: string,
  path: string,
): FieldError[] {
  const schema = version.schema?.openAPIV3Schema;
  if (schema === undefined) return [required(`${path}.schema.openAPIV3Schema`)];
  const root =
    version.subresources?.status !== undefined && schema.type !== "object" && schema.type !== undefined
      ? [
          invalidValue(
            `${schemaPath}.type`,
            schema.type,
            'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
          ),
        ]
      : [];
  return isKnown(version, old)
    ? root
    : [...root, ...(judged.get(schema)?.get(schemaPath) ?? structuralErrors(schema, schemaPath))];
}

/** Texts' hashes of schemas that were found to be in order: many servers of a process have the same kinds. */
const sound = new Set<string>();
const MAX_SOUND = 2000;

function structuralErrors(schema: JSONSchemaProps, path: string): FieldError[] {
  const hash = schemaHash(schema);
  if (sound.has(hash)) return [];
  const errors = checkStructuralSchema(schema, path);
  if (sound.size >= MAX_SOUND) sound.clear();
  if (errors.length === 0) sound.add(hash);
  return errors;
}

/** A schema that is stored already is not judged again by newer rules. */
function isKnown(version: CrdVersion, old: CustomResourceDefinition | undefined): boolean {
  const before = old?.spec.versions.find((v) => v.name === version.name)?.schema?.openAPIV3Schema;
  return before !== undefined && deepEqual(before, version.schema?.openAPIV3Schema);
}

/** What judgeSchemas found, by schema and by its path. */
const judged = new WeakMap<JSONSchemaProps, Map<string, FieldError[]>>();

/** Judges the schemas of a large CRD in pieces; validateCrd finds the outcome. */
export async function judgeSchemas(
  crd: CustomResourceDefinition,
  pause: () => Promise<void>,
  old?: CustomResourceDefinition,
): Promise<void> {
  const { versions } = completed(crd).spec;
  if (!Array.isArray(versions)) return;
  const shared = shareSchema(versions);
  for (const [i, version] of versions.entries()) {
    const schema = version.schema?.openAPIV3Schema;
    if (!isObject(schema) || (shared && i > 0) || isKnown(version, old)) continue;
    const path = schemaPathOf(i, shared);
    const errors = await inSteps(structuralSteps(schema, path), pause);
    judged.set(schema, new Map([[path, errors]]));
    await pause();
  }
}

/** Upstream moves what all versions share to the top, and its errors point there. */
function shareSchema(versions: readonly CrdVersion[]): boolean {
  return versions.every((v) => deepEqual(v.schema, versions[0]?.schema));
}

function schemaPathOf(index: number, shared: boolean): string {
  return shared ? "spec.validation.openAPIV3Schema" : `spec.versions[${index}].schema.openAPIV3Schema`;
}

function validateVersionParts(version: CrdVersion, path: string, only: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const prefix = only ? "spec" : path;
  if (version.deprecationWarning !== undefined && version.deprecated !== true) {
    errors.push(
      invalidValue(`${path}.deprecationWarning`, version.deprecationWarning, "can only be set for deprecated versions"),
    );
  }
  if (version.subresources?.scale !== undefined)
    errors.push(...validateScale(version.subresources.scale, `${prefix}.subresources.scale`));
  errors.push(...validateColumns(version.additionalPrinterColumns ?? [], `${prefix}.additionalPrinterColumns`));
  errors.push(
    ...validateSelectableFields(
      version.selectableFields ?? [],
      version.schema?.openAPIV3Schema,
      `${prefix}.selectableFields`,
    ),
  );
  return errors;
}

function validateNames(names: CrdNames): FieldError[] {
  const errors: FieldError[] = [];
  const label = (path: string, value: string | undefined, needed: boolean): void => {
    if (value === undefined || value === "") {
      if (needed) errors.push(required(path));
      return;
    }
    const mixed = (m: string): string => `may have mixed case, but should otherwise match: ${m}`;
    errors.push(...isDns1035Label(value.toLowerCase()).map((m) => invalidValue(path, value, mixed(m))));
  };
  const exact = (path: string, value: string): void => {
    errors.push(...isDns1035Label(value).map((m) => invalidValue(path, value, m)));
  };
  if (!names.plural) errors.push(required("spec.names.plural"));
  else exact("spec.names.plural", names.plural);
  if (!names.singular) errors.push(required("spec.names.singular"));
  else exact("spec.names.singular", names.singular);
  label("spec.names.kind", names.kind, true);
  (names.shortNames ?? []).forEach((name, i) => exact(`spec.names.shortNames[${i}]`, name));
  label("spec.names.listKind", names.listKind, true);
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalidValue("spec.names.listKind", names.listKind, "kind and listKind may not be the same"));
  }
  (names.categories ?? []).forEach((name, i) => exact(`spec.names.categories[${i}]`, name));
  return errors;
}

function validateStoredVersions(crd: CustomResourceDefinition): FieldError[] {
  const path = "status.storedVersions";
  const stored = crd.status?.storedVersions ?? [];
  if (stored.length === 0) return [invalidValue(path, null, "must have at least one stored version")];
  const names = new Set(crd.spec.versions.map((v) => v.name));
  const errors = stored.flatMap((name, i) =>
    names.has(name)
      ? []
      : [
          invalidValue(
            `${path}[${i}]`,
            name,
            `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
          ),
        ],
  );
  for (const version of crd.spec.versions) {
    if (version.storage && !stored.includes(version.name)) {
      errors.push(invalidValue(path, stored, `must have the storage version ${version.name}`));
    }
  }
  return errors;
}

function validateApproval(crd: CustomResourceDefinition): FieldError[] {
  if (!isProtectedGroup(crd.spec.group)) return [];
  const path = "metadata.annotations[api-approved.kubernetes.io]";
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  switch (approvalOf(crd)) {
    case "missing":
      return [required(path, `protected groups must have approval annotation "api-approved.kubernetes.io", ${see}`)];
    case "invalid":
      return [
        invalidValue(
          path,
          crd.metadata.annotations?.["api-approved.kubernetes.io"],
          `protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", ${see}`,
        ),
      ];
    case "approved":
    case "unapproved":
      return [];
  }
}
