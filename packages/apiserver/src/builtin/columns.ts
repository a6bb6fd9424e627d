import { formatAge, type Unstructured } from "@capstan/apimachinery";
import type { PrinterColumn } from "../types.ts";
import { at, list, obj, text } from "./read.ts";

type Value = (object: Unstructured, nowMs: number) => unknown;

/** A column of type string, which most built-in columns are, numbers included. */
export function column(name: string, value: Value): PrinterColumn {
  return { name, type: "string", value };
}

/** A column of type string that only `-o wide` shows. */
export function wide(name: string, value: Value): PrinterColumn {
  return { name, type: "string", priority: 1, value };
}

/** A column of type integer. */
export function integer(name: string, value: Value): PrinterColumn {
  return { name, type: "integer", value };
}

/** The first column of nearly every kind. */
export const NAME: PrinterColumn = {
  name: "Name",
  type: "string",
  format: "name",
  value: (o) => o.metadata.name ?? "",
};

/** How long ago the object was made. */
export const AGE: PrinterColumn = column("Age", (o, now) => age(o.metadata.creationTimestamp, now));

/** What the real server prints for kinds without columns of their own: the time itself, not an age. */
export const CREATED_AT: PrinterColumn = {
  name: "Created At",
  type: "date",
  value: (o) => o.metadata.creationTimestamp ?? "",
};

/** The age of a timestamp, `<unknown>` without one. */
export function age(timestamp: unknown, nowMs: number): string {
  if (typeof timestamp !== "string" || timestamp === "") return "<unknown>";
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? "<unknown>" : formatAge(nowMs - ms);
}

/** A label map as `a=b,c=d`, `<none>` when empty. */
export function formatLabels(labels: unknown): string {
  const pairs = Object.entries(obj(labels)).map(([key, value]) => `${key}=${text(value)}`);
  return pairs.length === 0 ? "<none>" : pairs.sort().join(",");
}

/** A metav1.LabelSelector as kubectl prints it. */
export function formatSelector(selector: unknown): string {
  if (selector === undefined || selector === null) return "<none>";
  const parts = Object.entries(obj(at(selector, "matchLabels"))).map(([key, value]) => ({
    key,
    text: `${key}=${text(value)}`,
  }));
  for (const expression of list(at(selector, "matchExpressions"))) {
    const key = text(at(expression, "key"));
    const values = list(at(expression, "values")).map(text).sort().join(",");
    const operator = text(at(expression, "operator"));
    if (operator === "In") parts.push({ key, text: `${key} in (${values})` });
    else if (operator === "NotIn") parts.push({ key, text: `${key} notin (${values})` });
    else if (operator === "Exists") parts.push({ key, text: key });
    else if (operator === "DoesNotExist") parts.push({ key, text: `!${key}` });
  }
  if (parts.length === 0) return "<none>";
  return parts
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map((p) => p.text)
    .join(",");
}
