import { compareKeys } from "./go-yaml-keys.ts";
import { goScalar, literalScalar } from "./go-yaml-scalar.ts";
import { isObject } from "./json.ts";

/**
 * YAML as Go's library under Kubernetes writes it: keys sorted, lists not indented, long texts folded, quotes only where needed. The
 * same bytes as upstream, so that what either writes can be compared.
 */
export function toGoYaml(value: unknown): string {
  if (isObject(value) && !isEmpty(value)) return mapLines(value, 0);
  if (Array.isArray(value) && value.length > 0) return listLines(value, 0);
  return valueText(value, -2, -1).slice(1);
}

function mapLines(map: Readonly<Record<string, unknown>>, indent: number): string {
  return Object.keys(map)
    .filter((key) => map[key] !== undefined)
    .sort(compareKeys)
    .map((key) => {
      const name = goScalar(key, { column: indent, indent, foldable: false });
      return `${" ".repeat(indent)}${name}:${valueText(map[key], indent, indent + name.length + 1)}`;
    })
    .join("");
}

/** What follows `key:`, with the line's end. */
function valueText(value: unknown, indent: number, column: number): string {
  if (Array.isArray(value)) return value.length === 0 ? " []\n" : `\n${listLines(value, indent)}`;
  if (isObject(value)) return isEmpty(value) ? " {}\n" : `\n${mapLines(value, indent + 2)}`;
  if (typeof value === "string" && value.includes("\n")) {
    const literal = literalScalar(value, indent + 2);
    if (literal !== undefined) return ` ${literal}`;
  }
  return ` ${scalar(value, column + 1, indent + 2)}\n`;
}

function isEmpty(map: Readonly<Record<string, unknown>>): boolean {
  return Object.values(map).every((value) => value === undefined);
}

function listLines(list: readonly unknown[], indent: number): string {
  return list
    .map((item) => {
      const margin = `${" ".repeat(indent)}- `;
      if (isObject(item) && !isEmpty(item)) return margin + mapLines(item, indent + 2).slice(indent + 2);
      if (Array.isArray(item) && item.length > 0) return margin + listLines(item, indent + 2).slice(indent + 2);
      return `${" ".repeat(indent)}-${valueText(item, indent, indent + 1)}`;
    })
    .join("");
}

function scalar(value: unknown, column: number, indent: number): string {
  if (typeof value === "string") return goScalar(value, { column, indent, foldable: true });
  return value === null || value === undefined ? "null" : JSON.stringify(value);
}
