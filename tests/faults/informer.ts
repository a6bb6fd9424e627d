import type { ApiProcess } from "./api-process.ts";

interface Listed {
  metadata: { resourceVersion: string; continue?: string };
  items: { metadata: { name: string; resourceVersion: string } }[];
}

/**
 * A client that keeps a copy of a collection, as client-go's reflectors do: it lists, watches from there, resumes when the
 * stream breaks, and lists again when its revision is too old.
 */
export class Informer {
  /** The copy: resourceVersion by name. */
  readonly copy = new Map<string, number>();
  /** Revisions that watches showed. */
  readonly shown = new Set<number>();
  /** How often it had to list again. */
  expired = 0;
  readonly #path: string;
  #revision = 0;
  /** Changes between two lists are not events: the later list shows the outcome. */
  readonly #gaps: { from: number; to: number }[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  get revision(): number {
    return this.#revision;
  }

  /** One list, if needed, and one watch until it closes or is interrupted. */
  async turn(api: ApiProcess, signal?: AbortSignal): Promise<void> {
    if (this.#revision === 0 && !(await this.#list(api))) return;
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=30&resourceVersion=${this.#revision}`;
    await api.watch(`${this.#path}?${query}`, (line) => this.#take(line), signal);
  }

  /** Checks that every acknowledged write was sent, or fell between two lists. */
  check(acknowledged: ReadonlyMap<number, string>): void {
    for (const [revision, name] of acknowledged) {
      if (this.shown.has(revision)) continue;
      if (!this.#gaps.some(({ from, to }) => revision > from && revision <= to))
        throw new Error(`revision ${revision} of ${name} was never shown`);
    }
  }

  /** In pages, as clients do; false when the server went away meanwhile. */
  async #list(api: ApiProcess): Promise<boolean> {
    const found = new Map<string, number>();
    let token: string | undefined;
    let revision = 0;
    do {
      const page = token === undefined ? "" : `&continue=${encodeURIComponent(token)}`;
      const answer = await api.send("GET", `${this.#path}?limit=3${page}`, {});
      if (answer === undefined || answer.status === 410) return false;
      const list = JSON.parse(answer.body) as Listed;
      for (const { metadata } of list.items) found.set(metadata.name, Number(metadata.resourceVersion));
      revision = Number(list.metadata.resourceVersion);
      token = list.metadata.continue;
    } while (token !== undefined && token !== "");
    const known = Math.max(0, ...this.copy.values());
    if (revision < known) throw new Error(`a list of revision ${revision} came after ${known}`);
    this.#gaps.push({ from: this.#last(), to: revision });
    this.copy.clear();
    for (const [name, version] of found) this.copy.set(name, version);
    this.#revision = revision;
    return true;
  }

  #last(): number {
    let last = 0;
    for (const revision of this.shown) if (revision > last) last = revision;
    return Math.max(last, this.#gaps.at(-1)?.to ?? 0);
  }

  #take(line: string): void {
    let event: { type: string; object: { code?: number; metadata: { name: string; resourceVersion: string } } };
    try {
      event = JSON.parse(line) as typeof event;
    } catch {
      // A partial last line of a killed server is not an event.
      return;
    }
    if (event.type === "ERROR") {
      if (event.object.code !== 410) throw new Error(`the watch failed: ${line}`);
      this.expired++;
      this.#revision = 0;
      return;
    }
    const revision = Number(event.object.metadata.resourceVersion);
    if (event.type !== "BOOKMARK") {
      if (revision <= this.#revision) throw new Error(`revision ${revision} came after ${this.#revision}`);
      const { name } = event.object.metadata;
      const had = this.copy.has(name);
      if (event.type === "ADDED" ? had : !had)
        throw new Error(`${event.type} of ${name}, which ${had ? "is" : "is not"} there`);
      if (event.type === "DELETED") this.copy.delete(name);
      else this.copy.set(name, revision);
      this.shown.add(revision);
    }
    this.#revision = Math.max(this.#revision, revision);
  }
}
