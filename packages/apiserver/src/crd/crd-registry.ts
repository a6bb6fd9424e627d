import type { CustomResourceType } from "../registry/custom-type.ts";
import type { TypeRegistry } from "../registry/type-registry.ts";
import { prefixOf } from "../store/keys.ts";
import type { ObjectStore, StoredObject } from "../store/object-store.types.ts";
import type { Converter } from "../types.ts";
import { converterFor } from "./conversion.ts";
import { CRD_KEY, type CustomResourceDefinition, isConditionTrue } from "./crd-object.ts";
import { servedTypes } from "./served-types.ts";
import type { ConversionWebhook } from "./webhook-converter.ts";

interface Served {
  readonly stamp: string;
  readonly types: readonly CustomResourceType[];
}

/** Keeps the served types in step with the stored CRDs. */
export class CrdRegistry {
  readonly #store: ObjectStore;
  readonly #types: TypeRegistry;
  readonly #converters: readonly Converter[];
  readonly #webhook: ConversionWebhook;
  #served = new Map<string, Served>();
  #revision = -1;

  constructor(store: ObjectStore, types: TypeRegistry, converters: readonly Converter[], webhook: ConversionWebhook) {
    this.#store = store;
    this.#types = types;
    this.#converters = converters;
    this.#webhook = webhook;
  }

  /** Reads the durable CRDs and replaces the served types where something that matters changed. */
  sync(): void {
    const { items, revision } = this.#store.list(prefixOf(CRD_KEY.group, CRD_KEY.plural));
    if (revision === this.#revision) return;
    this.#revision = revision;
    const next = new Map<string, Served>();
    let changed = false;
    for (const stored of items) {
      const served = this.#serve(stored);
      next.set(stored.key, served);
      if (this.#served.get(stored.key) !== served) changed = true;
    }
    changed ||= next.size !== this.#served.size;
    this.#served = next;
    if (changed) this.#types.setCustom([...next.values()].flatMap((s) => s.types));
  }

  /** The same value as before while nothing changed that would end watches: conditions come and go without consequences. */
  #serve(stored: StoredObject): Served {
    const crd = stored.object as CustomResourceDefinition;
    const established = isConditionTrue(crd, "Established");
    const names = JSON.stringify(crd.status?.acceptedNames);
    const deleting = crd.metadata.deletionTimestamp !== undefined;
    const stamp = `${crd.metadata.uid ?? ""}/${crd.metadata.generation ?? 0}/${established}/${names}`;
    const old = this.#served.get(stored.key);
    if (old?.stamp === stamp) {
      for (const type of old.types) (type.custom as { terminating: boolean }).terminating = deleting;
      return old;
    }
    const converter = converterFor(crd, this.#converters, this.#webhook);
    return { stamp, types: established ? servedTypes(crd, stored.revision, converter) : [] };
  }
}
