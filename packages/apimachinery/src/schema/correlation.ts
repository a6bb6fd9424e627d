import { deepEqual, isObject } from "../json.ts";
import type { SchemaNode } from "./node.ts";

/**
 * A new value next to the old value it corresponds to, for ratcheting: errors on what did not change are dropped.
 * Object fields correspond by name, items of map lists by key; items of other lists do not correspond.
 */
export class Correlation {
  readonly node: SchemaNode;
  readonly value: unknown;
  readonly old: unknown;
  #equal: boolean | undefined;
  #children: Map<string | number, Correlation | undefined> | undefined;
  #oldItems: MapListIndex | undefined;

  constructor(node: SchemaNode, value: unknown, old: unknown) {
    this.node = node;
    this.value = value;
    this.old = old;
  }

  /** Whether the value is what it was; map lists are compared by key, in any order. */
  equal(): boolean {
    this.#equal ??= this.#compare();
    return this.#equal;
  }

  /** The correlation of a field, when both sides have it and the schema knows it. */
  key(name: string): Correlation | undefined {
    const children = this.#cache();
    if (children.has(name)) return children.get(name);
    const child = this.#field(name);
    children.set(name, child);
    return child;
  }

  /** The correlation of a list item. */
  index(i: number): Correlation | undefined {
    const children = this.#cache();
    if (children.has(i)) return children.get(i);
    const child = this.#item(i);
    children.set(i, child);
    return child;
  }

  #cache(): Map<string | number, Correlation | undefined> {
    this.#children ??= new Map();
    return this.#children;
  }

  #field(name: string): Correlation | undefined {
    if (!isObject(this.value) || !isObject(this.old)) return undefined;
    if (!Object.hasOwn(this.value, name) || !Object.hasOwn(this.old, name)) return undefined;
    const node = this.node.child(name);
    return node === undefined ? undefined : new Correlation(node, this.value[name], this.old[name]);
  }

  #item(i: number): Correlation | undefined {
    const items = this.node.items;
    if (!Array.isArray(this.value) || !Array.isArray(this.old) || items === undefined) return undefined;
    if (this.node.listType !== "map") return undefined;
    this.#oldItems ??= new MapListIndex(this.node, this.old);
    const item: unknown = this.value[i];
    const old = this.#oldItems.get(item);
    return old === undefined ? undefined : new Correlation(items, item, old);
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old) && this.node.listType === "map") {
      return value.length === old.length && value.every((_, i) => this.index(i)?.equal() === true);
    }
    if (isObject(value) && isObject(old)) {
      const names = Object.keys(value);
      if (names.length !== Object.keys(old).length) return false;
      return names.every((name) => this.key(name)?.equal() === true);
    }
    return deepEqual(value ?? null, old ?? null);
  }
}

/** Finds items of a map list by the values of its keys; the first of several with the same key wins. */
export class MapListIndex {
  readonly #keys: readonly string[];
  readonly #items = new Map<string, unknown>();

  constructor(node: SchemaNode, items: readonly unknown[]) {
    this.#keys = node.listType === "map" ? node.mapKeys : [];
    if (this.#keys.length === 0) return;
    for (const item of items) {
      const key = this.#keyOf(item);
      if (key !== undefined && !this.#items.has(key)) this.#items.set(key, item);
    }
  }

  /** The item with the same key as the given one. */
  get(item: unknown): unknown {
    const key = this.#keyOf(item);
    return key === undefined ? undefined : this.#items.get(key);
  }

  #keyOf(item: unknown): string | undefined {
    if (!isObject(item)) return undefined;
    let key = "";
    for (const name of this.#keys) {
      const value = Object.hasOwn(item, name) ? item[name] : undefined;
      if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return undefined;
      key += `\u0000${typeof value}:${value}`;
    }
    return key;
  }
}
