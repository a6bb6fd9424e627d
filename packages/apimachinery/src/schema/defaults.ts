import { deepCopy, setOwn } from "../json.ts";
import type { SchemaNode } from "./node.ts";

/**
 * Drops nulls where the schema neither allows nor defaults them, then fills in defaults, in place. Nested defaults apply
 * inside parents that are present; items and values under undeclared keys are visited too.
 */
export function applyDefaults(node: SchemaNode, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) defaultItems(node, value);
  else defaultFields(node, value as Record<string, unknown>);
}

function defaultFields(node: SchemaNode, value: Record<string, unknown>): void {
  for (const name of node.defaulted) {
    const current = Object.hasOwn(value, name) ? value[name] : undefined;
    const child = node.properties.get(name);
    if (child === undefined) continue;
    if (current === undefined || (current === null && child.refusesNull)) {
      setOwn(value, name, deepCopy(child.defaultValue));
    }
  }
  for (const key in value) {
    const current = value[key];
    if (current === null) defaultNull(node.child(key), value, key);
    else if (typeof current === "object") {
      const child = node.child(key);
      if (child !== undefined) applyDefaults(child, current);
    }
  }
}

function defaultNull(child: SchemaNode | undefined, value: Record<string, unknown>, key: string): void {
  if (child === undefined || !child.refusesNull) return;
  if (child.defaultValue === undefined) delete value[key];
  else {
    const copy = deepCopy(child.defaultValue);
    setOwn(value, key, copy);
    applyDefaults(child, copy);
  }
}

function defaultItems(node: SchemaNode, value: unknown[]): void {
  const items = node.items;
  if (items === undefined) return;
  for (let i = 0; i < value.length; i++) {
    if (value[i] === null && items.refusesNull && items.defaultValue !== undefined) {
      value[i] = deepCopy(items.defaultValue);
    }
    applyDefaults(items, value[i]);
  }
}
