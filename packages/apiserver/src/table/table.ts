import { compileJsonPath, formatAge, type ListMeta, type Unstructured } from "@capstan/apimachinery";
import type { PrinterColumn, ResourceType } from "../types.ts";
import { partialObject } from "./partial-object.ts";

/** How a Table is wanted. */
export interface TableOptions {
  includeObject: "None" | "Metadata" | "Object";
  listMeta?: ListMeta;
  nowMs: number;
  /** False in all events of a watch but the first. */
  withHeaders: boolean;
}

type Cell = (object: Unstructured, nowMs: number) => unknown;

/** Cells of each column, compiled once per list of columns. */
const compiled = new WeakMap<readonly PrinterColumn[], readonly Cell[]>();

/** The objects as meta.k8s.io/v1 Table, as `kubectl get` asks for: one row per object, cells rendered here. */
export function tableFor(type: ResourceType, items: readonly Unstructured[], o: TableOptions): object {
  const cells = cellsOf(type.columns);
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: o.listMeta ?? singleMeta(items),
    columnDefinitions: o.withHeaders ? type.columns.map(columnDefinition) : null,
    rows: items.map((object) => row(object, cells, o)),
  };
}

/** A Table of one object carries that object's resourceVersion. */
function singleMeta([object]: readonly Unstructured[]): ListMeta {
  const version = object?.metadata.resourceVersion;
  return version === undefined ? {} : { resourceVersion: version };
}

function columnDefinition(column: PrinterColumn): object {
  const { name, type, format = "", description = "", priority = 0 } = column;
  return { name, type, format, description, priority };
}

function row(object: Unstructured, cells: readonly Cell[], o: TableOptions): object {
  const values = cells.map((cell) => cell(object, o.nowMs) ?? null);
  const conditions = rowConditions(object);
  return {
    cells: values,
    conditions,
    object: o.includeObject === "None" ? null : o.includeObject === "Object" ? object : partialObject(object),
  };
}

/** Finished pods are marked, so that a client may hide them. */
function rowConditions(object: Unstructured): object[] | undefined {
  if (object.kind !== "Pod" || object.apiVersion !== "v1") return undefined;
  const phase = (object.status as { phase?: unknown } | undefined)?.phase;
  if (phase !== "Succeeded" && phase !== "Failed") return undefined;
  const message = phase === "Failed" ? "The pod failed." : "The pod has completed successfully.";
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

function cellsOf(columns: readonly PrinterColumn[]): readonly Cell[] {
  let cells = compiled.get(columns);
  if (cells === undefined) {
    cells = columns.map(compileColumn);
    compiled.set(columns, cells);
  }
  return cells;
}

function compileColumn(column: PrinterColumn): Cell {
  const { value, type } = column;
  if (typeof value === "function") return value;
  const path = compileJsonPath(value);
  return (object, nowMs) => {
    const found = path.first(object);
    return found === undefined || found === null ? null : render(found, type, nowMs);
  };
}

/** A custom resource's value in the form of its column's type; one of another type prints as nothing. */
function render(value: unknown, type: PrinterColumn["type"], nowMs: number): unknown {
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date": {
      if (typeof value !== "string") return null;
      const ms = Date.parse(value);
      return Number.isNaN(ms) ? "<invalid>" : formatAge(nowMs - ms);
    }
    case "string":
      return printed(value);
  }
}

/** Strings as they are; anything else as JSON, which is how the real server prints lists and objects. */
function printed(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
