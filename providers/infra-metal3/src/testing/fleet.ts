import {
  findCondition,
  type Random,
  randomFloat,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { CLONED_FROM_NAME_ANNOTATION, Cluster, DEPLOYMENT_NAME_LABEL, Machine, Secret } from "@capstan/capi";
import {
  Cache,
  Client,
  type Recorder,
  type RunningControllers,
  silentLogger,
  startControllers,
} from "@capstan/runtime";
import { FaultyTransport } from "@capstan/runtime/testing";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { IPPool } from "../kinds/ip-pool.ts";
import { Metal3DataTemplate } from "../kinds/metal3-data.ts";
import { Metal3Machine } from "../kinds/metal3-machine.ts";
import { metal3Provider } from "../provider.ts";
import { type Metal3World, startWorld } from "./world.ts";

const HOSTS = { group: BareMetalHost.group, plural: BareMetalHost.plural };
const MACHINES = { group: Metal3Machine.group, plural: Metal3Machine.plural };
const CORE = "cluster.x-k8s.io";

const IMAGE = { url: "http://images.example/node.qcow2", checksum: "abc", diskFormat: "qcow2" };
const POOL = { namePrefix: "pool", pools: [{ start: "192.0.2.10", end: "192.0.2.250" }], prefix: 24 };
const DATA = { metaData: { indexes: [{ key: "index" }], ipAddressesFromPool: [{ key: "ip", name: "pool" }] } };

/** One cluster with many Metal3Machines, and a manager on a bad line that can be killed at any time. */
export class Fleet {
  /** What people were told: `TYPE REASON KIND/NAME: NOTE`. */
  readonly events: string[] = [];
  /** Whatever must never be seen in any state of the hosts. */
  readonly violations: string[] = [];
  readonly clock: VirtualClock;
  readonly world: Metal3World;
  readonly #client: Client;
  readonly #random: Random;
  readonly #holders = new Map<string, string>();
  #faults: { refused?: number; answerLost?: number; contended?: number } = {};
  #manager: { stop: AbortController; running: RunningControllers; cache: Cache } | undefined;

  private constructor(clock: VirtualClock, world: Metal3World, random: Random) {
    this.clock = clock;
    this.world = world;
    this.#random = random;
    this.#client = new Client(world.server.admin(), { fieldManager: "test", clock });
    world.server.internal.watch(HOSTS, ({ name, object, previous }) => {
      this.#check(name, object as BareMetalHost | undefined, previous as BareMetalHost | undefined);
    });
  }

  static async start(seed = 1): Promise<Fleet> {
    const clock = new VirtualClock();
    const random = seededRandom(seed);
    const crds = [Cluster, Machine, ...metal3Provider().kinds].map((kind) => kind.crd());
    const fleet = new Fleet(clock, await startWorld({ clock, random, crds }), random);
    await fleet.#client.create(object(Cluster, "c1", { controlPlaneEndpoint: { host: "h", port: 6443 } }));
    await fleet.#client.patchStatus(
      { kind: Cluster, namespace: "default", name: "c1" },
      { status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } } },
    );
    await fleet.#client.create(object(IPPool, "pool", POOL));
    await fleet.#client.create(object(Metal3DataTemplate, "data", DATA));
    return fleet;
  }

  /** Addresses that are given away. */
  addresses(): Set<string> {
    const all = this.world.server.internal.list({ group: IPPool.group, plural: "ipaddresses" }, "default");
    return new Set(all.map((address) => (address as { spec?: { address?: string } }).spec?.address ?? ""));
  }

  async close(): Promise<void> {
    await this.stopManager();
    await this.world.close();
  }

  async addHosts(...names: string[]): Promise<void> {
    for (const name of names) await this.world.hosts.add(name);
  }

  async addMachines(...names: string[]): Promise<void> {
    for (const name of names) await this.addMachine(name);
  }

  /** A machine with this in its spec, of this MachineDeployment and template if one is named. */
  async addMachine(
    name: string,
    spec: object = {},
    of: { deployment?: string; template?: string } = {},
  ): Promise<void> {
    const infrastructureRef = { apiGroup: Metal3Machine.group, kind: Metal3Machine.kind, name };
    const owner = object(Machine, name, { clusterName: "c1", bootstrap: { dataSecretName: name }, infrastructureRef });
    if (of.deployment !== undefined)
      owner.metadata.labels = { ...owner.metadata.labels, [DEPLOYMENT_NAME_LABEL]: of.deployment };
    const { uid = "" } = (await this.#client.create(owner)).metadata;
    const machine = object(Metal3Machine, name, { image: IMAGE, dataTemplate: { name: "data" }, ...spec });
    machine.metadata.ownerReferences = [{ apiVersion: `${CORE}/v1beta2`, kind: "Machine", name, uid }];
    if (of.template !== undefined) machine.metadata.annotations = { [CLONED_FROM_NAME_ANNOTATION]: of.template };
    await this.#client.create(machine);
  }

  /** An object beside those of the cluster, with its label. */
  async create(kind: { apiVersion: string; kind: string }, name: string, spec: object): Promise<void> {
    await this.#client.create(object(kind, name, spec));
  }

  get client(): Client {
    return this.#client;
  }

  /** What a machine's condition says, as `STATUS REASON: MESSAGE`. */
  condition(machine: string, type = "Ready"): string {
    const found = findCondition(this.machine(machine)?.status?.conditions ?? [], type);
    return found === undefined ? "" : `${found.status} ${found.reason}: ${found.message}`;
  }

  /** The events with this reason. */
  told(reason: string): string[] {
    return this.events.filter((event) => event.split(" ")[1] === reason);
  }

  async deleteMachine(name: string): Promise<void> {
    await this.#client.delete({ kind: Metal3Machine, namespace: "default", name });
  }

  /** A manager without memory; the one before is gone in the middle of whatever it did. */
  async restartManager(faults: { refused?: number; answerLost?: number; contended?: number } = {}): Promise<void> {
    await this.stopManager();
    this.#faults = faults;
    const { clock } = this;
    const line = new FaultyTransport(this.#contended(this.world.server.admin()), this.#random, faults);
    const client = new Client(line, { fieldManager: "metal3", clock });
    const cache = new Cache(client, { clock, random: this.#random });
    cache.informer(Secret);
    const provider = metal3Provider();
    provider.addIndexes(cache);
    const stop = new AbortController();
    const deps = { cache, clock, random: this.#random, log: silentLogger, recorder: this.#recorder() };
    const running = startControllers(provider.controllers({ workload: this.world.workload }), deps, stop.signal);
    this.#manager = { stop, running, cache };
  }

  #recorder(): Recorder {
    return {
      event: ({ kind, metadata }, type, reason, _action, note) =>
        void this.events.push(`${type} ${reason} ${kind}/${metadata.name}: ${note}`),
    };
  }

  async stopManager(): Promise<void> {
    const manager = this.#manager;
    if (manager === undefined) return;
    this.#manager = undefined;
    manager.stop.abort(new Error("killed"));
    let over = false;
    const ended = Promise.all([manager.running.finished, manager.cache.stop()]).then(() => {
      over = true;
    });
    // Discovery that is being repeated does not hear of the end before its pause is over.
    while (!over) await this.clock.advance(50);
    await ended;
  }

  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) await this.clock.advance(1000);
  }

  machine(name: string): Metal3Machine | undefined {
    return this.world.server.internal.get(MACHINES, "default", name) as Metal3Machine | undefined;
  }

  /** Names of the machines whose Ready has this reason. */
  withReason(reason: string): string[] {
    const all = this.world.server.internal.list(MACHINES, "default") as unknown as Metal3Machine[];
    return all
      .filter(({ status }) => findCondition(status?.conditions ?? [], "Ready")?.reason === reason)
      .map(({ metadata }) => metadata.name ?? "")
      .sort();
  }

  /** Somebody else changes a host right before it is written. */
  #contended(inner: Transport): Transport {
    return {
      request: async (request, signal) => {
        const name = /\/baremetalhosts\/([^/]+)$/.exec(request.path)?.[1];
        const wanted = request.method === "PUT" && name !== undefined;
        if (wanted && randomFloat(this.#random) < (this.#faults.contended ?? 0))
          await this.world.server.internal.update(HOSTS, "default", name, "rival", (host) => {
            host.metadata.annotations = { ...host.metadata.annotations, touched: String(randomFloat(this.#random)) };
          });
        return await inner.request(request, signal);
      },
      watch: (request, signal) => inner.watch(request, signal),
      close: () => inner.close(),
    };
  }

  #check(name: string, host: BareMetalHost | undefined, previous: BareMetalHost | undefined): void {
    const before = previous?.spec.consumerRef?.name;
    const after = host?.spec.consumerRef?.name;
    if (before === after) return;
    const running = this.world.hosts.running.get(name);
    if (before !== undefined && after !== undefined) this.violations.push(`${name} went from ${before} to ${after}`);
    if (after !== undefined && running !== undefined) this.violations.push(`${name} was claimed while not clean`);
    if (before !== undefined) this.#holders.delete(before);
    if (after === undefined) return;
    const other = this.#holders.get(after);
    if (other !== undefined) this.violations.push(`${after} holds ${other} and ${name}`);
    this.#holders.set(after, name);
  }
}

function object(kind: { apiVersion: string; kind: string }, name: string, spec: object): Unstructured {
  const metadata = { namespace: "default", name, labels: { "cluster.x-k8s.io/cluster-name": "c1" } };
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata, spec };
}
