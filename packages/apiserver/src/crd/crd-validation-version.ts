import {
  compileJsonPath,
  duplicate,
  type FieldError,
  invalidValue,
  isObject,
  type JSONSchemaProps,
  required,
  tooMany,
} from "@capstan/apimachinery";
import type { CrdColumn, CrdVersion } from "./crd-object.ts";

type Scale = NonNullable<NonNullable<CrdVersion["subresources"]>["scale"]>;

/** Paths of the scale subresource: plain, and in the right half of the object. */
export function validateScale(scale: Scale, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, value: string | undefined, roots: readonly string[], needed: boolean): void => {
    if (value === undefined || value === "") {
      if (needed) errors.push(required(`${path}.${field}`));
      return;
    }
    if (!value.startsWith(".")) {
      errors.push(invalidValue(`${path}.${field}`, value, "must be a simple json path starting with ."));
    } else if (!roots.some((root) => value.startsWith(`${root}.`))) {
      errors.push(
        invalidValue(
          `${path}.${field}`,
          value,
          `should be a json path under ${roots.length > 1 ? "either " : ""}${roots.join(" or ")}`,
        ),
      );
    }
  };
  check("specReplicasPath", scale.specReplicasPath, [".spec"], true);
  check("statusReplicasPath", scale.statusReplicasPath, [".status"], true);
  check("labelSelectorPath", scale.labelSelectorPath, [".spec", ".status"], false);
  return errors;
}

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** Rules for printer columns. */
export function validateColumns(columns: readonly CrdColumn[], path: string): FieldError[] {
  return columns.flatMap((column, i) => {
    const at = `${path}[${i}]`;
    const errors: FieldError[] = [];
    if (!column.name) errors.push(required(`${at}.name`));
    if (!column.type) errors.push(required(`${at}.type`, `must be one of ${COLUMN_TYPES.join(",")}`));
    else if (!COLUMN_TYPES.includes(column.type)) {
      errors.push(invalidValue(`${at}.type`, column.type, `must be one of ${COLUMN_TYPES.join(",")}`));
    }
    if (column.format && !COLUMN_FORMATS.includes(column.format)) {
      errors.push(invalidValue(`${at}.format`, column.format, `must be one of ${COLUMN_FORMATS.join(",")}`));
    }
    if (!column.jsonPath) errors.push(required(`${at}.JSONPath`));
    else errors.push(...jsonPathErrors(column.jsonPath, `${at}.JSONPath`));
    return errors;
  });
}

function jsonPathErrors(expression: string, path: string): FieldError[] {
  if (!expression.startsWith("."))
    return [invalidValue(path, expression, "must be a simple json path starting with .")];
  try {
    compileJsonPath(expression);
    return [];
  } catch (error) {
    return [invalidValue(path, expression, error instanceof Error ? error.message : "not a JSONPath")];
  }
}

const MAX_SELECTABLE = 8;

/** Selectable fields: at most eight, plain paths to declared scalars. */
export function validateSelectableFields(
  fields: readonly { jsonPath: string }[],
  schema: JSONSchemaProps | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (fields.length > 0 && schema === undefined) {
    return [invalidValue(path, "", "may only be set when `version.schema.openAPIV3Schema` is not included")];
  }
  if (fields.length > MAX_SELECTABLE) errors.push(tooMany(path, fields.length, MAX_SELECTABLE));
  const seen = new Set<string>();
  fields.forEach(({ jsonPath }, i) => {
    const at = `${path}[${i}].jsonPath`;
    if (!jsonPath) errors.push(required(at));
    else if (seen.has(jsonPath)) errors.push(duplicate(at, jsonPath));
    else errors.push(...selectableErrors(jsonPath, schema, at));
    seen.add(jsonPath);
  });
  return errors;
}

function selectableErrors(jsonPath: string, schema: JSONSchemaProps | undefined, at: string): FieldError[] {
  if (!/^[.[]/.test(jsonPath)) {
    return [invalidValue(at, jsonPath, `is an invalid path: expected [ or . but got: ${jsonPath}`)];
  }
  if (!/^(\.[A-Za-z_][\w-]*)+$/.test(jsonPath)) {
    return [invalidValue(at, jsonPath, "must be a simple json path under the dot notation without array")];
  }
  if (jsonPath === ".metadata" || jsonPath.startsWith(".metadata.")) {
    return [invalidValue(at, jsonPath, "is an invalid path: does not refer to a valid field")];
  }
  let node: JSONSchemaProps | undefined = schema;
  for (const name of jsonPath.slice(1).split(".")) {
    const properties: unknown = node?.properties;
    node = isObject(properties) && Object.hasOwn(properties, name) ? (properties[name] as JSONSchemaProps) : undefined;
  }
  if (node === undefined) return [invalidValue(at, jsonPath, "is an invalid path: does not refer to a valid field")];
  if (node.type !== "string" && node.type !== "boolean" && node.type !== "integer") {
    return [
      invalidValue(
        at,
        jsonPath,
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
      ),
    ];
  }
  return [];
}
