import { ApiError, deepCopy, type Unstructured, type UserInfo } from "@capstan/apimachinery";
import type { DeleteOptions, WriteOptions } from "../server/query-options.ts";
import { keyOf, parseKey, prefixOf } from "../store/keys.ts";
import type { StoredChange } from "../store/object-store.types.ts";
import type { InternalApi, InternalChange, ResourceKey, ResourceType } from "../types.ts";
import { apiVersionOf, type RegistryCore, type WriteRequest } from "./core.ts";
import { createObject } from "./create.ts";
import { decodeObject } from "./decode.ts";
import { deleteObject } from "./delete.ts";
import { type Change, updateObject } from "./update.ts";

/** Who acts when the server itself does: allowed everything. */
export const SERVER_USER: UserInfo = { name: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

const OPTIONS: WriteOptions = { dryRun: false, fieldManager: "", fieldValidation: "Ignore", force: false };

/** The server's own access to objects: past authentication and authorization, through everything else. Reads show storage versions. */
export class RegistryInternalApi implements InternalApi {
  readonly #core: RegistryCore;

  constructor(core: RegistryCore) {
    this.#core = core;
  }

  get(type: ResourceKey, namespace: string, name: string): Unstructured | undefined {
    return this.#core.store.get(keyOf(type.group, type.plural, namespace, name))?.object;
  }

  list(type: ResourceKey, namespace?: string): readonly Unstructured[] {
    return this.#core.store.list(prefixOf(type.group, type.plural, namespace)).items.map((stored) => stored.object);
  }

  async create(key: ResourceKey, object: Unstructured, manager: string): Promise<Unstructured> {
    const type = this.#typeFor(key, object.apiVersion);
    const draft = decodeObject(type, deepCopy(object), { mode: "Ignore", duplicates: [], warn: () => {} });
    const namespace = object.metadata.namespace ?? "";
    const outcome = await createObject(this.#request(type, "create", namespace, "", "", manager), draft);
    return outcome.object;
  }

  async update(
    key: ResourceKey,
    namespace: string,
    name: string,
    manager: string,
    change: (object: Unstructured) => void | false,
    subresource = "",
    options?: Parameters<InternalApi["update"]>[6],
  ): Promise<Unstructured | undefined> {
    const current = this.get(key, namespace, name);
    const type = this.#typeFor(key, current?.apiVersion);
    const core = this.#coreFor(options);
    const write = { ...this.#request(type, "update", namespace, name, subresource, manager), core };
    try {
      const outcome = await updateObject(write, (old): Change => {
        const draft = deepCopy(old);
        if (change(draft) === false) throw new Unwanted();
        return { draft, owned: false };
      });
      return outcome.object;
    } catch (error) {
      if (error instanceof Unwanted) return this.get(key, namespace, name);
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    }
  }

  async delete(
    key: ResourceKey,
    namespace: string,
    name: string,
    options?: Parameters<InternalApi["delete"]>[3],
  ): Promise<void> {
    const type = this.#typeFor(key, this.get(key, namespace, name)?.apiVersion);
    const deletion: DeleteOptions = {
      propagationPolicy: options?.propagationPolicy,
      gracePeriodSeconds: undefined,
      preconditions: options?.preconditions,
      dryRun: options?.dryRun ?? false,
    };
    const write = this.#request(type, "delete", namespace, name, "", "");
    await deleteObject({ ...write, core: this.#coreFor(options) }, deletion);
  }

  watch(type: ResourceKey | undefined, onChange: (change: InternalChange) => void): () => void {
    const prefix = type === undefined ? "" : prefixOf(type.group, type.plural);
    const { store } = this.#core;
    const snapshot = store.list(prefix);
    for (const stored of snapshot.items)
      onChange(internalChange({ revision: stored.revision, key: stored.key, current: stored }));
    return store.subscribe(prefix, snapshot.revision, (changes) => {
      for (const change of changes) onChange(internalChange(change));
    });
  }

  /** Without admission for what has passed it in another form. */
  #coreFor(options: { admitted?: boolean } | undefined): RegistryCore {
    return options?.admitted === true ? { ...this.#core, admission: [] } : this.#core;
  }

  #typeFor(key: ResourceKey, apiVersion: string | undefined): ResourceType {
    const { types } = this.#core;
    if (apiVersion !== undefined) {
      const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
      const exact = types.find(key.group, version, key.plural);
      if (exact !== undefined) return exact;
    }
    const preferred = types.preferred(key.group, key.plural);
    if (preferred === undefined) throw unknownType(key);
    return preferred;
  }

  #request(
    type: ResourceType,
    verb: string,
    namespace: string,
    name: string,
    subresource: string,
    manager: string,
  ): WriteRequest {
    const attributes = {
      user: SERVER_USER,
      verb,
      isResource: true,
      path: `/${apiVersionOf(type)}/${type.plural}`,
      group: type.group,
      version: type.version,
      resource: type.plural,
      subresource,
      namespace,
      name,
    };
    return {
      core: this.#core,
      type,
      namespace,
      name,
      subresource,
      user: SERVER_USER,
      attributes,
      options: OPTIONS,
      manager,
      warn: () => {},
    };
  }
}

/** The caller decided that nothing has to change. */
class Unwanted extends Error {}

function internalChange(change: StoredChange): InternalChange {
  const { group, plural, namespace, name } = parseKey(change.key);
  return {
    type: { group, plural },
    namespace,
    name,
    object: change.current?.object,
    previous: (change.deleted ?? change.previous)?.object,
  };
}

function unknownType(key: ResourceKey): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `no resource ${key.plural} in group ${JSON.stringify(key.group)}`,
    reason: "NotFound",
    code: 404,
  });
}
