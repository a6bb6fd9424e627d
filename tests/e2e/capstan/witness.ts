import { type KubeObject, systemClock, systemRandom } from "@capstan/apimachinery";
import { WorkerPool } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { BareMetalHost } from "@capstan/infra-metal3";
import { Cache, Client, httpTransport, type Kind, kindRef, loadKubeconfig } from "@capstan/runtime";

/** A request for a certificate, as far as a witness cares. */
export const CertificateSigningRequest = kindRef<KubeObject>({
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
});

/**
 * Sees every change of hosts and pools by watches, through kills of the manager: for the moments to kill at, and for what must never
 * happen on the way.
 */
export class Witness {
  readonly #kubeconfig: string;
  readonly #listeners = new Set<() => void>();
  /** Who holds each host now. */
  readonly #holders = new Map<string, string>();
  /** Hosts that each machine ever had. */
  readonly #had = new Map<string, Set<string>>();
  /** What must not happen and did. */
  readonly wrongs: string[] = [];
  #cache: Cache | undefined;
  #close: (() => Promise<void>) | undefined;

  private constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
  }

  static async open(kubeconfig: string): Promise<Witness> {
    const witness = new Witness(kubeconfig);
    await witness.connect();
    return witness;
  }

  /** Connects (again), without the pauses in which the watches of a killed server are tried. */
  async connect(): Promise<void> {
    await this.close();
    // What happened meanwhile was not seen.
    this.#holders.clear();
    const transport = httpTransport(await loadKubeconfig({ clock: systemClock, path: this.#kubeconfig }), {
      clock: systemClock,
    });
    const client = new Client(transport, { fieldManager: "witness", clock: systemClock });
    const cache = new Cache(client, { clock: systemClock, random: systemRandom });
    this.#follow(cache, ByoHost, (host) => this.#held(host, host.spec?.machineRef?.name));
    this.#follow(cache, BareMetalHost, (host) => this.#held(host, host.spec.consumerRef?.name));
    this.#follow(cache, WorkerPool, () => undefined);
    this.#follow(cache, CertificateSigningRequest, () => undefined);
    cache.start();
    this.#cache = cache;
    this.#close = async () => {
      await cache.stop();
      await transport.close();
    };
  }

  /** Waits for the moment at which an object looks so. */
  async until<T extends KubeObject>(what: string, kind: Kind<T>, look: (object: T) => boolean): Promise<T> {
    const seconds = 240;
    return await new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#listeners.delete(listener);
        reject(new Error(`${what}: not within ${seconds} s`));
      }, seconds * 1000);
      const listener = (): void => {
        const found = this.now(kind).find(look);
        if (found === undefined) return;
        clearTimeout(timer);
        this.#listeners.delete(listener);
        resolve(found);
      };
      this.#listeners.add(listener);
      listener();
    });
  }

  /** What is known of a kind right now. */
  now<T extends KubeObject>(kind: Kind<T>): T[] {
    return this.#cache?.synced(kind) === true ? this.#cache.list(kind) : [];
  }

  /** The hosts that each machine had, for those that ever had one. */
  get claims(): Record<string, string[]> {
    return Object.fromEntries([...this.#had].map(([machine, hosts]) => [machine, [...hosts].sort()]));
  }

  async close(): Promise<void> {
    const close = this.#close;
    this.#close = undefined;
    this.#cache = undefined;
    await close?.();
  }

  #follow<T extends KubeObject>(cache: Cache, kind: Kind<T>, look: (object: T) => void): void {
    const tell = (object: T): void => {
      look(object);
      for (const listener of this.#listeners) listener();
    };
    cache.informer(kind).addHandler({ add: tell, update: tell, delete: () => undefined });
  }

  #held(host: KubeObject, machine: string | undefined): void {
    const { name = "" } = host.metadata;
    const before = this.#holders.get(name);
    if (machine === undefined) {
      this.#holders.delete(name);
      return;
    }
    if (before !== undefined && before !== machine)
      this.wrongs.push(`host ${name} went from ${before} to ${machine} without having been free`);
    for (const [other, holder] of this.#holders)
      if (holder === machine && other !== name) this.wrongs.push(`machine ${machine} has ${other} and ${name}`);
    this.#holders.set(name, machine);
    this.#had.set(machine, (this.#had.get(machine) ?? new Set()).add(name));
  }
}
