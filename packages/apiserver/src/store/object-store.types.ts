import type { Unstructured } from "@capstan/apimachinery";

/** A stored object in its storage version, deep-frozen, with its resourceVersion set, together with its JSON. */
export interface StoredObject {
  /** `<group or "core">/<plural>/<namespace>/<name>`, cluster-scoped: `<group>/<plural>/<name>`. See keys.ts. */
  readonly key: string;
  readonly revision: number;
  readonly object: Unstructured;
  readonly bytes: Buffer;
  /** Whether its JSON is known to be long, so that work on it should yield to other requests between steps. */
  readonly large: boolean;
}

/** One durable change of one key, as watches receive it. */
export interface StoredChange {
  readonly revision: number;
  readonly key: string;
  /** The new state, or undefined when deleted. */
  readonly current?: StoredObject;
  readonly previous?: StoredObject;
  /** For deletions: the last state with the deletion's own revision as resourceVersion. */
  readonly deleted?: StoredObject;
}

/** What `decide` of ObjectStore.mutate() returns: write an object, delete it, or do nothing. */
export type Mutation =
  | { type: "put"; object: Unstructured }
  /** `object`: final state for the DELETED event, if it differs from the stored one. */
  | { type: "delete"; object?: Unstructured }
  | { type: "none" };

/** The outcome of a mutation, once it is durable. */
export interface MutationResult {
  readonly changed: boolean;
  /** The state after the mutation; for a delete the last state (with the deletion's revision); for none the current one. */
  readonly stored: StoredObject | undefined;
}

/**
 * Holds all current objects in memory on top of a durable Store. Mutations see pending writes; reads and watches see only durable ones.
 */
export interface ObjectStore {
  /** Revision of the newest durable write. */
  revision(): number;
  compactedRevision(): number;
  /** Durable state of one key. */
  get(key: string): StoredObject | undefined;
  /** Newest state of one key, pending writes included. Only for decisions that end in mutate(). */
  peek(key: string): StoredObject | undefined;
  /** Newest objects under a prefix, pending writes included, in no order. Only for decisions that end in mutate(). */
  peekAll(prefix: string): readonly StoredObject[];
  /** Durable objects under a prefix in byte order of their keys, as of the returned revision. The array is a private snapshot. */
  list(prefix: string): { revision: number; items: readonly StoredObject[] };
  /** State at an older revision; throws CompactedError. */
  listAt(prefix: string, revision: number): Promise<readonly StoredObject[]>;
  /**
   * Runs `decide` synchronously against the newest state and commits the outcome. `decide` may throw to refuse.
   * Resolves once durable. The stored object gets its new resourceVersion by the store.
   */
  mutate(key: string, decide: (current: StoredObject | undefined) => Mutation): Promise<MutationResult>;
  /**
   * Calls `sink` with every durable change under `prefix` after `fromRevision`, in order, without gaps or duplicates; first with
   * what the ring already holds. Throws CompactedError when the ring no longer reaches back. Returns a function that unsubscribes.
   */
  subscribe(
    prefix: string,
    fromRevision: number,
    sink: (changes: readonly StoredChange[], revision: number) => void,
  ): () => void;
  /** Resolves when `revision` is durable, or after timeoutMs with false. */
  waitFor(revision: number, timeoutMs: number): Promise<boolean>;
  /** Number of durable objects under a prefix. */
  count(prefix: string): number;
  close(): Promise<void>;
}
