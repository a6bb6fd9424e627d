import { requestEntityTooLarge } from "../errors.ts";
import { deepCopy, setOwn } from "../json.ts";
import type { SchemaNode } from "./node.ts";

/** Most values that defaults may add to one object: a default inside a list counts once per item. */
const MAX_ADDED = 50_000;

interface Budget {
  left: number;
}

/**
 * Drops nulls where the schema neither allows nor defaults them, then fills in defaults, in place. Nested defaults apply
 * inside parents that are present; items and values under undeclared keys are visited too.
 */
export function applyDefaults(node: SchemaNode, value: unknown, budget: Budget = { left: MAX_ADDED }): void {
  // What is frozen was stored before, with its defaults.
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  if (Array.isArray(value)) defaultItems(node, value, budget);
  else defaultFields(node, value as Record<string, unknown>, budget);
}

function copyOf(value: unknown, budget: Budget): unknown {
  spend(value, budget);
  return deepCopy(value);
}

function spend(value: unknown, budget: Budget): void {
  if (--budget.left < 0)
    throw requestEntityTooLarge(`the defaults of the schema add more than ${MAX_ADDED} values: split the object`);
  if (typeof value !== "object" || value === null) return;
  for (const item of Object.values(value)) spend(item, budget);
}

function defaultFields(node: SchemaNode, value: Record<string, unknown>, budget: Budget): void {
  for (const name of node.defaulted) {
    const current = Object.hasOwn(value, name) ? value[name] : undefined;
    const child = node.properties.get(name);
    if (child === undefined) continue;
    if (current === undefined || (current === null && child.refusesNull)) {
      setOwn(value, name, copyOf(child.defaultValue, budget));
    }
  }
  for (const key in value) {
    const current = value[key];
    if (current === null) defaultNull(node.child(key), value, key, budget);
    else if (typeof current === "object") {
      const child = node.child(key);
      if (child !== undefined) applyDefaults(child, current, budget);
    }
  }
}

function defaultNull(child: SchemaNode | undefined, value: Record<string, unknown>, key: string, budget: Budget): void {
  if (child === undefined || !child.refusesNull) return;
  if (child.defaultValue === undefined) delete value[key];
  else {
    const copy = copyOf(child.defaultValue, budget);
    setOwn(value, key, copy);
    applyDefaults(child, copy, budget);
  }
}

function defaultItems(node: SchemaNode, value: unknown[], budget: Budget): void {
  const items = node.items;
  if (items === undefined) return;
  for (let i = 0; i < value.length; i++) {
    if (value[i] === null && items.refusesNull && items.defaultValue !== undefined) {
      value[i] = copyOf(items.defaultValue, budget);
    }
    applyDefaults(items, value[i], budget);
  }
}
