import {
  badRequest,
  type FieldError,
  forbiddenField,
  invalid,
  invalidValue,
  notSupported,
  parseFieldSelector,
  parseLabelSelector,
} from "@capstan/apimachinery";

/** Query parameters of list and watch (metav1.ListOptions). */
export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly limit: number;
  readonly continue: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  readonly timeoutSeconds: number | undefined;
}

/** Query parameters of create, update and patch. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** The same if the client set it itself: what admission sees. */
  readonly givenFieldValidation?: string;
  /** Only for apply. */
  readonly force: boolean;
}

/** Body or query of a delete (metav1.DeleteOptions). */
export interface DeleteOptions {
  readonly propagationPolicy: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds: number | undefined;
  readonly preconditions: { uid?: string; resourceVersion?: string } | undefined;
  readonly dryRun: boolean;
}

const META_GROUP = "meta.k8s.io";

/** Parses list and watch parameters; 400 for nonsense, 422 for combinations that Kubernetes refuses. */
export function parseListOptions(query: URLSearchParams, watch: boolean): ListOptions {
  const sendInitialEvents = query.has("sendInitialEvents") ? bool(query, "sendInitialEvents") : undefined;
  const options: ListOptions = {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    limit: int(query, "limit") ?? 0,
    continue: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    watch,
    allowWatchBookmarks: bool(query, "allowWatchBookmarks"),
    sendInitialEvents,
    timeoutSeconds: int(query, "timeoutSeconds"),
  };
  const errors = watch ? validateWatchOptions(options) : validateListOptions(options);
  if (errors.length > 0) {
    // Invalid selectors are reported first.
    parseLabelSelector(options.labelSelector);
    parseFieldSelector(options.fieldSelector);
    throw invalid({ group: META_GROUP, kind: "ListOptions" }, "", errors);
  }
  return options;
}

function validateListOptions(o: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const match = o.resourceVersionMatch;
  if (match !== "") {
    if (o.resourceVersion === "") {
      errors.push(
        forbiddenField("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      );
    }
    if (o.continue !== "") {
      errors.push(
        forbiddenField("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"),
      );
    }
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push(notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
    }
    if (match === "Exact" && o.resourceVersion === "0") {
      errors.push(
        forbiddenField("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      );
    }
  }
  if (o.sendInitialEvents !== undefined) {
    errors.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return errors;
}

function validateWatchOptions(o: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const match = o.resourceVersionMatch;
  if (o.sendInitialEvents !== undefined && match !== "NotOlderThan") {
    errors.push(
      forbiddenField("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    );
  }
  if (match !== "") {
    if (o.sendInitialEvents === undefined) {
      errors.push(
        forbiddenField(
          "resourceVersionMatch",
          "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
      );
    }
    if (match !== "NotOlderThan") errors.push(notSupported("resourceVersionMatch", match, ["NotOlderThan"]));
    if (o.continue !== "") {
      errors.push(
        forbiddenField("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"),
      );
    }
  }
  return errors;
}

/** A resourceVersion parameter as a number; 0 stands for "any", undefined for "not given". */
export function parseResourceVersion(text: string): number | undefined {
  if (text === "") return undefined;
  if (!/^\d{1,20}$/.test(text)) throw badRequest(`invalid resource version: ${resourceVersionProblem(text)}`);
  return Number(text);
}

/** What is wrong with a resourceVersion that is no number. */
export function resourceVersionProblem(text: string): string {
  return `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
}

/** Parses the parameters of a write. `kind` names the options object in errors, e.g. `CreateOptions`. */
export function parseWriteOptions(query: URLSearchParams, kind: string, applies: boolean): WriteOptions {
  const dryRun = query.getAll("dryRun");
  const fieldManager = query.get("fieldManager") ?? "";
  const validation = query.get("fieldValidation") ?? "";
  const errors: FieldError[] = [];
  if (kind === "PatchOptions") {
    if (applies && fieldManager === "") {
      errors.push({ type: "FieldValueRequired", field: "fieldManager", detail: "is required for apply patch" });
    }
    if (!applies && query.has("force")) {
      errors.push(forbiddenField("force", "may not be specified for non-apply patch"));
    }
  }
  validateFieldManager(fieldManager, errors);
  validateDryRun(dryRun, errors);
  if (validation !== "" && validation !== "Ignore" && validation !== "Warn" && validation !== "Strict") {
    errors.push(notSupported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]));
  }
  if (errors.length > 0) throw invalid({ group: META_GROUP, kind }, "", errors);
  return {
    dryRun: dryRun.includes("All"),
    fieldManager,
    fieldValidation: validation === "Strict" || validation === "Ignore" ? validation : "Warn",
    force: bool(query, "force"),
    ...(validation === "" ? {} : { givenFieldValidation: validation }),
  };
}

function validateFieldManager(manager: string, errors: FieldError[]): void {
  if (manager === "") return;
  if (manager.length > 128)
    errors.push({
      type: "FieldValueTooLong",
      field: "fieldManager",
      badValue: manager,
      detail: "may not be more than 128 bytes",
    });
  for (const [i, rune] of Array.from(manager).entries()) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(rune)) {
      errors.push(invalidValue("fieldManager", manager, `invalid character U+${codePoint(rune)} (at position ${i})`));
    }
  }
}

function codePoint(rune: string): string {
  return (rune.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

function validateDryRun(values: readonly string[], errors: FieldError[]): void {
  const bad = values.filter((v) => v !== "All");
  if (bad.length > 0) errors.push(notSupported("dryRun", values, ["All"]));
}

/** Merges a delete's body with its query: a body, if there is one, decides alone (as upstream). */
export function parseDeleteOptions(query: URLSearchParams, body: Record<string, unknown> | undefined): DeleteOptions {
  const errors: FieldError[] = [];
  const source = body ?? fromQuery(query);
  const policy = source["propagationPolicy"];
  const orphan = source["orphanDependents"];
  if (policy !== undefined && orphan !== undefined) {
    errors.push(
      invalidValue("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"),
    );
  }
  if (policy !== undefined && policy !== "Background" && policy !== "Foreground" && policy !== "Orphan") {
    errors.push(notSupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]));
  }
  const dryRun = stringList(source["dryRun"]);
  validateDryRun(dryRun, errors);
  if (errors.length > 0) throw invalid({ group: META_GROUP, kind: "DeleteOptions" }, "", errors);
  const legacy = orphan === true ? "Orphan" : orphan === false ? "Background" : undefined;
  const grace = source["gracePeriodSeconds"];
  if (grace !== undefined && grace !== null && !Number.isInteger(grace)) {
    throw badRequest(`gracePeriodSeconds must be a whole number, not ${JSON.stringify(grace)}`);
  }
  return {
    propagationPolicy: typeof policy === "string" ? (policy as DeleteOptions["propagationPolicy"]) : legacy,
    gracePeriodSeconds: typeof grace === "number" ? grace : undefined,
    preconditions: preconditions(source["preconditions"]),
    dryRun: dryRun.includes("All"),
  };
}

function fromQuery(query: URLSearchParams): Record<string, unknown> {
  const source: Record<string, unknown> = {};
  const policy = query.get("propagationPolicy");
  if (policy !== null && policy !== "") source["propagationPolicy"] = policy;
  if (query.has("orphanDependents")) source["orphanDependents"] = bool(query, "orphanDependents");
  const grace = int(query, "gracePeriodSeconds");
  if (grace !== undefined) source["gracePeriodSeconds"] = grace;
  source["dryRun"] = query.getAll("dryRun");
  return source;
}

function preconditions(value: unknown): { uid?: string; resourceVersion?: string } | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object") throw badRequest("preconditions must be an object");
  const { uid, resourceVersion } = value as Record<string, unknown>;
  const out: { uid?: string; resourceVersion?: string } = {};
  if (typeof uid === "string" && uid !== "") out.uid = uid;
  if (typeof resourceVersion === "string" && resourceVersion !== "") out.resourceVersion = resourceVersion;
  return out.uid === undefined && out.resourceVersion === undefined ? undefined : out;
}

function stringList(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw badRequest("dryRun must be a list of strings");
  return value.map(String);
}

/** Go's strconv.ParseBool on a query parameter, with "" as true (`?watch`), as conversion of url.Values does. */
function bool(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  if (value === null) return false;
  return value !== "0" && value.toLowerCase() !== "false";
}

function int(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === "") return undefined;
  if (!/^[+-]?\d{1,15}$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  return Number(value);
}
