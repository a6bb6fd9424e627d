import {
  type ApiError,
  type CompiledSchema,
  compileSchema,
  deepCopy,
  forbidden,
  invalid,
  type Unstructured,
} from "@capstan/apimachinery";
import { foreignReferenceProblems, referenceFields } from "../references/fields.ts";
import type {
  AdmissionLookup,
  AdmissionProblem,
  ApiVersionLookup,
  KindAdmission,
  KindObject,
  KindVersion,
} from "../schema/kind.ts";
import { fieldError } from "./problems.ts";

/** What admission and conversion need of a kind. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly versions: readonly KindVersion[];
  readonly admission?: unknown;
}

/** What a request changes; structurally the API server's. */
export interface KindAdmissionRequest {
  readonly operation: string;
  /** API version of the request; the objects may have been converted since. */
  readonly type: { readonly group: string; readonly version: string; readonly kind: string };
  object: Unstructured | undefined;
  readonly oldObject: Unstructured | undefined;
  readonly dryRun?: boolean;
  /** Adds a warning to the response. */
  warn?(text: string): void;
}

/** An admission step; structurally the API server's `AdmissionPlugin`. */
export interface KindAdmissionPlugin {
  readonly name: string;
  handles(type: { readonly group: string; readonly kind: string }, operation: string, subresource: string): boolean;
  mutate(request: KindAdmissionRequest): Promise<void>;
  validate(request: KindAdmissionRequest): Promise<void>;
}

/** What the rules may read in addition to the object. */
export interface KindAdmissionOptions {
  /** Without it, checks that need other objects are left out. */
  lookup?: AdmissionLookup;
  apiVersionOf?: ApiVersionLookup;
}

type AnyAdmission = KindAdmission<KindObject<object>>;

/** The rules of kinds as admission in process. Rules see the stored version, whatever the request speaks. */
export function kindAdmissionPlugins(
  kinds: readonly ServedKind[],
  options: KindAdmissionOptions = {},
): KindAdmissionPlugin[] {
  return kinds.filter(hasRules).map((kind) => pluginOf(kind, rulesOf(kind), options));
}

/** Whether admission has anything to say about a kind: rules of its own, or references that must stay in their namespace. */
export function hasRules({ admission, versions }: ServedKind): boolean {
  return admission !== undefined || versions.some(({ schema }) => referenceFields(schema.json).length > 0);
}

/** The rules of a kind; empty for one that only has references. */
export function rulesOf({ admission }: ServedKind): AnyAdmission {
  return (admission as AnyAdmission | undefined) ?? {};
}

function pluginOf(kind: ServedKind, admission: AnyAdmission, options: KindAdmissionOptions): KindAdmissionPlugin {
  return {
    name: `${kind.kind}.${kind.group}`,
    handles: (type, operation, subresource) =>
      (subresource === "" || (subresource === "scale" && admission.checksReplicas === true)) &&
      operation !== "CONNECT" &&
      type.kind === kind.kind &&
      type.group === kind.group,
    mutate: async (request) => {
      if (request.object !== undefined && request.operation !== "DELETE")
        await applyDefaults(kind, admission, request.object, request.oldObject, options);
    },
    validate: async (request) => {
      const subject = request.operation === "DELETE" ? request.oldObject : request.object;
      if (subject === undefined) return;
      const problems = await problemsOf(kind, admission, request, options);
      if (problems.length > 0) throw refusal(kind, request.operation, subject.metadata.name ?? "", problems);
      await warnOf(kind, admission, request, options);
    },
  };
}

/** A deletion has no fields, so its error is Forbidden; all others are Invalid. */
function refusal(kind: ServedKind, operation: string, name: string, problems: readonly AdmissionProblem[]): ApiError {
  if (operation !== "DELETE") return invalid(kind, name, problems.map(fieldError));
  return forbidden({ group: kind.group, resource: kind.plural }, name, problems.map(({ detail }) => detail).join("; "));
}

/** Fills the kind's defaults into an object of any served version, in place. */
export async function applyDefaults(
  kind: ServedKind,
  admission: AnyAdmission,
  object: Unstructured,
  old: Unstructured | undefined,
  options: KindAdmissionOptions,
): Promise<void> {
  if (admission.default === undefined && admission.complete === undefined) return;
  const stored = storedForm(kind, object, options);
  if (stored === undefined) return;
  try {
    admission.default?.(stored, old === undefined ? undefined : storedForm(kind, old, options));
    if (options.lookup !== undefined) await admission.complete?.(stored, options.lookup);
  } catch {
    // Defaults come before the schema: the schema rejects wrong types and missing fields with better messages.
    return;
  }
  const back = versionOf(kind, object);
  const result =
    back?.convert === undefined ? stored : back.convert.fromStored(stored as Unstructured, options.apiVersionOf);
  for (const key of Object.keys(object)) if (!(key in result)) delete object[key];
  Object.assign(object, result);
}

/** Returns why a request is rejected; empty if it is not. */
export async function problemsOf(
  kind: ServedKind,
  admission: AnyAdmission,
  request: KindAdmissionRequest,
  { lookup, ...options }: KindAdmissionOptions,
): Promise<AdmissionProblem[]> {
  const old = request.oldObject === undefined ? undefined : storedForm(kind, request.oldObject, options);
  if (request.operation === "DELETE") {
    if (old === undefined) return [];
    const found = admission.validateDelete?.(old) ?? [];
    return found.length > 0 || lookup === undefined ? found : ((await admission.checkDelete?.(old, lookup)) ?? []);
  }
  const object = request.object === undefined ? undefined : storedForm(kind, request.object, options);
  // An object that is being deleted only loses finalizers: newer rules must not block that.
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return [];
  const unfit = request.type.version === kind.version ? [] : unfitForStorage(kind, object, old);
  if (unfit.length > 0) return unfit;
  const found = [
    ...(admission.validate?.(object, old, { dryRun: request.dryRun === true }) ?? []),
    ...foreignReferences(kind, admission, request),
  ];
  return found.length > 0 || lookup === undefined ? found : ((await admission.check?.(object, old, lookup)) ?? []);
}

/** Checked in the version of the request: the stored one may have no namespace in references, and would hide the requested one. */
function foreignReferences(
  kind: ServedKind,
  { grantedReferences }: AnyAdmission,
  { object, oldObject }: KindAdmissionRequest,
): AdmissionProblem[] {
  const schema = object === undefined ? undefined : versionOf(kind, object)?.schema.json;
  return object === undefined || schema === undefined
    ? []
    : foreignReferenceProblems(object, oldObject, schema, grantedReferences);
}

async function warnOf(
  kind: ServedKind,
  admission: AnyAdmission,
  { operation, object, warn }: KindAdmissionRequest,
  options: KindAdmissionOptions,
): Promise<void> {
  if (admission.warnings === undefined || warn === undefined || options.lookup === undefined) return;
  const stored = object === undefined || operation === "DELETE" ? undefined : storedForm(kind, object, options);
  if (stored === undefined || stored.metadata.deletionTimestamp !== undefined) return;
  for (const text of await admission.warnings(stored, options.lookup)) warn(text);
}

const compiled = new WeakMap<ServedKind, CompiledSchema>();

/**
 * The server checks objects in the version of the request only. Rules count on what the stored version requires, so what
 * lacks it after conversion is refused; other limits of the stored version do not hold for older ones.
 */
function unfitForStorage(
  kind: ServedKind,
  object: KindObject<object>,
  old: KindObject<object> | undefined,
): AdmissionProblem[] {
  let schema = compiled.get(kind);
  if (schema === undefined) {
    schema = compileSchema({ ...kind.versions[0]?.schema.json, type: "object" });
    compiled.set(kind, schema);
  }
  const problems = schema.validate(object as Record<string, unknown>, old === undefined ? {} : { old });
  return problems.flatMap((problem): AdmissionProblem[] => {
    const { field, badValue, detail } = problem;
    if (problem.type === "FieldValueRequired") return [{ type: problem.type, field, detail }];
    return problem.type === "FieldValueTypeInvalid"
      ? [{ type: "FieldValueInvalid", field, value: badValue, detail }]
      : [];
  });
}

function versionOf(kind: ServedKind, object: Unstructured): KindVersion | undefined {
  const name = object.apiVersion.slice(object.apiVersion.indexOf("/") + 1);
  return kind.versions.find((version) => version.name === name);
}

/** The object in the stored version; undefined if it has no spec, which its schema rejects with a better message. */
function storedForm(
  kind: ServedKind,
  object: Unstructured,
  options: KindAdmissionOptions,
): KindObject<object> | undefined {
  const copy = deepCopy(object);
  const { convert } = versionOf(kind, object) ?? {};
  const stored = convert === undefined ? copy : convert.toStored(copy, options.apiVersionOf);
  return stored["spec"] === undefined ? undefined : (stored as KindObject<object>);
}

/** Converts objects of one kind between versions; structurally the API server's `Converter`. */
export interface KindConverter {
  readonly group: string;
  readonly kind: string;
  convert(object: Unstructured, toVersion: string): Unstructured;
}

/** Converters of the kinds that are served in several versions. */
export function kindConverters(kinds: readonly ServedKind[], apiVersionOf?: ApiVersionLookup): KindConverter[] {
  return kinds
    .filter(({ versions }) => versions.some(({ convert }) => convert !== undefined))
    .map((kind) => ({
      group: kind.group,
      kind: kind.kind,
      convert: (object, toVersion) => convertKind(kind, object, toVersion, apiVersionOf),
    }));
}

/** One object in another version, by way of the stored one. */
export function convertKind(
  kind: ServedKind,
  object: Unstructured,
  toVersion: string,
  apiVersionOf?: ApiVersionLookup,
): Unstructured {
  const from = versionOf(kind, object);
  const to = kind.versions.find(({ name }) => name === toVersion);
  if (from === undefined || to === undefined)
    throw new Error(`${kind.kind} is not served as ${object.apiVersion} or ${toVersion}`);
  if (from === to) return object;
  const stored = from.convert?.toStored(object, apiVersionOf) ?? object;
  return to.convert?.fromStored(stored, apiVersionOf) ?? stored;
}
