import { deepFreeze, type Unstructured } from "@capstan/apimachinery";
import { LARGE_BYTES } from "../long-work.ts";
import type { StoredObject } from "./object-store.types.ts";
import type { StoredBytes } from "./store.ts";

/** A stored object whose parsed form or bytes are made on first access: most history is never read. */
export class Stored implements StoredObject {
  readonly key: string;
  readonly revision: number;
  #parsed: Unstructured | undefined;
  #encoded: Buffer | undefined;

  private constructor(key: string, revision: number, parsed: Unstructured | undefined, encoded: Buffer | undefined) {
    this.key = key;
    this.revision = revision;
    this.#parsed = parsed;
    this.#encoded = encoded;
  }

  /** From bytes that the store returned. */
  static fromBytes(key: string, revision: number, bytes: Uint8Array): Stored {
    return new Stored(key, revision, undefined, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  /** From what the store returned. */
  static fromStored(stored: StoredBytes): Stored {
    const { key, revision, object } = stored;
    return object === undefined
      ? Stored.fromBytes(key, revision, stored.bytes)
      : Stored.fromObject(key, revision, object);
  }

  /** From a new state, which gets `revision` as its resourceVersion and is frozen. A store in memory may never need its bytes. */
  static fromObject(key: string, revision: number, object: Unstructured): Stored {
    return new Stored(key, revision, withRevision(object, revision), undefined);
  }

  /** The last state of a deleted object under the deletion's revision; its bytes are only needed by watches. */
  static tombstone(key: string, revision: number, object: Unstructured): Stored {
    return new Stored(key, revision, withRevision(object, revision), undefined);
  }

  get object(): Unstructured {
    this.#parsed ??= deepFreeze(JSON.parse((this.#encoded ?? Buffer.alloc(0)).toString()) as Unstructured);
    return this.#parsed;
  }

  /** Whether its JSON is known and long: working on it takes a while. */
  get large(): boolean {
    return (this.#encoded?.length ?? 0) > LARGE_BYTES;
  }

  get bytes(): Buffer {
    this.#encoded ??= Buffer.from(JSON.stringify(this.#parsed));
    return this.#encoded;
  }
}

/** The object itself with its resourceVersion set where it may be changed, a copy of its outer layers where it is frozen. */
function withRevision(object: Unstructured, revision: number): Unstructured {
  const resourceVersion = String(revision);
  if (!Object.isFrozen(object) && !Object.isFrozen(object.metadata)) {
    object.metadata.resourceVersion = resourceVersion;
    return deepFreeze(object);
  }
  return deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion } });
}
