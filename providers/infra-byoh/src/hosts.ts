import { deepCopy, isReason, type KubeObject } from "@capstan/apimachinery";
import { ByoHost, hostRights } from "@capstan/host-agent";
import type { Cache, Client, Request } from "@capstan/runtime";

const BY_MACHINE = "machine-uid";

/** The hosts as machines see them: through their ByoHost objects alone. */
export class Hosts {
  #bound: { cache: Cache; client: Client } | undefined;
  /** Machines that found no host: every change of a host may help them. */
  readonly #waiting = new Map<string, Request>();

  /** Tells where hosts are read and written; before the cache starts. */
  bind(cache: Cache): void {
    this.#bound = { cache, client: cache.client.withFieldManager("capstan-byoh") };
    cache.addIndex(ByoHost, BY_MACHINE, (host) =>
      host.spec?.machineRef === undefined ? [] : [host.spec.machineRef.uid],
    );
  }

  get #cache(): Cache {
    return this.#where.cache;
  }

  get #client(): Client {
    return this.#where.client;
  }

  get #where(): { cache: Cache; client: Client } {
    if (this.#bound === undefined) throw new Error("hosts are used before bind()");
    return this.#bound;
  }

  list(namespace: string): ByoHost[] {
    return this.#cache.list(ByoHost, { namespace });
  }

  /** The host a machine has claimed. */
  of(machine: KubeObject): ByoHost | undefined {
    return this.#cache.byIndex(ByoHost, BY_MACHINE, machine.metadata.uid ?? "")[0];
  }

  waits(machine: KubeObject): void {
    const request = { namespace: machine.metadata.namespace ?? "", name: machine.metadata.name ?? "" };
    this.#waiting.set(`${request.namespace}/${request.name}`, request);
  }

  /** Takes a host; false when somebody else was faster. One update guarded by resourceVersion: two never get the same. */
  async claim(host: ByoHost, machine: KubeObject, bootstrapSecret: string, providerID: string): Promise<boolean> {
    this.#waiting.delete(`${machine.metadata.namespace}/${machine.metadata.name}`);
    const { namespace = "", name = "", uid = "" } = machine.metadata;
    return await this.#update(host, {
      ...host.spec,
      machineRef: { apiVersion: machine.apiVersion, kind: machine.kind, namespace, name, uid },
      bootstrapSecret: { namespace, name: bootstrapSecret },
      providerID,
    });
  }

  /** Lets the agent read the bootstrap data of its machine, or nothing. */
  async ensureRights(host: ByoHost): Promise<void> {
    const secret = host.spec?.bootstrapSecret?.name;
    const { namespace = "", name = "" } = host.metadata;
    for (const object of hostRights(namespace, name, secret === undefined ? [] : [secret]))
      await this.#client.apply(object);
  }

  /** Asks the agent to clean the host. */
  async release(host: ByoHost, machineUID: string, requestedAt: string): Promise<void> {
    await this.#update(host, { ...host.spec, release: { machineUID, requestedAt } });
  }

  /** Gives the host up as far as the machine is concerned; `release` stays when its agent still has to clean it. */
  async letGo(host: ByoHost, cleaned: boolean): Promise<boolean> {
    const { machineRef: _ref, bootstrapSecret: _secret, providerID: _id, release, ...rest } = host.spec ?? {};
    const done = await this.#update(host, cleaned || release === undefined ? rest : { ...rest, release });
    if (done) await this.ensureRights({ ...host, spec: rest });
    return done;
  }

  /** Calls back for the machine of a host that changed, and for those that wait for one. */
  subscribe(changed: (machine: Request) => void): () => void {
    const tell = (host: ByoHost): void => {
      const reference = host.spec?.machineRef;
      if (reference !== undefined) changed({ namespace: reference.namespace, name: reference.name });
      for (const request of this.#waiting.values()) if (request.namespace === host.metadata.namespace) changed(request);
    };
    return this.#cache.informer(ByoHost).addHandler({ add: tell, update: tell, delete: tell });
  }

  async #update(host: ByoHost, spec: NonNullable<ByoHost["spec"]>): Promise<boolean> {
    const { status: _status, ...rest } = deepCopy(host);
    try {
      await this.#client.update({ ...rest, spec } as ByoHost);
      return true;
    } catch (error) {
      if (isReason(error, "Conflict", "NotFound")) return false;
      throw error;
    }
  }
}
