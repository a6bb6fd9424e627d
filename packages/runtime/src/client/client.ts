import {
  type ApiError,
  type ApiRequest,
  type ApiResponse,
  type Clock,
  isReason,
  type KubeObject,
  type Transport,
  type Unstructured,
  type WatchEvent,
} from "@capstan/apimachinery";
import { ForeignDocumentError } from "@capstan/apimachinery/foreign";
import { apiVersionOf, type Kind, type KindRef, type ObjectKey } from "../kind.ts";
import { resourcePath } from "../resource-path.ts";
import { ApplyMemo } from "./apply-memo.ts";
import type {
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  ListResult,
  Patch,
  PatchOptions,
  Ref,
  Target,
  WatchOptions,
  WriteObserver,
  WriteOptions,
} from "./options.ts";
import { requestWithRetry } from "./request-retry.ts";
import { isStatus, responseError } from "./response-error.ts";
import { RestMapper } from "./rest-mapper.ts";

const PAGE_SIZE = 500;
/** Page size for untrusted servers: each page is parsed at once, and its limits leave room for large objects. */
const FOREIGN_PAGE_SIZE = 200;
/** What is kept of a kind of such a server, by the length of its text. */
const MAX_BYTES = 256 * 1024 * 1024;

const PATCH_TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

/** Settings of a client in addition to its transport. */
export interface ClientConfiguration {
  /** Field manager of this client's writes: one name per controller. */
  readonly fieldManager: string;
  readonly clock: Clock;
  /** Shared between the clients of one server. */
  readonly mapper?: RestMapper | undefined;
  /** Called for every write before its promise resolves; usually a Cache, so that a controller reads its own writes. */
  readonly observer?: WriteObserver | undefined;
  /** What the server does with fields it does not know; its own default is to drop them with a warning. */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore" | undefined;
  /** How many objects of a kind are read at most from an untrusted server; unlimited by default. */
  readonly maxObjects?: number | undefined;
  /** Receives the texts of Warning headers. */
  readonly onWarning?: ((text: string, request: ApiRequest) => void) | undefined;
}

/** Reads and writes objects of one API server. Every read goes to the server; for cached reads use Cache. */
export class Client {
  readonly transport: Transport;
  readonly mapper: RestMapper;
  readonly fieldManager: string;
  readonly #config: ClientConfiguration;
  readonly #memo: ApplyMemo;

  constructor(transport: Transport, config: ClientConfiguration) {
    this.transport = transport;
    this.#config = config;
    this.fieldManager = config.fieldManager;
    this.mapper = config.mapper ?? new RestMapper(transport, config.clock);
    this.#memo = new ApplyMemo(config.clock);
  }

  /** Fails when there are more objects of a kind than are read. */
  checkCount(kind: Pick<Kind, "plural">, count: number, pages = 0): void {
    const max = this.#config.maxObjects ?? Number.POSITIVE_INFINITY;
    // Pages may be short, but not for ever.
    if (count > max || pages > max / 100)
      throw new ForeignDocumentError(`the server has more than ${max} ${kind.plural}, or too many pages of them`);
  }

  /** Whether so much text of a kind is too much to be kept. */
  isTooLong(bytes: number): boolean {
    return this.#config.maxObjects !== undefined && bytes > MAX_BYTES;
  }

  /** Fails when the objects of a kind are longer than what is kept. */
  checkBytes(kind: Pick<Kind, "plural">, bytes: number): void {
    if (this.isTooLong(bytes))
      throw new ForeignDocumentError(`the ${kind.plural} of the server have more than ${MAX_BYTES} bytes`);
  }

  /** The same client writing under another name. */
  withFieldManager(fieldManager: string): Client {
    return new Client(this.transport, { ...this.#config, mapper: this.mapper, fieldManager });
  }

  /** The same client whose writes are shown to `observer` at once. */
  withObserver(observer: WriteObserver): Client {
    return new Client(this.transport, { ...this.#config, mapper: this.mapper, observer });
  }

  /** The object, or undefined if there is none. A kind that is not served is an error, never "no object". */
  async get<T extends KubeObject = Unstructured>(
    kind: Kind<T>,
    key: ObjectKey,
    signal?: AbortSignal,
  ): Promise<T | undefined> {
    const path = this.#objectPath(kind, key);
    const response = await this.#send({ method: "GET", path }, signal);
    if (response.status === 404 && isStatus(response.body) && response.body.details?.name !== undefined) {
      return undefined;
    }
    return this.#accept<T>(response, "GET", path);
  }

  /** All objects that match, read in pages; or the first `limit` of them. */
  async list<T extends KubeObject = Unstructured>(
    kind: Kind<T>,
    options: ListOptions = {},
    signal?: AbortSignal,
  ): Promise<ListResult<T>> {
    const path = resourcePath(kind, options.namespace);
    const items: T[] = [];
    const size = this.#config.maxObjects === undefined ? PAGE_SIZE : FOREIGN_PAGE_SIZE;
    let continueToken = options.continue;
    let bytes = 0;
    for (let pages = 1; ; pages++) {
      const query = { ...selectors(options), limit: String(options.limit ?? size), continue: continueToken };
      const response = await this.#send({ method: "GET", path, query }, signal);
      const page = this.#accept<{ metadata?: { resourceVersion?: string; continue?: string }; items?: T[] }>(
        response,
        "GET",
        path,
      );
      // Items of a list carry neither apiVersion nor kind on the wire when the server is real Kubernetes.
      for (const item of page.items ?? []) items.push(withType(item, kind));
      this.checkCount(kind, items.length, pages);
      bytes += response.bytes ?? 0;
      this.checkBytes(kind, bytes);
      continueToken = page.metadata?.continue;
      const more = continueToken !== undefined && continueToken !== "";
      if (!more || options.limit !== undefined) {
        return {
          items,
          resourceVersion: page.metadata?.resourceVersion ?? "",
          ...(continueToken === undefined || continueToken === "" ? {} : { continue: continueToken }),
        };
      }
    }
  }

  /** Creates an object; its apiVersion and kind say where. */
  async create<T extends KubeObject>(object: T, options: WriteOptions = {}, signal?: AbortSignal): Promise<T> {
    const kind = await this.kindOf(object);
    const path = resourcePath(kind, namespaceOf(kind, object.metadata.namespace, object.metadata.name ?? ""));
    return await this.#write<T>(kind, { method: "POST", path, query: this.#writeQuery(options), body: object }, signal);
  }

  /** Replaces an object; with metadata.resourceVersion set it fails with Conflict if someone else was faster. */
  async update<T extends KubeObject>(object: T, options: WriteOptions = {}, signal?: AbortSignal): Promise<T> {
    return await this.#put(object, options, signal);
  }

  /** Replaces an object's status. */
  async updateStatus<T extends KubeObject>(object: T, options: WriteOptions = {}, signal?: AbortSignal): Promise<T> {
    return await this.#put(object, { ...options, subresource: "status" }, signal);
  }

  /** Changes an object: an array is a JSON patch, an object a merge patch. */
  async patch<T extends KubeObject>(
    target: Target<T>,
    patch: Patch,
    options: PatchOptions = {},
    signal?: AbortSignal,
  ): Promise<T> {
    const { kind, key } = await this.#resolve(target);
    const type = options.type ?? (Array.isArray(patch) ? "json" : "merge");
    const request: ApiRequest = {
      method: "PATCH",
      path: this.#objectPath(kind, key, options.subresource),
      query: this.#writeQuery(options),
      headers: { "content-type": PATCH_TYPES[type] },
      body: patch,
    };
    return await this.#write<T>(kind, request, signal);
  }

  /** Changes an object's status. */
  async patchStatus<T extends KubeObject>(
    target: Target<T>,
    patch: Patch,
    options: PatchOptions = {},
    signal?: AbortSignal,
  ): Promise<T> {
    return await this.patch(target, patch, { ...options, subresource: "status" }, signal);
  }

  /** Server-side apply: the object holds exactly the fields that this client's manager wants to own. Forced by default. */
  async apply<T extends KubeObject>(object: T, options: ApplyOptions = {}, signal?: AbortSignal): Promise<T> {
    const kind = await this.kindOf(object);
    const key = { namespace: object.metadata.namespace, name: nameOf(object) };
    const request: ApiRequest = {
      method: "PATCH",
      path: this.#objectPath(kind, key, options.subresource),
      query: { ...this.#writeQuery(options), force: options.force === false ? undefined : "true" },
      headers: { "content-type": "application/apply-patch+yaml" },
      body: object,
    };
    const applied = await this.#write<T>(kind, request, signal);
    if (options.dryRun !== true) this.#memo.remember(applied, undefined, options.subresource);
    return applied;
  }

  /** Server-side apply of the status. */
  async applyStatus<T extends KubeObject>(object: T, options: ApplyOptions = {}, signal?: AbortSignal): Promise<T> {
    return await this.apply(object, { ...options, subresource: "status" }, signal);
  }

  /**
   * Applies `desired` unless it was the last thing applied to the object and `live` still has all of it, so that a steady system
   * stays silent. `live` comes from the cache; gives back the live or the applied object. `hold` is asked before a change of an
   * existing object is written, and leaves it out when it says yes.
   */
  async ensure<T extends KubeObject>(
    desired: T,
    live: T | undefined,
    options: ApplyOptions & { hold?: () => boolean } = {},
    signal?: AbortSignal,
  ): Promise<T> {
    const digest = this.#memo.digest(desired);
    if (live !== undefined) {
      if (this.#memo.isCurrent(desired, live, digest, options.subresource) || options.hold?.() === true) return live;
    }
    const applied = await this.apply(desired, options, signal);
    if (options.dryRun !== true) this.#memo.remember(applied, digest, options.subresource);
    return applied;
  }

  /** Deletes an object; false if it does not exist. An object with finalizers stays until they are removed. */
  async delete<T extends KubeObject>(
    target: Target<T>,
    options: DeleteOptions = {},
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { kind, key } = await this.#resolve(target);
    const path = this.#objectPath(kind, key);
    const { dryRun, ...rest } = options;
    const body = { apiVersion: "v1", kind: "DeleteOptions", ...rest, ...(dryRun === true ? { dryRun: ["All"] } : {}) };
    const response = await this.#send({ method: "DELETE", path, body }, signal);
    if (response.status === 404 && isStatus(response.body) && response.body.details?.name !== undefined) return false;
    const answer = this.#accept<Unstructured>(response, "DELETE", path);
    if (dryRun !== true) this.#config.observer?.deleted(kind, key, isStatus(answer) ? answer : (answer as KubeObject));
    return true;
  }

  /** Deletes all objects that match. */
  async deleteCollection(
    kind: KindRef,
    options: ListOptions & DeleteOptions = {},
    signal?: AbortSignal,
  ): Promise<void> {
    const { propagationPolicy, gracePeriodSeconds } = options;
    const path = resourcePath(kind, options.namespace);
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy, gracePeriodSeconds };
    const response = await this.#send({ method: "DELETE", path, query: selectors(options), body }, signal);
    this.#accept(response, "DELETE", path);
  }

  /** The changes of a kind as the server sends them; a Cache is nearly always what you want instead. */
  watch<T extends KubeObject = Unstructured>(
    kind: Kind<T>,
    options: WatchOptions = {},
    signal?: AbortSignal,
  ): AsyncIterable<WatchEvent<T>> {
    const query = {
      ...selectors(options),
      watch: "true",
      resourceVersion: options.resourceVersion,
      allowWatchBookmarks: options.bookmarks === true ? "true" : undefined,
      ...(options.sendInitialEvents === true
        ? { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }
        : {}),
      timeoutSeconds: options.timeoutSeconds === undefined ? undefined : String(options.timeoutSeconds),
    };
    const path = resourcePath(kind, options.namespace);
    // The kind says which type the server sends.
    return this.transport.watch({ method: "GET", path, query }, signal) as AsyncIterable<unknown> as AsyncIterable<
      WatchEvent<T>
    >;
  }

  /** Posts to a subresource such as `token` or `eviction` and gives back the server's answer. */
  async createSubresource<R = Unstructured>(
    target: Target<KubeObject>,
    subresource: string,
    body: object,
    signal?: AbortSignal,
  ): Promise<R> {
    const { kind, key } = await this.#resolve(target);
    const path = this.#objectPath(kind, key, subresource);
    return this.#accept<R>(await this.#send({ method: "POST", path, body }, signal), "POST", path);
  }

  /** Any other request, with the retries and errors of this client. */
  async request<R = unknown>(request: ApiRequest, signal?: AbortSignal): Promise<R> {
    return this.#accept<R>(await this.#send(request, signal), request.method, request.path);
  }

  /** The kind an object says it is of. */
  async kindOf(object: { apiVersion: string; kind: string }): Promise<KindRef> {
    return this.mapper.peek(object.apiVersion, object.kind) ?? (await this.mapper.find(object.apiVersion, object.kind));
  }

  async #put<T extends KubeObject>(
    object: T,
    options: WriteOptions & { subresource?: string },
    signal?: AbortSignal,
  ): Promise<T> {
    const kind = await this.kindOf(object);
    const key = { namespace: object.metadata.namespace, name: nameOf(object) };
    const path = this.#objectPath(kind, key, options.subresource);
    return await this.#write<T>(kind, { method: "PUT", path, query: this.#writeQuery(options), body: object }, signal);
  }

  async #write<T extends KubeObject>(kind: KindRef, request: ApiRequest, signal?: AbortSignal): Promise<T> {
    const object = this.#accept<T>(await this.#send(request, signal), request.method, request.path);
    if (request.query?.["dryRun"] === undefined && object.kind === kind.kind) {
      this.#config.observer?.written(kind, object);
    }
    return object;
  }

  async #send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    const response = await requestWithRetry(this.transport, this.#config.clock, request, signal);
    if (this.#config.onWarning !== undefined) {
      for (const text of response.warnings) this.#config.onWarning(text, request);
    }
    return response;
  }

  #accept<T>(response: ApiResponse, method: string, path: string): T {
    if (response.status >= 200 && response.status < 300) return response.body as T;
    throw responseError(response, `${method} ${path}`);
  }

  #writeQuery(options: WriteOptions): Record<string, string | undefined> {
    return {
      fieldManager: options.fieldManager ?? this.fieldManager,
      fieldValidation: this.#config.fieldValidation,
      dryRun: options.dryRun === true ? "All" : undefined,
    };
  }

  #objectPath(kind: KindRef, key: ObjectKey, subresource?: string): string {
    if (key.name === "") throw new Error(`a request for a ${kind.kind} needs a name`);
    return resourcePath(kind, namespaceOf(kind, key.namespace, key.name), key.name, subresource);
  }

  async #resolve<T extends KubeObject>(target: Target<T>): Promise<{ kind: KindRef; key: ObjectKey }> {
    if (isRef(target)) return { kind: target.kind, key: target };
    return { kind: await this.kindOf(target), key: { namespace: target.metadata.namespace, name: nameOf(target) } };
  }
}

/** Returns whether an error is a Conflict: the object has changed since it was read, so read it again and retry. */
export function isConflict(error: unknown): error is ApiError {
  return isReason(error, "Conflict");
}

function isRef<T extends KubeObject>(target: Target<T>): target is Ref<T> {
  return typeof target.kind === "object";
}

function nameOf(object: KubeObject): string {
  return object.metadata.name ?? "";
}

function namespaceOf(kind: KindRef, namespace: string | undefined, name: string): string | undefined {
  if (!kind.namespaced) return undefined;
  if (namespace === undefined || namespace === "") {
    throw new Error(
      `${kind.kind} "${name}" has no namespace, but ${kind.plural} live in namespaces: set metadata.namespace`,
    );
  }
  return namespace;
}

function selectors(options: ListOptions): Record<string, string | undefined> {
  return { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector };
}

function withType<T extends KubeObject>(item: T, kind: KindRef): T {
  if (item.kind !== undefined && item.apiVersion !== undefined) return item;
  return { ...item, apiVersion: apiVersionOf(kind), kind: kind.kind };
}
