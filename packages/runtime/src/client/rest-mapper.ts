import { type Clock, isObject, type Transport } from "@capstan/apimachinery";
import { apiVersionOf, type Kind, type KindRef } from "../kind.ts";
import { requestWithRetry } from "./request-retry.ts";
import { responseError } from "./response-error.ts";

/** Thrown when the API server does not serve a kind, usually because its CRD is not installed (yet). */
export class NoMatchError extends Error {
  readonly group: string;
  readonly version: string;
  readonly kind: string;

  constructor(group: string, version: string, kind: string) {
    const where = version === "" ? `group "${group}"` : `version "${apiVersionOf({ group, version })}"`;
    super(`no matches for kind "${kind}" in ${where}: install the provider (CRD) that serves it`);
    this.name = "NoMatchError";
    this.group = group;
    this.version = version;
    this.kind = kind;
  }
}

/**
 * Maps kinds to their plural and scope. Kinds known at compile time are registered; others (contract references to foreign kinds) are
 * discovered, cached, and discovered again on a miss, because a CRD may have been installed since.
 */
export class RestMapper {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #known = new Map<string, KindRef>();
  readonly #preferred = new Map<string, string>();
  readonly #loading = new Map<string, Promise<unknown>>();

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /** Makes kinds known, so that no discovery is needed for them. */
  register(...kinds: readonly KindRef[]): void {
    for (const kind of kinds) {
      const id = `${apiVersionOf(kind)}/${kind.kind}`;
      if (!this.#known.has(id)) this.#known.set(id, kind);
    }
  }

  /** The kind if it is known without asking the server. */
  peek(apiVersion: string, kind: string): KindRef | undefined {
    return this.#known.get(`${apiVersion}/${kind}`);
  }

  /** The kind of an object's apiVersion and kind; throws NoMatchError when the server does not serve it. */
  async find(apiVersion: string, kind: string): Promise<KindRef> {
    const known = this.peek(apiVersion, kind);
    if (known !== undefined) return known;
    const slash = apiVersion.indexOf("/");
    const group = slash < 0 ? "" : apiVersion.slice(0, slash);
    const version = slash < 0 ? apiVersion : apiVersion.slice(slash + 1);
    await this.#once(apiVersion, () => this.#loadResources(group, version));
    const found = this.peek(apiVersion, kind);
    if (found === undefined) throw new NoMatchError(group, version, kind);
    return found;
  }

  /** The kind in the server's preferred version among those that have it, for references that name only group and kind. */
  async preferred(group: string, kind: string): Promise<Kind> {
    const remembered = this.#preferred.get(`${group}/${kind}`);
    const known = remembered === undefined ? undefined : this.peek(remembered, kind);
    if (known !== undefined) return known;
    for (const version of await this.#versions(group)) {
      const apiVersion = apiVersionOf({ group, version });
      const found = this.peek(apiVersion, kind) ?? (await this.#tryFind(apiVersion, kind));
      if (found === undefined) continue;
      this.#preferred.set(`${group}/${kind}`, apiVersion);
      return found;
    }
    throw new NoMatchError(group, "", kind);
  }

  /** Forgets a kind, so that the next use asks the server again. */
  forget(kind: KindRef): void {
    this.#known.delete(`${apiVersionOf(kind)}/${kind.kind}`);
    this.#preferred.delete(`${kind.group}/${kind.kind}`);
  }

  async #tryFind(apiVersion: string, kind: string): Promise<KindRef | undefined> {
    try {
      return await this.find(apiVersion, kind);
    } catch (error) {
      if (error instanceof NoMatchError) return undefined;
      throw error;
    }
  }

  /** Lets concurrent misses share one request. */
  async #once<T>(key: string, load: () => Promise<T>): Promise<T> {
    const running = this.#loading.get(key);
    if (running !== undefined) return (await running) as T;
    const loading = load().finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return await loading;
  }

  async #versions(group: string): Promise<string[]> {
    if (group === "") return ["v1"];
    const body = await this.#once(`group ${group}`, () => this.#read(`/apis/${group}`));
    if (!isObject(body) || !Array.isArray(body["versions"])) return [];
    const versions = body["versions"].flatMap((entry: unknown) =>
      isObject(entry) && typeof entry["version"] === "string" ? [entry["version"]] : [],
    );
    const preferred = body["preferredVersion"];
    const first = isObject(preferred) && typeof preferred["version"] === "string" ? preferred["version"] : undefined;
    return first === undefined ? versions : [first, ...versions.filter((version) => version !== first)];
  }

  async #loadResources(group: string, version: string): Promise<void> {
    const body = await this.#read(group === "" ? `/api/${version}` : `/apis/${group}/${version}`);
    if (!isObject(body) || !Array.isArray(body["resources"])) return;
    for (const entry of body["resources"] as unknown[]) {
      if (!isObject(entry)) continue;
      const { name, kind, namespaced } = entry;
      if (typeof name !== "string" || typeof kind !== "string" || name.includes("/")) continue;
      this.register({ group, version, kind, plural: name, namespaced: namespaced === true });
    }
  }

  /** Undefined when the server does not know the group or version. */
  async #read(path: string): Promise<unknown> {
    const request = { method: "GET", path } as const;
    const response = await requestWithRetry(this.#transport, this.#clock, request);
    if (response.status === 404) return undefined;
    if (response.status !== 200) throw responseError(response, `GET ${path}`);
    return response.body;
  }
}
