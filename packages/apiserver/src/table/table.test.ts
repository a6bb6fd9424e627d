import type { Unstructured } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { builtinTypes } from "../builtin/index.ts";
import type { PrinterColumn, ResourceType } from "../types.ts";
import { tableFor } from "./table.ts";

interface Table {
  kind: string;
  metadata: object;
  columnDefinitions: object[];
  rows: { cells: unknown[]; object: Unstructured | null; conditions?: object[] }[];
}

const NOW = Date.parse("2026-01-02T03:04:05Z");
const node = builtinTypes().find((t) => t.kind === "Node") as ResourceType;
const widget = (columns: PrinterColumn[]): ResourceType => ({ ...node, kind: "Widget", builtin: false, columns });

const object: Unstructured = {
  apiVersion: "example.test/v1",
  kind: "Widget",
  metadata: { name: "w", namespace: "default", resourceVersion: "7", creationTimestamp: "2026-01-02T02:59:05Z" },
  spec: { size: 3.7, ratio: 0.5, on: false, text: "a\nb", list: ["x", 1], nothing: null, when: "yesterday" },
  status: { conditions: [{ type: "Ready", status: "True" }] },
};

const options = { includeObject: "Metadata", nowMs: NOW, withHeaders: true } as const;
const cell = (column: Omit<PrinterColumn, "name">): unknown =>
  (tableFor(widget([{ name: "X", ...column }]), [object], options) as Table).rows[0]?.cells[0];

describe("cells of custom resources", () => {
  it.each<[string, Omit<PrinterColumn, "name">, unknown]>([
    ["strings as they are", { type: "string", value: ".spec.text" }, "a\nb"],
    ["other values in string columns as JSON", { type: "string", value: ".spec.list" }, '["x",1]'],
    ["numbers in string columns", { type: "string", value: ".spec.ratio" }, "0.5"],
    ["integers without fraction", { type: "integer", value: ".spec.size" }, 3],
    ["numbers", { type: "number", value: ".spec.ratio" }, 0.5],
    ["booleans", { type: "boolean", value: ".spec.on" }, false],
    ["dates as ages", { type: "date", value: ".metadata.creationTimestamp" }, "5m"],
    ["unreadable dates", { type: "date", value: ".spec.when" }, "<invalid>"],
    ["dates that are no text", { type: "date", value: ".spec.size" }, null],
    ["values of another type as nothing", { type: "integer", value: ".spec.text" }, null],
    ["missing values as nothing", { type: "string", value: ".spec.none.at.all" }, null],
    ["null as nothing", { type: "string", value: ".spec.nothing" }, null],
    ["filters", { type: "string", value: '.status.conditions[?(@.type=="Ready")].status' }, "True"],
  ])("%s", (_title, column, expected) => {
    expect(cell(column)).toEqual(expected);
  });
});

describe("tables", () => {
  it("define their columns completely, once per watch", () => {
    const columns: PrinterColumn[] = [{ name: "Size", type: "integer", priority: 1, value: ".spec.size" }];
    const first = tableFor(widget(columns), [object], options) as Table;
    expect(first.columnDefinitions).toEqual([
      { name: "Size", type: "integer", format: "", description: "", priority: 1 },
    ]);
    const next = tableFor(widget(columns), [object], { ...options, withHeaders: false }) as Table;
    expect(next.columnDefinitions).toBeNull();
  });

  it("carry list metadata, or the resourceVersion of the one object", () => {
    const type = widget([]);
    expect((tableFor(type, [object], options) as Table).metadata).toEqual({ resourceVersion: "7" });
    const listMeta = { resourceVersion: "9", continue: "c", remainingItemCount: 2 };
    expect((tableFor(type, [object], { ...options, listMeta }) as Table).metadata).toEqual(listMeta);
  });

  it("include as much of the object as requested", () => {
    const row = (includeObject: "None" | "Metadata" | "Object"): unknown =>
      (tableFor(widget([]), [object], { ...options, includeObject }) as Table).rows[0]?.object;
    expect(row("None")).toBeNull();
    expect(row("Object")).toBe(object);
    expect(row("Metadata")).toEqual({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: object.metadata,
    });
  });

  it("mark finished pods", () => {
    const pod = builtinTypes().find((t) => t.kind === "Pod") as ResourceType;
    const finished = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, status: { phase: "Failed" } };
    const table = tableFor(pod, [finished], options) as Table;
    expect(table.rows[0]?.conditions).toEqual([
      { type: "Completed", status: "True", reason: "Failed", message: "The pod failed." },
    ]);
  });
});
