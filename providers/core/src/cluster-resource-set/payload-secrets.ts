import { Secret } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { Cache, type Request } from "@capstan/runtime";

/** Type that a Secret must have to be applied to workload clusters. */
export const PAYLOAD_SECRET_TYPE = "addons.cluster.x-k8s.io/resource-set";

/**
 * Caches Secrets with manifests. They are watched by type, separately from the manager's cache, so that unrelated Secrets of the management
 * cluster are never held in memory.
 */
export class PayloadSecrets {
  #cache: Cache | undefined;
  #enqueue: (request: Request) => void = () => undefined;

  /** Where to send the ClusterResourceSets of Secrets that change. */
  onChange(enqueue: (request: Request) => void): void {
    this.#enqueue = enqueue;
  }

  /** The Secret, whatever its type; undefined if there is none. */
  async get(
    context: ReconcileContext,
    key: { namespace: string; name: string },
    users: (secret: Secret) => Request[],
  ): Promise<Secret | undefined> {
    const cache = await this.#started(context, users);
    // A Secret of another type is not in this cache; it is read because the condition names it.
    return cache.get(Secret, key) ?? (await context.client.get(Secret, key, context.signal));
  }

  async #started(context: ReconcileContext, users: (secret: Secret) => Request[]): Promise<Cache> {
    if (this.#cache === undefined) {
      const { clock, random, log } = context;
      const cache = new Cache(context.client, { clock, random, log });
      cache.restrict(Secret, { fieldSelector: `type=${PAYLOAD_SECRET_TYPE}` });
      const changed = (secret: Secret): void => {
        for (const request of users(secret)) this.#enqueue(request);
      };
      cache.informer(Secret).addHandler({ add: changed, update: changed, delete: changed });
      cache.start();
      context.signal.addEventListener("abort", () => void cache.stop(), { once: true });
      this.#cache = cache;
    }
    await this.#cache.waitForSync(context.signal);
    return this.#cache;
  }
}
