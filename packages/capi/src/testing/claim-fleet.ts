import {
  type Condition,
  findCondition,
  type KubeObject,
  type Random,
  randomFloat,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { Client, type Recorder } from "@capstan/runtime";
import { type Faults, FaultyTransport } from "@capstan/runtime/testing";
import { claimOn } from "../claims/reference.ts";
import { Secret } from "../contract/builtin-kinds.ts";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import type { TestedProvider } from "../contract-suite/types.ts";
import { Cluster } from "../kinds/cluster.ts";
import { Machine } from "../kinds/machine.ts";
import type { WorkloadClusters } from "../workload/types.ts";
import type { TestApi } from "./connected-cluster.ts";
import { RestartableControllers } from "./restartable.ts";

const NAMESPACE = "default";

/** What a provider acts on in a fleet: an API, and hosts that are not ours to restart. */
export interface FleetWorld {
  readonly server: TestApi;
  readonly workload: WorkloadClusters;
  close(): Promise<void>;
}

interface FleetKind {
  readonly group: string;
  readonly plural: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** How a provider's fleet differs from others. */
export interface FleetRules {
  provider(): TestedProvider;
  readonly host: FleetKind;
  readonly machine: FleetKind;
  /** Field of a host's spec that holds its claim. */
  readonly claimField: string;
  /** Reports whether something still runs on a host, so that it must not be claimed. */
  isInUse(host: string): boolean;
}

/** What goes wrong between the manager and the API, each between 0 and 1. */
export interface FleetFaults extends Faults {
  /** Another client changes a host right before the manager writes it. */
  readonly contended?: number;
}

/** The clock, the seed and the CRDs that a world is created with. */
export interface FleetDeps {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly crds: readonly Unstructured[];
}

/** One cluster with many machines that claim hosts, and a manager on a faulty connection that can be killed at any time. */
export abstract class ClaimFleet<W extends FleetWorld, M extends KubeObject & { status?: object }> {
  /** Recorded events: `TYPE REASON KIND/NAME: NOTE`. */
  readonly events: string[] = [];
  /** What must never be seen in any state of the hosts. */
  readonly violations: string[] = [];
  readonly clock: VirtualClock;
  readonly world: W;
  /** A client of another user. */
  readonly client: Client;
  readonly #rules: FleetRules;
  readonly #random: Random;
  readonly #manager: RestartableControllers;
  readonly #holders = new Map<string, string>();
  #faults: FleetFaults = {};

  protected constructor({ clock, random }: FleetDeps, world: W, rules: FleetRules) {
    this.clock = clock;
    this.world = world;
    this.#random = random;
    this.#rules = rules;
    this.#manager = new RestartableControllers(clock, random);
    this.client = new Client(world.server.admin(), { fieldManager: "test", clock });
    world.server.internal.watch(rules.host, ({ name, object, previous }) => this.#check(name, object, previous));
  }

  /** What a world needs: virtual time, a seed, and the CRDs of Cluster API and of these kinds. */
  protected static deps(seed: number, kinds: TestedProvider["kinds"]): FleetDeps {
    const crds = [Cluster, Machine, ...kinds].map((kind) => kind.crd());
    return { clock: new VirtualClock(), random: seededRandom(seed), crds };
  }

  /** Creates Cluster c1, whose control plane is ready for machines. */
  protected async createCluster(): Promise<void> {
    await this.create(Cluster, "c1", { controlPlaneEndpoint: { host: "h", port: 6443 } });
    await this.client.patchStatus(
      { kind: Cluster, namespace: NAMESPACE, name: "c1" },
      { status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } } },
    );
  }

  async close(): Promise<void> {
    await this.stopManager();
    await this.world.close();
  }

  abstract addHosts(...names: string[]): Promise<void>;

  abstract addMachines(...names: string[]): Promise<void>;

  /** Creates an object of the cluster, with its label. */
  async create(kind: Pick<FleetKind, "apiVersion" | "kind">, name: string, spec: object): Promise<void> {
    await this.client.create(clusterObject(kind, name, spec));
  }

  /** Creates an infrastructure machine with its Machine, which may have labels. */
  protected async createMachine(
    name: string,
    spec: object,
    more: { machine?: object; labels?: Record<string, string>; annotations?: Record<string, string> } = {},
  ): Promise<void> {
    const { group, kind } = this.#rules.machine;
    const owner = clusterObject(Machine, name, {
      clusterName: "c1",
      bootstrap: { dataSecretName: name },
      infrastructureRef: { apiGroup: group, kind, name },
      ...more.machine,
    });
    owner.metadata.labels = { ...owner.metadata.labels, ...more.labels };
    const { uid = "" } = (await this.client.create(owner)).metadata;
    const machine = clusterObject(this.#rules.machine, name, spec);
    machine.metadata.ownerReferences = [{ apiVersion: Machine.apiVersion, kind: Machine.kind, name, uid }];
    if (more.annotations !== undefined) machine.metadata.annotations = more.annotations;
    await this.client.create(machine);
  }

  async deleteMachine(name: string): Promise<void> {
    const { apiVersion, kind } = this.#rules.machine;
    await this.client.delete({ apiVersion, kind, metadata: { namespace: NAMESPACE, name } });
  }

  /** Starts a manager without memory; the one before is killed in the middle of what it does. */
  async restartManager(faults: FleetFaults = {}): Promise<void> {
    await this.stopManager();
    this.#faults = faults;
    const provider = this.#rules.provider();
    const line = new FaultyTransport(this.#contended(this.world.server.admin()), this.#random, faults);
    await this.#manager.start(
      line,
      provider.name,
      (cache) => {
        cache.informer(Secret);
        provider.addIndexes(cache);
        return provider.controllers({ workload: this.world.workload });
      },
      this.#recorder(),
    );
  }

  async stopManager(): Promise<void> {
    await this.#manager.stop();
  }

  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) await this.clock.advance(1000);
  }

  /** A condition of an object, or of the machine of a name, as `STATUS REASON: MESSAGE`. */
  condition(of: string | { status?: object } | undefined, type = "Ready"): string {
    const found = findCondition(conditionsIn(typeof of === "string" ? this.machine(of) : of), type);
    return found === undefined ? "" : `${found.status} ${found.reason}: ${found.message}`;
  }

  /** The events with this reason. */
  told(reason: string): string[] {
    return this.events.filter((event) => event.split(" ")[1] === reason);
  }

  machine(name: string): M | undefined {
    return this.world.server.internal.get(this.#rules.machine, NAMESPACE, name) as M | undefined;
  }

  /** Names of the machines whose Ready has this reason. */
  withReason(reason: string): string[] {
    const all = this.world.server.internal.list(this.#rules.machine, NAMESPACE) as unknown as M[];
    return all
      .filter((machine) => findCondition(conditionsIn(machine), "Ready")?.reason === reason)
      .map(({ metadata }) => metadata.name ?? "")
      .sort();
  }

  /** Names of the machines that have claimed a host. */
  claimants(): string[] {
    return this.world.server.internal
      .list(this.#rules.host, NAMESPACE)
      .flatMap((host) => claimOn(host, this.#rules.claimField)?.name ?? [])
      .sort();
  }

  #recorder(): Recorder {
    return {
      event: ({ kind, metadata }, type, reason, _action, note) =>
        void this.events.push(`${type} ${reason} ${kind}/${metadata.name}: ${note}`),
    };
  }

  /** Another client changes a host right before it is written. */
  #contended(inner: Transport): Transport {
    const { host } = this.#rules;
    return {
      request: async (request, signal) => {
        const [plural, name] = request.path.split("/").slice(-2);
        const isWrite = request.method === "PUT" && plural === host.plural && name !== undefined;
        if (isWrite && randomFloat(this.#random) < (this.#faults.contended ?? 0))
          await this.world.server.internal.update(host, NAMESPACE, name, "rival", ({ metadata }) => {
            metadata.annotations = { ...metadata.annotations, touched: String(randomFloat(this.#random)) };
          });
        return await inner.request(request, signal);
      },
      watch: (request, signal) => inner.watch(request, signal),
      close: () => inner.close(),
    };
  }

  #check(name: string, host: KubeObject | undefined, previous: KubeObject | undefined): void {
    const machineOf = (of: KubeObject | undefined): string | undefined => {
      const claim = of === undefined ? undefined : claimOn(of, this.#rules.claimField);
      return claim?.kind === this.#rules.machine.kind ? claim.uid : claim?.name;
    };
    const [before, after] = [machineOf(previous), machineOf(host)];
    if (before === after) return;
    if (before !== undefined && after !== undefined) this.violations.push(`${name} went from ${before} to ${after}`);
    if (after !== undefined && this.#rules.isInUse(name)) this.violations.push(`${name} was claimed while not clean`);
    if (before !== undefined) this.#holders.delete(before);
    if (after === undefined) return;
    const other = this.#holders.get(after);
    if (other !== undefined) this.violations.push(`${after} holds ${other} and ${name}`);
    this.#holders.set(after, name);
  }
}

function conditionsIn(of: { status?: object } | undefined): Condition[] {
  return (of?.status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
}

function clusterObject(kind: Pick<FleetKind, "apiVersion" | "kind">, name: string, spec: object): Unstructured {
  const metadata = { namespace: NAMESPACE, name, labels: { [CLUSTER_NAME_LABEL]: "c1" } };
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata, spec };
}
