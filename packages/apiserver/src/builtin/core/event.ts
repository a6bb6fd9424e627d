import {
  deepEqual,
  type FieldError,
  invalidValue,
  isDns1123Subdomain,
  isQualifiedName,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import type { PrinterColumn, ResourceType } from "../../types.ts";
import { age, column, NAME, wide } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { at, num, text } from "../read.ts";

/** Field names of core/v1 and of events.k8s.io/v1, where they differ. */
const RENAMED = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
] as const;

/** The object with the field names of core/v1. */
function toCore(event: Unstructured): Unstructured {
  const out: Unstructured = { ...event, apiVersion: "v1" };
  for (const [core, group] of RENAMED) rename(out, group, core);
  fillCore(out);
  return out;
}

/** Go writes these fields even when they are not set. */
function fillCore(event: Unstructured): void {
  event["source"] ??= {};
  for (const field of ["firstTimestamp", "lastTimestamp", "eventTime"]) event[field] ??= null;
  for (const field of ["reportingComponent", "reportingInstance"]) event[field] ??= "";
}

function fillGroup(event: Unstructured): void {
  event["deprecatedSource"] ??= {};
  for (const field of ["deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime"]) event[field] ??= null;
}

/** The object with the field names of events.k8s.io/v1. */
function toEventsGroup(event: Unstructured): Unstructured {
  const out: Unstructured = { ...event, apiVersion: "events.k8s.io/v1" };
  for (const [core, group] of RENAMED) rename(out, core, group);
  for (const field of ["reportingController", "reportingInstance"]) if (out[field] === "") delete out[field];
  return out;
}

function rename(object: Unstructured, from: string, to: string): void {
  if (object[from] === undefined) return;
  object[to] = object[from];
  delete object[from];
}

const SELECTABLE = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

/** Both forms of an event are matched by the core names, as the real server's index does. */
const core = (o: Unstructured): Unstructured => (o.apiVersion === "v1" ? o : toCore(o));

function selectors(prefix: string): ResourceType["fieldSelectors"] {
  return {
    ...Object.fromEntries(
      SELECTABLE.map((key) => [`${prefix}.${key}`, (o: Unstructured) => text(at(core(o), "involvedObject", key))]),
    ),
    reason: (o) => text(o.reason),
    [prefix === "regarding" ? "reportingController" : "reportingComponent"]: (o) => text(core(o)["reportingComponent"]),
    source: (o) => text(at(core(o), "source", "component")) || text(core(o)["reportingComponent"]),
    type: (o) => text(o.type),
  };
}

function lastSeen(o: Unstructured): unknown {
  const e = core(o);
  return e.lastTimestamp ?? at(e, "series", "lastObservedTime") ?? firstSeen(o);
}

function firstSeen(o: Unstructured): unknown {
  return core(o)["firstTimestamp"] ?? o.eventTime;
}

function source(o: Unstructured): string {
  const e = core(o);
  const parts = [text(at(e, "source", "component")), text(at(e, "source", "host"))];
  if (parts[0] === "" && parts[1] === "") return join(text(e.reportingComponent), text(e.reportingInstance));
  return join(...parts);
}

function join(...parts: (string | undefined)[]): string {
  return parts.filter((p) => p !== undefined && p !== "").join(", ");
}

function target(o: Unstructured): string {
  const kind = text(at(core(o), "involvedObject", "kind")).toLowerCase();
  const name = text(at(core(o), "involvedObject", "name"));
  return name === "" ? kind : `${kind}/${name}`;
}

function count(o: Unstructured): number {
  return num(at(o, "series", "count")) || num(core(o)["count"]) || 1;
}

const COLUMNS: readonly PrinterColumn[] = [
  column("Last Seen", (o, now) => age(lastSeen(o), now)),
  column("Type", (o) => text(o.type)),
  column("Reason", (o) => text(o.reason)),
  column("Object", target),
  wide("Subobject", (o) => text(at(core(o), "involvedObject", "fieldPath"))),
  wide("Source", source),
  column("Message", (o) => text(core(o)["message"]).trim()),
  wide("First Seen", (o, now) => age(firstSeen(o), now)),
  wide("Count", count),
  { ...NAME, priority: 1 },
];

/** core/v1 Event. */
export const event = defineBuiltin({
  group: "",
  kind: "Event",
  shortNames: ["ev"],
  namespaced: true,
  columns: COLUMNS,
  fieldSelectors: selectors("involvedObject"),
  strategy: {
    allowCreateOnUpdate: true,
    noGeneration: true,
    applyDefaults: fillCore,
    validate: (o) => legacyErrors(o, "reportingComponent"),
  },
});

/** events.k8s.io/v1 Event: another view of the core events. */
export const groupEvent = defineBuiltin({
  group: "events.k8s.io",
  kind: "Event",
  shortNames: ["ev"],
  namespaced: true,
  columns: COLUMNS,
  fieldSelectors: { ...selectors("involvedObject"), ...selectors("regarding") },
  strategy: {
    allowCreateOnUpdate: true,
    noGeneration: true,
    applyDefaults: fillGroup,
    validate: strictErrors,
    validateUpdate: strictUpdateErrors,
  },
  storedAs: { group: "", plural: "events", toStorage: toCore, fromStorage: toEventsGroup },
});

/** Upstream applies these rules to both views; the field names of core/v1 are used except for the reporting controller. */
function legacyErrors(object: Unstructured, controllerField: string): FieldError[] {
  const e = core(object);
  const namespace = text(e.metadata.namespace);
  const involved = text(at(e, "involvedObject", "namespace"));
  const mismatch = invalidValue("involvedObject.namespace", involved, "does not match event.namespace");
  const errors: FieldError[] = [];
  if (text(e.eventTime) === "") {
    const fits = involved === "" ? namespace === "" || namespace === "default" : namespace === involved;
    if (!fits) errors.push(mismatch);
  } else {
    if (involved === "" && namespace !== "default" && namespace !== "kube-system") errors.push(mismatch);
    errors.push(...reportErrors(e, controllerField));
  }
  return [...errors, ...isDns1123Subdomain(namespace).map((m) => invalidValue("namespace", namespace, m))];
}

function reportErrors(e: Unstructured, controllerField: string): FieldError[] {
  const errors: FieldError[] = [];
  const controller = text(e.reportingComponent);
  if (controller === "") errors.push(required(controllerField));
  errors.push(...isQualifiedName(controller).map((m) => invalidValue(controllerField, controller, m)));
  for (const field of ["reportingInstance", "action", "reason"]) {
    const value = text(e[field]);
    if (value === "") errors.push(required(field));
    if (value.length > 128) errors.push(invalidValue(field, "", "can have at most 128 characters"));
  }
  if (text(e.message).length > 1024) errors.push(invalidValue("message", "", "can have at most 1024 characters"));
  return errors;
}

function strictErrors(object: Unstructured): FieldError[] {
  const e = core(object);
  const errors = [...legacyErrors(object, "reportingController"), ...seriesErrors(e)];
  if (text(e.eventTime) === "") errors.push(required("eventTime"));
  const type = text(e.type);
  if (type !== "Normal" && type !== "Warning") errors.push(invalidValue("type", "", `has invalid value: ${type}`));
  for (const field of ["firstTimestamp", "lastTimestamp"])
    if (text(e[field]) !== "") errors.push(invalidValue(field, "", "needs to be unset"));
  if (num(e.count) !== 0) errors.push(invalidValue("count", "", "needs to be unset"));
  if (text(at(e, "source", "component")) !== "" || text(at(e, "source", "host")) !== "")
    errors.push(invalidValue("source", "", "needs to be unset"));
  return errors;
}

function seriesErrors(e: Unstructured): FieldError[] {
  if (e.series === undefined || e.series === null) return [];
  const errors: FieldError[] = [];
  if (num(at(e, "series", "count")) < 2) errors.push(invalidValue("series.count", "", "should be at least 2"));
  if (text(at(e, "series", "lastObservedTime")) === "") errors.push(required("series.lastObservedTime"));
  return errors;
}

const IMMUTABLE = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance",
];

function strictUpdateErrors(object: Unstructured, previous: Unstructured): FieldError[] {
  const [e, old] = [core(object), core(previous)];
  const errors = legacyErrors(object, "reportingController");
  if (!deepEqual(e.series, old.series)) errors.push(...seriesErrors(e));
  for (const field of IMMUTABLE)
    if (!deepEqual(e[field] ?? null, old[field] ?? null))
      errors.push(
        invalidValue(
          field === "reportingComponent" ? "reportingController" : field,
          e[field] ?? null,
          "field is immutable",
        ),
      );
  return errors;
}
