import type { KubeObject } from "@capstan/apimachinery";
import { keyOf } from "../kind.ts";

/** Returns the index values of an object: one, several or none. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[] | string | undefined;

interface Index<T extends KubeObject> {
  valuesOf: IndexFunction<T>;
  /** Value to the keys of its objects. */
  keys: Map<string, Set<string>>;
}

const NAMESPACE = "metadata.namespace";

/** Stores the objects of one kind by key and maintains indexes over them, in constant time per change. */
export class IndexedStore<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();

  constructor() {
    this.addIndex(NAMESPACE, (object) => object.metadata.namespace ?? "");
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  /** A snapshot; the array is the caller's, the objects are shared. */
  list(namespace?: string): T[] {
    return namespace === undefined || namespace === ""
      ? [...this.#objects.values()]
      : this.byIndex(NAMESPACE, namespace);
  }

  keys(): string[] {
    return [...this.#objects.keys()];
  }

  /** The objects filed under a value. */
  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`there is no index "${name}": add it before the cache is used`);
    const out: T[] = [];
    for (const key of index.keys.get(value) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) out.push(object);
    }
    return out;
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** Adds an index over existing and future objects. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) throw new Error(`index "${name}" already exists`);
    const index: Index<T> = { valuesOf, keys: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) for (const value of values(index, object)) file(index, value, key);
  }

  put(object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      const next = index.valuesOf(object);
      if (old !== undefined) {
        const before = index.valuesOf(old);
        // Nearly every change leaves index values alone; one string is the common case.
        if (typeof next === "string" && next === before) continue;
        for (const value of toArray(before)) unfile(index, value, key);
      }
      for (const value of toArray(next)) file(index, value, key);
    }
  }

  remove(key: string): void {
    const old = this.#objects.get(key);
    if (old === undefined) return;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) for (const value of values(index, old)) unfile(index, value, key);
  }
}

function toArray(value: readonly string[] | string | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

function values<T extends KubeObject>(index: Index<T>, object: T): readonly string[] {
  return toArray(index.valuesOf(object));
}

function file<T extends KubeObject>(index: Index<T>, value: string, key: string): void {
  const keys = index.keys.get(value);
  if (keys === undefined) index.keys.set(value, new Set([key]));
  else keys.add(key);
}

function unfile<T extends KubeObject>(index: Index<T>, value: string, key: string): void {
  const keys = index.keys.get(value);
  if (keys === undefined) return;
  keys.delete(key);
  if (keys.size === 0) index.keys.delete(value);
}
