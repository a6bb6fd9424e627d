import {
  type Condition,
  findCondition,
  type Random,
  randomFloat,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { Cluster, Machine, Secret } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import {
  Cache,
  Client,
  type Recorder,
  type RunningControllers,
  silentLogger,
  startControllers,
} from "@capstan/runtime";
import { FaultyTransport } from "@capstan/runtime/testing";
import { ByoMachine } from "../kinds/byo-machine.ts";
import { byohProvider } from "../provider.ts";
import { type ByohWorld, startWorld } from "./world.ts";

const HOSTS = { group: ByoHost.group, plural: ByoHost.plural };
const MACHINES = { group: ByoMachine.group, plural: ByoMachine.plural };
const CORE = "cluster.x-k8s.io";

/** One cluster with many ByoMachines, and a manager on a bad line that can be killed at any time. */
export class Fleet {
  /** What people were told: `TYPE REASON NAME: NOTE`. */
  readonly events: string[] = [];
  /** Whatever must never be seen in any state of the hosts. */
  readonly violations: string[] = [];
  readonly clock: VirtualClock;
  readonly world: ByohWorld;
  readonly #client: Client;
  readonly #random: Random;
  readonly #holders = new Map<string, string>();
  #faults: { refused?: number; answerLost?: number; contended?: number } = {};
  #manager: { stop: AbortController; running: RunningControllers; cache: Cache } | undefined;

  private constructor(clock: VirtualClock, world: ByohWorld, random: Random) {
    this.clock = clock;
    this.world = world;
    this.#random = random;
    this.#client = new Client(world.server.admin(), { fieldManager: "test", clock });
    world.server.internal.watch(HOSTS, ({ name, object, previous }) => {
      this.#check(name, object as ByoHost | undefined, previous as ByoHost | undefined);
    });
  }

  static async start(seed = 1): Promise<Fleet> {
    const clock = new VirtualClock();
    const random = seededRandom(seed);
    const crds = [Cluster, Machine, ...byohProvider().kinds].map((kind) => kind.crd());
    const fleet = new Fleet(clock, await startWorld({ clock, random, crds }), random);
    await fleet.#client.create(object(Cluster, "c1", { controlPlaneEndpoint: { host: "h", port: 6443 } }));
    await fleet.#client.patchStatus(
      { kind: Cluster, namespace: "default", name: "c1" },
      { status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } } },
    );
    return fleet;
  }

  async close(): Promise<void> {
    await this.stopManager();
    await this.world.close();
  }

  async addHosts(...names: string[]): Promise<void> {
    for (const name of names) await this.world.agents.enrol(name);
  }

  async addMachines(...names: string[]): Promise<void> {
    await this.addMachinesWith({}, ...names);
  }

  /** Machines whose ByoMachine has this spec. */
  async addMachinesWith(wanted: object, ...names: string[]): Promise<void> {
    for (const name of names) {
      const infrastructureRef = { apiGroup: ByoMachine.group, kind: ByoMachine.kind, name };
      const spec = { clusterName: "c1", version: "v1.34.4", bootstrap: { dataSecretName: name }, infrastructureRef };
      const { uid = "" } = (await this.#client.create(object(Machine, name, spec))).metadata;
      const machine = object(ByoMachine, name, wanted);
      machine.metadata.ownerReferences = [{ apiVersion: `${CORE}/v1beta2`, kind: "Machine", name, uid }];
      await this.#client.create(machine);
    }
  }

  async deleteMachine(name: string): Promise<void> {
    await this.#client.delete({ kind: ByoMachine, namespace: "default", name });
  }

  /** A manager without memory; the one before is gone in the middle of whatever it did. */
  async restartManager(faults: { refused?: number; answerLost?: number; contended?: number } = {}): Promise<void> {
    await this.stopManager();
    this.#faults = faults;
    const { clock } = this;
    const line = new FaultyTransport(this.#contended(this.world.server.admin()), this.#random, faults);
    const client = new Client(line, { fieldManager: "byoh", clock });
    const cache = new Cache(client, { clock, random: this.#random });
    cache.informer(Secret);
    const provider = byohProvider();
    provider.addIndexes(cache);
    const stop = new AbortController();
    const deps = { cache, clock, random: this.#random, log: silentLogger, recorder: this.#recorder() };
    const running = startControllers(provider.controllers({ workload: this.world.workload }), deps, stop.signal);
    this.#manager = { stop, running, cache };
  }

  #recorder(): Recorder {
    return {
      event: ({ metadata }, type, reason, _action, note) =>
        void this.events.push(`${type} ${reason} ${metadata.name}: ${note}`),
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

  /** What a host's or a machine's condition says, as `STATUS REASON: MESSAGE`. */
  condition(of: { status?: { conditions?: Condition[] } } | undefined, type: string): string {
    const found = findCondition(of?.status?.conditions ?? [], type);
    return found === undefined ? "" : `${found.status} ${found.reason}: ${found.message}`;
  }

  get client(): Client {
    return this.#client;
  }

  machine(name: string): ByoMachine | undefined {
    return this.world.server.internal.get(MACHINES, "default", name) as ByoMachine | undefined;
  }

  /** Names of the machines whose Ready has this reason. */
  withReason(reason: string): string[] {
    const all = this.world.server.internal.list(MACHINES, "default") as unknown as ByoMachine[];
    return all
      .filter(({ status }) => findCondition(status?.conditions ?? [], "Ready")?.reason === reason)
      .map(({ metadata }) => metadata.name ?? "")
      .sort();
  }

  /** Somebody else changes a host right before it is written. */
  #contended(inner: Transport): Transport {
    return {
      request: async (request, signal) => {
        const name = /\/byohosts\/([^/]+)$/.exec(request.path)?.[1];
        const wanted = request.method === "PUT" && name !== undefined;
        if (wanted && randomFloat(this.#random) < (this.#faults.contended ?? 0))
          await this.world.server.internal.update(HOSTS, "default", name, "rival", (host) => {
            host.metadata.annotations = { touched: String(randomFloat(this.#random)) };
          });
        return await inner.request(request, signal);
      },
      watch: (request, signal) => inner.watch(request, signal),
      close: () => inner.close(),
    };
  }

  #check(name: string, host: ByoHost | undefined, previous: ByoHost | undefined): void {
    const before = previous?.spec?.machineRef?.uid;
    const after = host?.spec?.machineRef?.uid;
    if (before === after) return;
    const running = this.world.agents.running.get(name);
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
