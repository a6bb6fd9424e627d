import type { Unstructured } from "@capstan/apimachinery";
import { forgetOrigin, originOf, stamped, type Template } from "./copies.ts";
import { isSecretKey } from "./encryption.ts";
import { DAMAGE_CURE } from "./records.ts";
import {
  type LoadedStore,
  type LoggedEntry,
  type Store,
  type StoredBytes,
  type StoreEntry,
  StoreError,
} from "./store.ts";

/** The templates that all stores of a database share. */
export interface Templates {
  find(id: string): Template | undefined;
  /** Whether records may name it: it is on disk. */
  has(id: string): boolean;
  /** Writes templates to disk; false when there are too many already. */
  keep(template: Template): Promise<boolean>;
}

/** First byte of a record that names a template; JSON begins with none such. */
const COPY = 0;

/**
 * A store that writes down of a copy only what it was copied from and what is its own. Most of what a control plane holds is the same
 * in each of a thousand clusters: neither the disk nor the memory of the next process has to hold it a thousand times.
 */
export class CopyStore implements Store {
  readonly #inner: Store;
  readonly #templates: Templates;
  /** Commits keep their order, also while one of them waits for its templates. */
  #waiting: Promise<unknown> | undefined;

  constructor(inner: Store, templates: Templates) {
    this.#inner = inner;
    this.#templates = templates;
  }

  async load(): Promise<LoadedStore> {
    const loaded = await this.#inner.load();
    return { ...loaded, objects: loaded.objects.map((stored) => this.#whole(stored)) };
  }

  commit(entries: StoreEntry[]): Promise<void> {
    const missing = entries.flatMap((entry) => {
      const template = originOfEntry(entry)?.template;
      return template === undefined || this.#templates.has(template.id) ? [] : [template];
    });
    const before = this.#waiting;
    if (before === undefined && missing.length === 0) return this.#inner.commit(this.#short(entries));
    const ready = Promise.all([before, ...missing.map((template) => this.#templates.keep(template))]);
    this.#waiting = ready;
    const settled = (): void => {
      if (this.#waiting === ready) this.#waiting = undefined;
    };
    return ready.then(
      () => {
        settled();
        return this.#inner.commit(this.#short(entries));
      },
      (error: unknown) => {
        settled();
        throw error;
      },
    );
  }

  async readAt(revision: number, prefix: string): Promise<StoredBytes[]> {
    return (await this.#inner.readAt(revision, prefix)).map((stored) => this.#whole(stored));
  }

  async readLog(afterRevision: number): Promise<LoggedEntry[]> {
    const log = await this.#inner.readLog(afterRevision);
    return log.map((entry): LoggedEntry => {
      const { revision, key, bytes } = entry;
      const previous = entry.previous === undefined ? undefined : this.#whole(entry.previous);
      const whole: LoggedEntry = bytes === null ? { revision, key, bytes } : this.#whole({ revision, key, bytes });
      if (previous !== undefined) whole.previous = previous;
      return whole;
    });
  }

  compact(revision: number): Promise<void> {
    return this.#inner.compact(revision);
  }

  backup(path: string): Promise<void> {
    return this.#inner.backup(path);
  }

  problem(): string | undefined {
    return this.#inner.problem?.();
  }

  refusal(shrinks: boolean): StoreError | undefined {
    return this.#inner.refusal?.(shrinks);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #short(entries: readonly StoreEntry[]): StoreEntry[] {
    return entries.map((entry) => {
      const origin = originOfEntry(entry);
      if (origin === undefined || !this.#templates.has(origin.template.id)) return entry;
      if (entry.object !== undefined) forgetOrigin(entry.object);
      const { uid, time } = origin.stamp;
      const bytes = Buffer.from(`\0${JSON.stringify([origin.template.id, uid, time])}`);
      return { revision: entry.revision, key: entry.key, bytes };
    });
  }

  #whole(stored: StoredBytes): StoredBytes {
    const { key, revision, bytes } = stored;
    if (bytes[0] !== COPY) return stored;
    const [id = "", uid = "", time = ""] = JSON.parse(Buffer.from(bytes).toString("utf8", 1)) as string[];
    const template = this.#templates.find(id);
    if (template === undefined)
      throw new StoreError(`the stored data of ${key} is damaged: what it was copied from is missing`, DAMAGE_CURE);
    return new Copy(key, revision, template, { uid, time });
  }
}

/** A copy as it is returned: assembled on first access. */
class Copy implements StoredBytes {
  readonly key: string;
  readonly revision: number;
  /** Known without encoding any bytes. */
  readonly deleted = false;
  /** In a log: what it replaced. */
  previous?: StoredBytes;
  readonly #template: Template;
  readonly #stamp: { uid: string; time: string };

  constructor(key: string, revision: number, template: Template, stamp: { uid: string; time: string }) {
    this.key = key;
    this.revision = revision;
    this.#template = template;
    this.#stamp = stamp;
  }

  get object(): Unstructured {
    const copy = stamped(this.#template.object, this.#stamp);
    copy.metadata.resourceVersion = String(this.revision);
    return copy;
  }

  get bytes(): Uint8Array {
    return Buffer.from(JSON.stringify(this.object));
  }
}

/** Secrets are written as they are: they may have to be encrypted. */
function originOfEntry(entry: StoreEntry): ReturnType<typeof originOf> {
  return entry.object === undefined || isSecretKey(entry.key) ? undefined : originOf(entry.object);
}
