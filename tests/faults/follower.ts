import type { ApiProcess } from "./api-process.ts";

/** A client that watches, loses its server and resumes. */
export class Follower {
  readonly #path: string;
  /** Revisions it was shown, with the object's name. */
  readonly seen = new Map<number, string>();
  /** How often the server rejected its revision as too old. */
  expired = 0;
  #revision = 0;
  /** Revisions up to here may be missing: the server said so. */
  #forgiven = 0;

  constructor(path: string) {
    this.#path = path;
  }

  begin(revision: number): void {
    this.#revision = revision;
    this.#forgiven = revision;
  }

  /** Watches until the stream closes, or until revision `end` was sent. */
  async follow(api: ApiProcess, end?: number): Promise<void> {
    do {
      const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${end === undefined ? 60 : 2}&resourceVersion=${this.#revision}`;
      await api.watch(`${this.#path}?${query}`, (line) => this.#take(line));
    } while (end !== undefined && this.#revision < end);
  }

  /** Checks that every acknowledged write was sent once, and in order. */
  check(acknowledged: ReadonlyMap<number, string>): void {
    for (const [revision, name] of acknowledged) {
      if (revision <= this.#forgiven) continue;
      const shown = this.seen.get(revision);
      if (shown !== name) throw new Error(`revision ${revision} of ${name} was shown as ${shown ?? "nothing"}`);
    }
  }

  #take(line: string): void {
    // A partial last line of a killed server is not an event.
    let event: { type: string; object: { code?: number; metadata: { name: string; resourceVersion: string } } };
    try {
      event = JSON.parse(line) as typeof event;
    } catch {
      return;
    }
    if (event.type === "ERROR") {
      if (event.object.code !== 410) throw new Error(`the watch failed: ${line}`);
      this.expired++;
      const current = Number(/\((\d+)\)/.exec(line)?.[1] ?? 0);
      this.#revision = Math.max(this.#revision, current);
      this.#forgiven = this.#revision;
      return;
    }
    const revision = Number(event.object.metadata.resourceVersion);
    if (event.type === "BOOKMARK") {
      this.#revision = Math.max(this.#revision, revision);
      return;
    }
    if (revision <= this.#revision) throw new Error(`revision ${revision} came after ${this.#revision}`);
    this.#revision = revision;
    this.seen.set(revision, event.object.metadata.name);
  }
}
