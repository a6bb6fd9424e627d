import { deepCopy, isReason, type KubeObject } from "@capstan/apimachinery";
import { ByoHost, hostRights } from "@capstan/host-agent";
import type { Cache, Client, ObjectKey, Request } from "@capstan/runtime";

const BY_MACHINE = "machine-uid";

/** The hosts as machines see them: through their ByoHost objects alone. */
export class Hosts {
  #bound: { cache: Cache; client: Client } | undefined;
  /** Machines that found no host: every change of a host may help them. */
  readonly #waiting = new Map<string, Request>();
  /** Hosts with a claim under way. */
  readonly #claiming = new Set<string>();
  /** Machines whose last claim failed, and on which host: its answer may have been lost after it was carried out. */
  readonly #doubts = new Map<string, ObjectKey>();

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
  of(machine: KubeObject & { spec?: { providerID?: string } }): ByoHost | undefined {
    const all = this.#cache.byIndex(ByoHost, BY_MACHINE, machine.metadata.uid ?? "");
    if (all.length <= 1) return all[0];
    // More than one only when a claim that seemed lost came through late: the rest is given back.
    const known = machine.spec?.providerID;
    const sorted = [...all].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
    return sorted.find((host) => known !== undefined && host.spec?.providerID === known) ?? sorted[0];
  }

  /** All hosts that name a machine, as requests. */
  allOf(machine: KubeObject): Request[] {
    return this.#cache.byIndex(ByoHost, BY_MACHINE, machine.metadata.uid ?? "").map(requestOf);
  }

  waits(machine: KubeObject): void {
    this.#waiting.set(keyOf(machine), requestOf(machine));
  }

  waitsNoMore(machine: KubeObject): void {
    this.#waiting.delete(keyOf(machine));
  }

  /** Whether some machine is claiming this host right now: a second try would only end in a conflict. */
  isBeingClaimed(host: ByoHost): boolean {
    return this.#claiming.has(keyOf(host));
  }

  /** Takes a host; false when somebody else was faster. One update guarded by resourceVersion: two never get the same. */
  async claim(
    host: ByoHost,
    machine: KubeObject,
    given: { bootstrapSecret: string; providerID: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    this.waitsNoMore(machine);
    const { namespace = "", name = "", uid = "" } = machine.metadata;
    this.#doubts.set(uid, requestOf(host));
    this.#claiming.add(keyOf(host));
    try {
      const spec = {
        ...host.spec,
        machineRef: { apiVersion: machine.apiVersion, kind: machine.kind, namespace, name, uid },
        bootstrapSecret: { namespace, name: given.bootstrapSecret },
        providerID: given.providerID,
      };
      const done = await this.#update(host, spec, signal);
      if (done) this.#doubts.delete(uid);
      return done;
    } finally {
      this.#claiming.delete(keyOf(host));
    }
  }

  /** The host that a claim got although it seemed to have failed; the cache shows it soon. */
  async doubtful(machine: KubeObject, signal: AbortSignal): Promise<string | undefined> {
    const { uid = "" } = machine.metadata;
    const key = this.#doubts.get(uid);
    if (key === undefined) return undefined;
    const live = await this.#client.get(ByoHost, key, signal);
    if (live?.spec?.machineRef?.uid === uid) return key.name;
    this.#doubts.delete(uid);
    return undefined;
  }

  /** Lets the agent read the bootstrap data of its machine, or nothing. */
  async ensureRights(host: ByoHost, signal: AbortSignal): Promise<void> {
    const secret = host.spec?.bootstrapSecret?.name;
    const { namespace = "", name = "" } = host.metadata;
    for (const object of hostRights(namespace, name, secret === undefined ? [] : [secret]))
      await this.#client.apply(object, {}, signal);
  }

  /** Asks the agent to clean the host. */
  async release(host: ByoHost, machineUID: string, requestedAt: string, signal: AbortSignal): Promise<void> {
    await this.#update(host, { ...host.spec, release: { machineUID, requestedAt } }, signal);
  }

  /** Gives the host up as far as the machine is concerned; `release` stays when its agent still has to clean it. */
  async letGo(host: ByoHost, cleaned: boolean, signal: AbortSignal): Promise<boolean> {
    const { machineRef: _ref, bootstrapSecret: _secret, providerID: _id, release, ...rest } = host.spec ?? {};
    // Before the next machine can claim the host and gets rights of its own.
    await this.ensureRights({ ...host, spec: rest }, signal);
    return await this.#update(host, cleaned || release === undefined ? rest : { ...rest, release }, signal);
  }

  /** Takes a host from a machine that is not there or has another; it is free once its agent has cleaned it. */
  async takeBack(host: ByoHost, machineUID: string, requestedAt: string, signal: AbortSignal): Promise<void> {
    const release = host.spec?.release ?? { machineUID, requestedAt };
    await this.letGo({ ...host, spec: { ...host.spec, release } }, false, signal);
  }

  /** Calls back for the machine of a host that changed, and for those that wait for one. */
  subscribe(changed: (machine: Request) => void): () => void {
    const tell = (host: ByoHost): void => {
      const reference = host.spec?.machineRef;
      if (reference !== undefined) changed({ namespace: reference.namespace, name: reference.name });
      // A host that is in use helps nobody, and each reports every minute.
      if (reference !== undefined || host.spec?.release !== undefined) return;
      for (const request of this.#waiting.values()) if (request.namespace === host.metadata.namespace) changed(request);
    };
    const tellBoth = (host: ByoHost, old: ByoHost): void => {
      const before = old.spec?.machineRef;
      tell(host);
      if (before !== undefined && before.uid !== host.spec?.machineRef?.uid)
        changed({ namespace: before.namespace, name: before.name });
    };
    return this.#cache.informer(ByoHost).addHandler({ add: tell, update: tellBoth, delete: tell });
  }

  async #update(host: ByoHost, spec: NonNullable<ByoHost["spec"]>, signal: AbortSignal): Promise<boolean> {
    const { status: _status, ...rest } = deepCopy(host);
    try {
      await this.#client.update({ ...rest, spec } as ByoHost, {}, signal);
      return true;
    } catch (error) {
      if (isReason(error, "Conflict", "NotFound")) return false;
      throw error;
    }
  }
}

function requestOf(object: KubeObject): Request {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}

function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace}/${object.metadata.name}`;
}
