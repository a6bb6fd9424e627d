import { type ApiError, badRequest, invalid, invalidValue, isObject, type Unstructured } from "@capstan/apimachinery";
import { definition, definitionName } from "../builtin/definitions.ts";
import type { FieldPlaces } from "../server/json-scan.ts";
import { summarizeBody } from "../server/summarize-body.ts";
import type { ResourceType } from "../types.ts";
import { compiledSchema } from "./compiled.ts";
import { apiVersionOf } from "./core.ts";
import { isCustom } from "./custom-type.ts";
import { decodeBuiltin } from "./decode-builtin.ts";
import { type DecodeContext, decodeMetadata } from "./decode-metadata.ts";

/** How unknown and duplicate fields are treated. */
export interface FieldValidation {
  readonly mode: "Ignore" | "Warn" | "Strict";
  /** Complaints of the parser: duplicate fields. */
  readonly duplicates: readonly string[];
  /** Where the fields of the document stand, known when some are repeated. */
  readonly places?: FieldPlaces | undefined;
  warn(text: string): void;
}

/**
 * Makes an object of `type` out of a decoded body, which must be private: it is pruned and defaulted in place. The result starts with
 * apiVersion, kind, metadata, so that stored bytes of a type share their beginning.
 */
export function decodeObject(type: ResourceType, value: unknown, validation: FieldValidation): Unstructured {
  // Go decodes null into an empty object.
  if (value === null && !isCustom(type)) return decodeObject(type, {}, validation);
  if (!isObject(value)) {
    const what = Array.isArray(value)
      ? "array"
      : value === null
        ? "null"
        : typeof value === "boolean"
          ? "bool"
          : typeof value;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (${summarizeBody(Buffer.from(JSON.stringify(value)))})`,
    );
  }
  checkKind(type, value);
  return finishDecoding(
    type,
    value,
    validation,
    `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: `,
  );
}

/** The part of decoding that patches share: prune, default, complain about unknown fields. */
export function finishDecoding(
  type: ResourceType,
  value: Record<string, unknown>,
  validation: FieldValidation,
  errorPrefix: string,
): Unstructured {
  const context: DecodeContext = { kind: type.kind, version: type.version, unknown: [], custom: isCustom(type) };
  const metadata = decodeMetadata(value["metadata"], context);
  const object: Unstructured = { apiVersion: apiVersionOf(type), kind: type.kind, metadata };
  for (const key of Object.keys(value)) {
    if (key !== "apiVersion" && key !== "kind" && key !== "metadata") object[key] = value[key];
  }
  if (isCustom(type)) {
    const schema = compiledSchema(type.schema);
    if (!type.custom.preserveUnknownFields)
      for (const path of schema.prune(object, { root: true })) context.unknown.push(path);
    schema.applyDefaults(object);
  } else {
    decodeBuiltin(type.schema, object, context);
    type.strategy.applyDefaults?.(object);
  }
  complain(context.unknown, validation, errorPrefix, isCustom(type) ? undefined : Object.keys(value));
  return object;
}

/** Go's typed decoder remembers no more than this. */
const MAX_COMPLAINTS = 100;

/** The field at the top of the object that a complaint is about. */
function topOf(complaint: string): string {
  return /"([^".[]*)/.exec(complaint)?.[1] ?? "";
}

/** `order` = the fields of the document: Go's typed decoder complains as it reads. */
function complain(
  unknown: readonly string[],
  validation: FieldValidation,
  errorPrefix: string,
  order: readonly string[] | undefined,
): void {
  if (validation.mode === "Ignore" || (unknown.length === 0 && validation.duplicates.length === 0)) return;
  let texts = [...validation.duplicates, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)];
  if (order !== undefined) {
    const { places } = validation;
    texts = places === undefined ? byTopField(texts, order) : inDocumentOrder(unknown, places);
    texts = texts.slice(0, MAX_COMPLAINTS);
  }
  if (validation.mode === "Strict") throw badRequest(`${errorPrefix}strict decoding error: ${texts.join(", ")}`);
  for (const text of texts) validation.warn(text);
}

function byTopField(texts: readonly string[], order: readonly string[]): string[] {
  const places = new Map(order.map((name, place) => [name, place]));
  const place = (text: string): number => places.get(topOf(text)) ?? -1;
  return texts.toSorted((a, b) => place(a) - place(b));
}

/** Unknown and repeated fields as they follow each other in the text. What is unknown, or below it, is not called repeated. */
function inDocumentOrder(unknown: readonly string[], { first, repeated }: FieldPlaces): string[] {
  const skipped = new Set(unknown);
  const known = (path: string): boolean => {
    for (let end = path.length; end > 0; end = Math.max(path.lastIndexOf(".", end - 1), path.lastIndexOf("[", end - 1)))
      if (skipped.has(path.slice(0, end))) return false;
    return true;
  };
  const complaints = [
    ...unknown.map((path) => ({ at: first.get(path) ?? 0, text: `unknown field ${JSON.stringify(path)}` })),
    ...[...repeated].flatMap(([path, at]) =>
      known(path) ? [{ at, text: `duplicate field ${JSON.stringify(path)}` }] : [],
    ),
  ];
  return complaints.sort((a, b) => a.at - b.at).map(({ text }) => text);
}

/** apiVersion and kind, where given, must be the endpoint's; custom resources must name them. */
export function checkKind(type: ResourceType, value: Record<string, unknown>): void {
  const apiVersion = textOf(value["apiVersion"]);
  const kind = textOf(value["kind"]);
  const expected = apiVersionOf(type);
  if (isCustom(type)) {
    if (kind === "") throw missing(type, value, "Kind");
    if (apiVersion === "") throw missing(type, value, "apiVersion");
  }
  if (!isCustom(type) && apiVersion.split("/").length > 2) {
    const text = JSON.stringify(value);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): unexpected GroupVersion string: ${apiVersion} (${summarizeBody(Buffer.from(text))})`,
    );
  }
  if (apiVersion !== "" && apiVersion !== expected) throw badRequest(wrongVersion(type, apiVersion, kind));
  if (kind !== "" && kind !== type.kind) {
    throw isCustom(type) ? mustBe(type, value, "kind", type.kind) : badRequest(wrongKind(type, kind));
  }
}

/** 422 for a custom resource that says it is something else. */
export function mustBe(
  type: ResourceType,
  value: Record<string, unknown>,
  field: "kind" | "apiVersion",
  expected: string,
): ApiError {
  const given = value[field];
  const { metadata } = value;
  const name = isObject(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : "";
  const kind = field === "kind" && typeof given === "string" ? given : type.kind;
  return invalid({ group: type.group, kind }, name, [invalidValue(field, given, `must be ${expected}`)]);
}

function wrongVersion(type: ResourceType, apiVersion: string, kind: string): string {
  const expected = apiVersionOf(type);
  if (isCustom(type)) {
    return `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`;
  }
  const slash = apiVersion.indexOf("/");
  const version = apiVersion.slice(slash + 1);
  // Upstream knows DeleteOptions in the versions of all groups; their definition has no group.
  const known = kind === "DeleteOptions" && version === type.version;
  if (known || definition(definitionName(slash < 0 ? "" : apiVersion.slice(0, slash), version, kind)) !== undefined)
    return wrongKind(type, kind);
  return `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`;
}

function wrongKind(type: ResourceType, kind: string): string {
  const internal = type.group === "" ? "core" : (type.group.split(".")[0] ?? "");
  return `${kind} in version ${JSON.stringify(type.version)} cannot be handled as a ${type.kind}: converting (${type.version}.${kind}) to (${internal}.${type.kind}): unknown conversion`;
}

function missing(type: ResourceType, value: Record<string, unknown>, field: string): ApiError {
  const text = JSON.stringify(value);
  const shown = text.length > 1000 ? `${text.slice(0, 1000)}…` : text;
  return badRequest(
    `the object provided is unrecognized (must be of type ${type.kind}): Object '${field}' is missing in '${shown}' (${summarizeBody(Buffer.from(text))})`,
  );
}

/** A value as text: what is not a string is shown as JSON, what is absent as nothing. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
