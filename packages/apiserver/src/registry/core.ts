import type { Clock, Random, Unstructured, UserInfo } from "@capstan/apimachinery";
import type { WriteOptions } from "../server/query-options.ts";
import type { ObjectStore } from "../store/object-store.types.ts";
import type { AdmissionPlugin, InternalApi, RequestAttributes, ResourceRegistry, ResourceType } from "../types.ts";

/** Shared dependencies of all operations on objects: one per server instance. */
export interface RegistryCore {
  readonly store: ObjectStore;
  readonly types: ResourceRegistry;
  readonly clock: Clock;
  readonly random: Random;
  /** In the order they run. Grows while the server is put together, never afterwards. */
  readonly admission: readonly AdmissionPlugin[];
  /** Called after a write became durable and before it is answered, so that a new CRD is served with the reply. */
  committed(type: ResourceType): void;
  /** The server's own access to objects, for kinds that need other objects (reviews, subresources). */
  internal(): InternalApi;
}

/** One request that changes something, after authorization. */
export interface WriteRequest {
  readonly core: RegistryCore;
  readonly type: ResourceType;
  readonly namespace: string;
  /** Empty for creates. */
  readonly name: string;
  readonly subresource: string;
  readonly user: UserInfo;
  readonly attributes: RequestAttributes;
  readonly options: WriteOptions;
  /** Who will own the fields: the fieldManager parameter or the user agent's name. */
  readonly manager: string;
  warn(text: string): void;
  /** Set when the body is large: other requests run between the steps of the write. */
  readonly pause?: () => Promise<void>;
}

/** The result of a write. */
export interface WriteOutcome {
  readonly status: number;
  readonly object: Unstructured;
  /** Has the JSON of the stored object, or makes it when asked, if that is what the answer shows. */
  readonly view?: { readonly bytes: Buffer };
}

/** Group and resource as error constructors want them. */
export function groupResource(type: ResourceType): { group: string; resource: string } {
  return { group: type.group, resource: type.plural };
}

/** `apps/v1`, or `v1` in the core group. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}
