import { type ListMeta, notAcceptable, type Unstructured, type WatchEvent } from "@capstan/apimachinery";
import { inPieces } from "../long-work.ts";
import type { Representation } from "../server/negotiation.ts";
import { type Encoded, objectReply, type Reply } from "../server/reply.ts";
import { tableFor } from "../table/table.ts";
import type { ResourceType } from "../types.ts";
import { apiVersionOf } from "./core.ts";
import type { ListPage } from "./list.ts";
import { ListRuns } from "./list-runs.ts";
import type { View } from "./views.ts";
import type { EventTransform } from "./watch.ts";
import { objectEvent } from "./watch-events.ts";

/** How answers are to be shown. */
export interface Presentation {
  readonly representation: Representation;
  /** Of Tables: what stands in each row's `object`. */
  readonly includeObject: "None" | "Metadata" | "Object";
  readonly nowMs: number;
}

/** One object in the requested form. */
export function presentObject(
  type: ResourceType,
  status: number,
  object: Unstructured,
  view: Encoded | undefined,
  how: Presentation,
): Reply {
  // Failures, and the Status of a delete, have no other form.
  if (how.representation.as === "object" || object.kind === "Status") return objectReply(status, object, view);
  if (how.representation.as === "partial") return objectReply(status, partial(object, how.representation.metaVersion));
  if (how.representation.as === "partialList") {
    throw notAcceptable(
      `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(type, type.kind)})`,
    );
  }
  return objectReply(
    status,
    table(type, [object], how, { resourceVersion: object.metadata.resourceVersion ?? "" }, true),
  );
}

/** A list in the requested form; full objects are the concatenation of their stored bytes. */
export function presentList(type: ResourceType, page: ListPage, how: Presentation): Reply {
  const { as, metaVersion, untypedItems } = how.representation;
  if (as === "table") {
    const rows = (items: readonly View[], head: boolean): object =>
      table(
        type,
        items.map((v) => v.object),
        how,
        page.meta,
        head,
      );
    const head = rows([], true) as { columnDefinitions: readonly object[] };
    return listReply(
      page,
      "rows",
      () => head,
      (items) => (rows(items, false) as { rows: object[] }).rows,
      Math.min(MADE_AT_ONCE, Math.ceil(CELLS_AT_ONCE / (head.columnDefinitions.length + 1))),
    );
  }
  if (as === "partial") {
    throw notAcceptable(
      `you requested PartialObjectMetadata, but the requested object is a list (${goType(type, type.listKind)})`,
    );
  }
  if (as === "partialList") {
    const head = {
      kind: "PartialObjectMetadataList",
      apiVersion: `meta.k8s.io/${metaVersion}`,
      metadata: page.meta,
      items: [],
    };
    return listReply(
      page,
      "items",
      () => head,
      (items) =>
        items.map((v) => (untypedItems === true ? { metadata: v.object.metadata } : partial(v.object, metaVersion))),
    );
  }
  return {
    status: 200,
    body: { type: "list", chunks: () => listChunks(type, page), object: () => listObject(type, page) },
  };
}

const MADE_AT_ONCE = 500;
/** A number of Table cells that takes some milliseconds. */
const CELLS_AT_ONCE = 10_000;

/** A list whose items are made for this answer: long ones piece by piece. `field` is the last one of `head`, and empty there. */
function listReply(
  page: ListPage,
  field: "rows" | "items",
  head: () => object,
  make: (items: readonly View[]) => readonly object[],
  atOnce = MADE_AT_ONCE,
): Reply {
  const object = (): object => ({ ...head(), [field]: make(page.items) });
  const chunks = async (): Promise<readonly Buffer[]> => {
    const start = Buffer.from(JSON.stringify(head()).slice(0, -"]}".length));
    const pieces = await inPieces(page.items, atOnce, (items) => Buffer.from(JSON.stringify(make(items)).slice(1, -1)));
    return [start, ...pieces.flatMap((piece, i) => (i === 0 ? [piece] : [COMMA, piece])), CLOSE];
  };
  if (page.items.length <= atOnce) return objectReply(200, object());
  return { status: 200, body: { type: "list", chunks, object } };
}

/** How watch events must be changed for the requested form; undefined = not at all. */
export function presentEvents(
  type: ResourceType,
  how: Omit<Presentation, "nowMs">,
  now: () => number,
): EventTransform | undefined {
  if (how.representation.as === "object") return undefined;
  if (how.representation.as === "partial" || how.representation.as === "partialList") {
    return (outgoing) =>
      isObjectEvent(outgoing.event)
        ? objectEvent(outgoing.event.type, partial(outgoing.event.object, how.representation.metaVersion))
        : outgoing;
  }
  let first = true;
  return (outgoing) => {
    const { event } = outgoing;
    if (event.type === "ERROR") return outgoing;
    const rows = event.type === "BOOKMARK" ? [] : [event.object];
    const meta = { resourceVersion: event.object.metadata.resourceVersion ?? "" };
    const shown = table(type, rows, { ...how, nowMs: now() }, meta, first);
    first = false;
    return objectEvent(event.type, event.type === "BOOKMARK" ? { ...shown, rows: [bookmarkRow(event.object)] } : shown);
  };
}

/** The Go type that upstream names in refusals. */
function goType(type: ResourceType, kind: string): string {
  if (!type.builtin) return kind === type.kind ? "*unstructured.Unstructured" : "*unstructured.UnstructuredList";
  return `*${type.group === "" ? "core" : (type.group.split(".")[0] ?? "")}.${kind}`;
}

/** The row of a bookmark carries only the resource version. */
function bookmarkRow(object: Unstructured): object {
  return { cells: [], object: partial(object, "v1") };
}

function isObjectEvent(event: WatchEvent): boolean {
  return event.type !== "ERROR";
}

function table(
  type: ResourceType,
  items: readonly Unstructured[],
  how: Presentation,
  listMeta: ListMeta,
  withHeaders: boolean,
): object {
  return tableFor(type, items, { includeObject: how.includeObject, listMeta, nowMs: how.nowMs, withHeaders });
}

function partial(object: Unstructured, metaVersion: string): object {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${metaVersion}`, metadata: object.metadata };
}

function listObject(type: ResourceType, page: ListPage): object {
  return {
    kind: type.listKind,
    apiVersion: apiVersionOf(type),
    metadata: page.meta,
    items: page.items.map((v) => v.object),
  };
}

const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]}");
const END = Buffer.from("]}\n");

/** Of all servers in this process: what they keep together is limited. */
const runs = new ListRuns();

async function listChunks(type: ResourceType, page: ListPage): Promise<readonly Buffer[]> {
  // Lists of custom resources have `continue` even when there is no next page.
  const metadata = type.builtin ? page.meta : { continue: "", ...page.meta };
  const head = { kind: type.listKind, apiVersion: apiVersionOf(type), metadata };
  const start = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`);
  return [start, ...(await runs.json(type, page.items, page.chosen)), END];
}
