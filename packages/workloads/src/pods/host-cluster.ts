import { type Clock, isReason, type KubeObject, type Random } from "@capstan/apimachinery";
import { Cache, type Client, type Kind, type Logger, type ObjectKey } from "@capstan/runtime";
import {
  Deployment,
  HostSecret,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from "./kinds.ts";

/** Label on every object that we create in a host cluster; only objects with this label are watched. */
export const HOSTED_LABEL = "capstan.dev/hosted";
/** Annotation on such an object with `NAMESPACE/NAME` of its owner. */
export const OWNER_ANNOTATION = "capstan.dev/hosted-by";

/** In the order in which they are taken away: what starts pods before the pods, data last. */
const KINDS = [
  Deployment,
  StatefulSet,
  Pod,
  Service,
  PodDisruptionBudget,
  NetworkPolicy,
  HostSecret,
  PersistentVolumeClaim,
] as const;
const BY_OWNER = "owner";
/** What a pod of something that is removed gets to end. */
const LEAVE_SECONDS = 1;

/** Thrown when an object of the desired name exists and belongs to another owner. */
export class NameTakenError extends Error {}

/** What a HostCluster works with: a client of the cluster that runs the pods, and a callback for changes. */
export interface HostClusterOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Called with the owner whose objects have changed. */
  changed(owner: string): void;
  /** Closes the client's connections. */
  close?(): Promise<void>;
}

/** A cluster that runs pods for us: a cached view of our objects in it, and writes that leave foreign objects alone. */
export class HostCluster {
  readonly client: Client;
  readonly #cache: Cache;
  readonly #close: (() => Promise<void>) | undefined;

  constructor(options: HostClusterOptions) {
    this.#cache = new Cache(options.client, options);
    this.client = this.#cache.client;
    this.#close = options.close;
    const told = (object: KubeObject): void => {
      const owner = ownerOf(object);
      if (owner !== undefined) options.changed(owner);
    };
    for (const kind of KINDS as readonly Kind<KubeObject>[]) {
      this.#cache.restrict(kind, { labelSelector: HOSTED_LABEL });
      this.#cache.addIndex(kind, BY_OWNER, (object) => ownerOf(object) ?? []);
      this.#cache.informer(kind).addHandler({ add: told, update: told, delete: told });
    }
    this.#cache.start();
  }

  /** Resolves when the view is complete; throws what keeps the cluster from answering. */
  async ready(signal?: AbortSignal): Promise<void> {
    for (const kind of KINDS as readonly Kind<KubeObject>[]) await this.#cache.informer(kind).syncedOrError(signal);
    // A watch that broke may be on its way back: what counts is whether the cluster answers now.
    if (this.#cache.problems().length > 0)
      await this.client.get(Service, { namespace: "default", name: "kubernetes" }, signal);
  }

  /** One of our objects as last seen. */
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): T | undefined {
    return this.#cache.get(kind, key);
  }

  /** The objects of an owner. */
  of<T extends KubeObject>(kind: Kind<T>, owner: string): T[] {
    return this.#cache.byIndex(kind, BY_OWNER, owner);
  }

  /** Writes an object unless it already is as desired. Throws NameTakenError when another owner's object has the name. */
  async ensure<T extends KubeObject>(kind: Kind<T>, desired: T, signal?: AbortSignal): Promise<T> {
    const key = { namespace: desired.metadata.namespace, name: desired.metadata.name ?? "" };
    const live = this.#cache.get(kind, key);
    const found = live ?? (await this.client.get(kind, key, signal));
    if (found !== undefined) refuseForeign(found, desired);
    return await this.client.ensure(desired, live, {}, signal);
  }

  /** Creates an object that never changes, unless the owner has it already. Throws NameTakenError when another owner's has the name. */
  async create<T extends KubeObject>(kind: Kind<T>, desired: T, signal?: AbortSignal): Promise<T> {
    const key = { namespace: desired.metadata.namespace, name: desired.metadata.name ?? "" };
    try {
      return await this.client.create(desired, {}, signal);
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
    }
    const found = await this.client.get(kind, key, signal);
    if (found !== undefined) refuseForeign(found, desired);
    return found ?? (await this.client.create(desired, {}, signal));
  }

  /** Deletes everything of an owner; gives back what is still there. */
  async removeAll(owner: string, signal?: AbortSignal): Promise<KubeObject[]> {
    const left: KubeObject[] = [];
    for (const kind of KINDS as readonly Kind<KubeObject>[]) left.push(...(await this.remove(kind, owner, signal)));
    return left;
  }

  /** Deletes an owner's objects of one kind; gives back what is still there. */
  async remove(kind: Kind<KubeObject>, owner: string, signal?: AbortSignal): Promise<KubeObject[]> {
    for (const object of this.of(kind, owner)) await this.#remove(kind, object, signal);
    return this.of(kind, owner);
  }

  async #remove(kind: Kind<KubeObject>, object: KubeObject, signal?: AbortSignal): Promise<void> {
    const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
    if (kind.kind !== Pod.kind) {
      if (deletionTimestamp === undefined)
        await this.client.delete(object, { propagationPolicy: "Background" }, signal);
      return;
    }
    // Pods go with what started them; deleting those first would only have them started again. On their way out they need no
    // time to take leave: nothing of them is to be kept.
    const startedByUs = (object.metadata.ownerReferences ?? []).length === 0;
    if (startedByUs && deletionTimestamp === undefined)
      await this.client.delete(object, { gracePeriodSeconds: LEAVE_SECONDS }, signal);
    if (deletionTimestamp !== undefined && (deletionGracePeriodSeconds ?? 0) > LEAVE_SECONDS)
      await this.client.delete(object, { gracePeriodSeconds: LEAVE_SECONDS }, signal);
  }

  async stop(): Promise<void> {
    await this.#cache.stop();
    await this.#close?.();
  }
}

function refuseForeign(found: KubeObject, desired: KubeObject): void {
  if (ownerOf(found) === ownerOf(desired)) return;
  const { namespace, name } = desired.metadata;
  throw new NameTakenError(
    `${desired.kind} ${namespace}/${name} exists and belongs to ${ownerOf(found) ?? "another owner"}; remove it or choose another name`,
  );
}

/** `NAMESPACE/NAME` of an object's owner. It must be in the object's namespace: in any other, any user may have set the annotation. */
function ownerOf({ metadata }: KubeObject): string | undefined {
  const owner = metadata.annotations?.[OWNER_ANNOTATION];
  return owner?.startsWith(`${metadata.namespace}/`) === true ? owner : undefined;
}
