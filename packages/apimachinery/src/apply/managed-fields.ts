import { badRequest } from "../errors.ts";
import { goQuote } from "../go-text.ts";
import { deepEqual } from "../json.ts";
import type { ManagedFieldsEntry } from "../object.ts";
import { decodeFieldSet, encodeFieldSet, type FieldSet, isEmptySet, sortTopLevel, union } from "./field-set.ts";

/** One manager's fields. */
export interface Managed {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
  /** Everything below the top level is in the order of fieldsV1 already. */
  readonly sorted?: boolean;
}

/** Who a manager is: an applier is the same in every version, an updater is one per version. Sorts as upstream's identifiers do. */
export function identity(m: Pick<Managed, "manager" | "operation" | "apiVersion" | "subresource">): string {
  const version = m.operation === "Apply" ? "" : `,"apiVersion":${goQuote(m.apiVersion)}`;
  const subresource = m.subresource === "" ? "" : `,"subresource":${goQuote(m.subresource)}`;
  return `{"manager":${goQuote(m.manager)},"operation":"${m.operation}"${version}${subresource}}`;
}

/** Reads entries that this server wrote; they are not checked again. */
export function readManagedFields(entries: readonly ManagedFieldsEntry[] | undefined): Managed[] {
  const out: Managed[] = [];
  for (const entry of entries ?? []) {
    out.push({
      manager: entry.manager ?? "",
      operation: entry.operation === "Apply" ? "Apply" : "Update",
      apiVersion: entry.apiVersion ?? "",
      subresource: entry.subresource ?? "",
      time: entry.time,
      set: (entry.fieldsV1 ?? {}) as FieldSet,
    });
  }
  return out;
}

/** Reads entries a client sent; throws BadRequest when they are invalid. The last of equal managers counts. */
export function decodeManagedFields(entries: unknown): Managed[] {
  if (!Array.isArray(entries)) throw badRequest("metadata.managedFields: must be a list");
  const out = new Map<string, Managed>();
  for (const [i, entry] of (entries as ManagedFieldsEntry[]).entries()) {
    if (typeof entry !== "object" || entry === null)
      throw badRequest(`metadata.managedFields[${i}]: must be an object`);
    if (entry.operation !== "Apply" && entry.operation !== "Update") {
      throw badRequest("operation must be `Apply` or `Update`");
    }
    if (typeof entry.apiVersion !== "string" || entry.apiVersion === "")
      throw badRequest("apiVersion must not be empty");
    if (entry.fieldsType !== "FieldsV1") {
      throw badRequest(`metadata.managedFields[${i}].fieldsType: must be "FieldsV1"`);
    }
    const [managed] = readManagedFields([entry]);
    if (managed === undefined) continue;
    out.set(identity(managed), { ...managed, set: decodeFieldSet(entry.fieldsV1 ?? {}) });
  }
  return [...out.values()];
}

/** Whether a request asks to forget all owners: an empty list or one empty entry. */
export function asksForReset(entries: unknown): boolean {
  return Array.isArray(entries) && (entries.length === 0 || (entries.length === 1 && deepEqual(entries[0], {})));
}

/** Writes entries in upstream's order: appliers first, then by time, manager, version, subresource. Empty sets disappear. */
export function writeManagedFields(managed: readonly Managed[]): ManagedFieldsEntry[] {
  return managed
    .filter((m) => !isEmptySet(m.set))
    .sort(byOperationAndTime)
    .map((m) => ({
      manager: m.manager,
      operation: m.operation,
      apiVersion: m.apiVersion,
      ...(m.time === undefined ? {} : { time: m.time }),
      fieldsType: "FieldsV1",
      fieldsV1: encode(m) as Record<string, unknown>,
      ...(m.subresource === "" ? {} : { subresource: m.subresource }),
    }));
}

function encode(m: Managed): FieldSet {
  // Stored entries are frozen and were encoded when they were written.
  if (Object.isFrozen(m.set)) return m.set;
  return m.sorted === true ? sortTopLevel(m.set) : encodeFieldSet(m.set);
}

function byOperationAndTime(a: Managed, b: Managed): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? "", b.time ?? "") ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const MAX_UPDATERS = 10;
const OLD_UPDATES = "ancient-changes";

/** Keeps the list short: beyond ten updaters the oldest of each version are joined into one entry. */
export function capUpdaters(managed: readonly Managed[]): readonly Managed[] {
  const updaters = managed.filter((m) => m.operation === "Update");
  if (updaters.length <= MAX_UPDATERS) return managed;
  updaters.sort((a, b) => compareText(a.time ?? "", b.time ?? "") || compareText(identity(a), identity(b)));
  const byId = new Map(managed.map((m) => [identity(m), m]));
  const firstOfVersion = new Map<string, Managed>();
  let count = updaters.length;
  for (const updater of updaters) {
    if (count <= MAX_UPDATERS) break;
    const first = firstOfVersion.get(updater.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(updater.apiVersion, updater);
      continue;
    }
    const bucket: Managed = { ...updater, manager: OLD_UPDATES, subresource: "" };
    const existing = byId.get(identity(bucket)) ?? first;
    if (existing === first) byId.delete(identity(first));
    byId.delete(identity(updater));
    byId.set(identity(bucket), { ...bucket, set: union(updater.set, existing.set) });
    count--;
  }
  return [...byId.values()];
}
