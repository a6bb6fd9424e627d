import { compareApiVersions } from "@capstan/apimachinery";
import type { ResourceRegistry, ResourceType } from "../types.ts";

interface Index {
  readonly byResource: ReadonlyMap<string, ResourceType>;
  readonly byKind: ReadonlyMap<string, ResourceType>;
  readonly list: readonly ResourceType[];
}

const indexes = new WeakMap<readonly ResourceType[], Index>();

/** Built-in types are one shared array: index it once per process. */
function indexOf(types: readonly ResourceType[]): Index {
  let index = indexes.get(types);
  if (index === undefined) {
    index = buildIndex(types);
    indexes.set(types, index);
  }
  return index;
}

function buildIndex(types: readonly ResourceType[]): Index {
  const byResource = new Map<string, ResourceType>();
  const byKind = new Map<string, ResourceType>();
  for (const type of types) {
    byResource.set(`${type.group}/${type.version}/${type.plural}`, type);
    byKind.set(`${type.group}/${type.version}/${type.kind}`, type);
  }
  return { byResource, byKind, list: types };
}

/** The served resources of one server: shared built-ins, a few types bound to this instance, and its CRDs. */
export class TypeRegistry implements ResourceRegistry {
  readonly #builtin: Index;
  #own: Index = buildIndex([]);
  #custom: Index = buildIndex([]);
  #all: readonly ResourceType[] | undefined;
  readonly #listeners = new Set<() => void>();
  #changes = 1;

  constructor(builtin: readonly ResourceType[]) {
    this.#builtin = indexOf(builtin);
  }

  types(): readonly ResourceType[] {
    this.#all ??= [
      ...this.#builtin.list.filter((t) => this.find(t.group, t.version, t.plural) === t),
      ...this.#own.list,
      ...this.#custom.list,
    ];
    return this.#all;
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    const key = `${group}/${version}/${plural}`;
    return this.#own.byResource.get(key) ?? this.#builtin.byResource.get(key) ?? this.#custom.byResource.get(key);
  }

  findKind(group: string, version: string, kind: string): ResourceType | undefined {
    const key = `${group}/${version}/${kind}`;
    return this.#own.byKind.get(key) ?? this.#builtin.byKind.get(key) ?? this.#custom.byKind.get(key);
  }

  preferred(group: string, plural: string): ResourceType | undefined {
    let best: ResourceType | undefined;
    for (const type of this.types()) {
      if (type.group !== group || type.plural !== plural) continue;
      if (best === undefined || compareApiVersions(type.version, best.version) < 0) best = type;
    }
    return best;
  }

  generation(): number {
    return this.#changes;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Types that need this instance (reviews, CRDs); they stand before a built-in of the same name. */
  setOwn(types: readonly ResourceType[]): void {
    this.#own = buildIndex(types);
    this.#changed();
  }

  /** Replaces everything that comes from CRDs. */
  setCustom(types: readonly ResourceType[]): void {
    this.#custom = buildIndex(types);
    this.#changed();
  }

  #changed(): void {
    this.#all = undefined;
    this.#changes++;
    for (const listener of this.#listeners) listener();
  }
}
