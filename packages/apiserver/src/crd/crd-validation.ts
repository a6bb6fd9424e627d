import {
  checkStructuralSchema,
  deepEqual,
  type FieldError,
  invalidValue,
  isDns1035Label,
  isDns1123Subdomain,
  isObject,
  notSupported,
  required,
} from "@capstan/apimachinery";
import { approvalOf, isProtectedGroup } from "./crd-names.ts";
import { type CrdNames, type CrdVersion, type CustomResourceDefinition, isConditionTrue } from "./crd-object.ts";
import { validateConversion } from "./crd-validation-conversion.ts";
import { validateColumns, validateScale, validateSelectableFields } from "./crd-validation-version.ts";

/** All rules for a new CRD. */
export function validateCrd(crd: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = [];
  const { spec, metadata } = crd;
  if (!isObject(spec) || !Array.isArray(spec.versions) || !isObject(spec.names)) return shapeErrors(crd);
  const name = `${spec.names.plural}.${spec.group}`;
  if (metadata.name !== name)
    errors.push(invalidValue("metadata.name", metadata.name ?? "", 'must be spec.names.plural+"."+spec.group'));
  errors.push(...validateSpec(crd, undefined));
  errors.push(...validateApproval(crd));
  return errors;
}

/** Rules for a changed CRD: what was valid before must not be made worse, and identities do not change. */
export function validateCrdUpdate(
  crd: CustomResourceDefinition,
  old: CustomResourceDefinition,
  subresource: string,
): FieldError[] {
  if (subresource === "status") return validateStoredVersions(crd);
  if (!isObject(crd.spec) || !Array.isArray(crd.spec.versions) || !isObject(crd.spec.names)) return shapeErrors(crd);
  const errors = validateSpec(crd, old);
  const immutable = (path: string, now: unknown, before: unknown): void => {
    if (!deepEqual(now, before)) errors.push(invalidValue(path, now, "field is immutable"));
  };
  if (isConditionTrue(old, "Established")) {
    immutable("spec.scope", crd.spec.scope, old.spec.scope);
    immutable("spec.names.kind", crd.spec.names.kind, old.spec.names.kind);
  }
  immutable("spec.group", crd.spec.group, old.spec.group);
  immutable("spec.names.plural", crd.spec.names.plural, old.spec.names.plural);
  errors.push(...validateStoredVersions(crd));
  if (approvalOf(old) === "approved" || approvalOf(old) === "unapproved") errors.push(...validateApproval(crd));
  return errors;
}

function shapeErrors(crd: CustomResourceDefinition): FieldError[] {
  const spec = isObject(crd.spec) ? crd.spec : {};
  const errors: FieldError[] = [];
  if (!("group" in spec)) errors.push(required("spec.group"));
  if (!("scope" in spec)) errors.push(required("spec.scope"));
  if (!("versions" in spec)) errors.push(required("spec.versions"));
  if (!("names" in spec)) errors.push(required("spec.names.plural"), required("spec.names.kind"));
  return errors;
}

function validateSpec(crd: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  const { spec } = crd;
  const errors: FieldError[] = [];
  if (!spec.group) errors.push(required("spec.group"));
  else {
    errors.push(...isDns1123Subdomain(spec.group).map((m) => invalidValue("spec.group", spec.group, m)));
    if (!spec.group.includes("."))
      errors.push(invalidValue("spec.group", spec.group, "should be a domain with at least one dot"));
  }
  errors.push(...validateScope(spec.scope));
  errors.push(...validateVersions(crd, old));
  errors.push(...validateNames(spec.names));
  if (spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true) {
    const cure =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    errors.push(invalidValue("spec.preserveUnknownFields", true, cure));
  }
  errors.push(...validateConversion(spec.conversion, "spec.conversion"));
  return errors;
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
  // Upstream moves what all versions share to the top, and its errors point there.
  const shared = versions.every((v) => deepEqual(v.schema, versions[0]?.schema));
  const names = new Set<string>();
  versions.forEach((version, i) => {
    const path = `spec.versions[${i}]`;
    names.add(version.name);
    errors.push(...isDns1035Label(version.name ?? "").map((m) => invalidValue(`${path}.name`, version.name, m)));
    const schemaPath = shared ? "spec.validation.openAPIV3Schema" : `${path}.schema.openAPIV3Schema`;
    if (!shared || i === 0) errors.push(...validateSchema(version, old, schemaPath, path));
    errors.push(...validateVersionParts(version, path, versions.length === 1));
  });
  if (names.size !== versions.length)
    errors.push(invalidValue("spec.versions", versions, "must contain unique version names"));
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
  if (schema === undefined) return [required(`${path}.schema.openAPIV3Schema`, "schemas are required")];
  // A schema that is stored already is not judged again by newer rules.
  const before = old?.spec.versions.find((v) => v.name === version.name)?.schema?.openAPIV3Schema;
  return before !== undefined && deepEqual(before, schema) ? [] : checkStructuralSchema(schema, schemaPath);
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
    errors.push(...isDns1035Label(value.toLowerCase()).map((m) => invalidValue(path, value, m)));
  };
  const exact = (path: string, value: string): void => {
    errors.push(...isDns1035Label(value).map((m) => invalidValue(path, value, m)));
  };
  if (!names.plural) errors.push(required("spec.names.plural"));
  else exact("spec.names.plural", names.plural);
  if (names.singular) exact("spec.names.singular", names.singular);
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
  const names = new Set(crd.spec.versions.map((v) => v.name));
  const stored = crd.status?.storedVersions ?? [];
  if (stored.length === 0)
    return [invalidValue("status.storedVersions", stored, "must have at least one stored version")];
  return stored.flatMap((name, i) =>
    names.has(name) ? [] : [invalidValue(`status.storedVersions[${i}]`, name, "must appear in spec.versions")],
  );
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
    default:
      return [];
  }
}
