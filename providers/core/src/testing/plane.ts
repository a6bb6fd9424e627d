import {
  type ApiRequest,
  type ApiResponse,
  type Clock,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
  type WatchEvent,
} from "@capstan/apimachinery";
import { type ApiServer, type Converter, createApiServer, memoryStore } from "@capstan/apiserver";
import {
  type AdmissionLookup,
  indexCustomResourceDefinitions,
  kindAdmissionPlugins,
  kindConverters,
  type ServedKind,
  WorkloadCalls,
  WorkloadConnections,
} from "@capstan/capi";
import {
  Cache,
  Client,
  type Controller,
  type Logger,
  openDialGate,
  type Recorder,
  type RunningControllers,
  silentLogger,
  startControllers,
} from "@capstan/runtime";
import { type MachineApi, serveAtMachine, TOKEN } from "./machine-api.ts";

/** What a plane runs. */
export interface PlaneOptions {
  crds: readonly Unstructured[];
  /** For requests that speak another version than the stored one. */
  converters?: readonly Converter[];
  indexes?: (cache: Cache) => void;
  controllers: (deps: {
    workload: WorkloadConnections;
    calls: WorkloadCalls;
    clock: Clock;
    cache: Cache;
  }) => Controller[];
  /** Kinds whose rules and conversions the server obeys, as the manager's does; none unless said. */
  ruled?: readonly ServedKind[];
  /** Receives everything that is logged. */
  log?: Logger;
  /** Another clock for the controllers than the server's: for time that jumps. */
  clock?: VirtualClock;
}

/** One event as a controller reported it. */
export interface RecordedEvent {
  object: string;
  type: string;
  reason: string;
  note: string;
}

/**
 * A management plane in virtual time: the in-memory API server, controllers over it, and further in-memory servers as workload
 * clusters. The controllers can be killed after any write and started again.
 */
export class Plane {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly user: Client;
  readonly events: RecordedEvent[] = [];
  readonly failures: unknown[] = [];
  /** Writes of the controllers to the management API, as they were sent. */
  readonly requests: ApiRequest[] = [];
  readonly #options: PlaneOptions;
  readonly #workloads = new Map<string, ApiServer>();
  readonly #unreachable = new Set<string>();
  /** Addresses of workload clusters that have one of their own. */
  readonly #urls = new Map<string, string>();
  #running: { transport: CountingTransport; stop: () => Promise<void>; controllers: RunningControllers } | undefined;
  #seed = 1;

  private constructor(options: PlaneOptions, clock: VirtualClock, server: ApiServer) {
    this.#options = options;
    this.clock = clock;
    this.server = server;
    this.user = new Client(server.admin(), { fieldManager: "user", clock });
  }

  /** Starts server and controllers. */
  static async start(options: PlaneOptions): Promise<Plane> {
    const clock = options.clock ?? new VirtualClock();
    let running: ApiServer | undefined;
    const lookup: AdmissionLookup = {
      get: async (kind, namespace, name) => running?.internal.get(kind, namespace, name),
      list: async (kind, namespace) => running?.internal.list(kind, namespace) ?? [],
    };
    const server = await createApiServer({
      store: memoryStore(),
      clock,
      random: seededRandom(7),
      admission: kindAdmissionPlugins(options.ruled ?? [], { lookup }),
      converters: [...kindConverters(options.ruled ?? []), ...(options.converters ?? [])],
    });
    running = server;
    await server.registerCrds(options.crds);
    const plane = new Plane(options, clock, server);
    await plane.startControllers();
    return plane;
  }

  /** Writes of the controllers since they were started. */
  get writes(): number {
    return this.#running?.transport.writes ?? 0;
  }

  /** Whether the controllers reached the write they were to die after. */
  get died(): boolean {
    return this.#running?.transport.dead ?? false;
  }

  /** Starts the controllers with empty memory; with a number they are dead after so many writes. */
  async startControllers(dieAfter = Number.POSITIVE_INFINITY): Promise<void> {
    const { clock } = this;
    const random = seededRandom(100 + this.#seed++);
    const transport = new CountingTransport(this.server.admin(), dieAfter, (request) => {
      if (request.method !== "GET") this.requests.push(request);
    });
    const cache = new Cache(new Client(transport, { fieldManager: "capstan", clock }), { clock, random });
    indexCustomResourceDefinitions(cache);
    this.#options.indexes?.(cache);
    const workload = new WorkloadConnections({
      gate: openDialGate(),
      cache,
      clock,
      random,
      log: this.#options.log ?? silentLogger,
      dial: (config) => this.#dial(config.server, transport),
    });
    const stopping = new AbortController();
    const stopConnections = workload.start();
    const recorder: Recorder = {
      event: (object, type, reason, _action, note) =>
        this.events.push({ object: `${object.kind}/${object.metadata.name}`, type, reason, note }),
    };
    const { log: target = silentLogger } = this.#options;
    const recorded = (to: Logger, next: () => Logger): Logger => ({
      ...to,
      error: (message, fields) => {
        this.failures.push(fields);
        to.error(message, fields);
      },
      with: next,
    });
    const log = recorded(target, () => recorded(target, () => target));
    const controllers = startControllers(
      this.#options.controllers({ workload, calls: new WorkloadCalls(clock), clock, cache }),
      { cache, clock, random, log, recorder },
      stopping.signal,
    );
    this.#running = {
      transport,
      controllers,
      stop: async () => {
        stopping.abort(new Error("stopped"));
        await stopConnections();
        await cache.stop();
      },
    };
    await this.settle();
  }

  /** Kills the controllers wherever they are. */
  async stopControllers(): Promise<void> {
    this.#running?.transport.die();
    await this.#running?.stop();
    this.#running = undefined;
  }

  /** Lets everything happen that needs no more time than a moment. */
  async settle(ms = 20): Promise<void> {
    // In parts, as dead controllers have nothing to do in the rest of the time.
    const parts = 10;
    for (let i = 0; i < parts && this.#running?.transport.dead !== true; i++) await this.clock.advance(ms / parts);
  }

  /** A workload cluster: its server, and the kubeconfig Secret that leads there. */
  async addWorkload(namespace: string, name: string): Promise<Client> {
    const server = await this.#workload(namespace, name);
    const kubeconfig = [
      "apiVersion: v1",
      "kind: Config",
      `clusters: [{name: c, cluster: {server: "https://workload.test/${namespace}/${name}"}}]`,
      "users: [{name: u, user: {token: t}}]",
      "contexts: [{name: x, context: {cluster: c, user: u}}]",
      "current-context: x",
    ].join("\n");
    await this.user.create(kubeconfigSecret(namespace, name, kubeconfig));
    await this.settle();
    return new Client(server.admin(), { fieldManager: "user", clock: this.clock });
  }

  /** A workload cluster without a kubeconfig Secret, which the controllers write; its API is at this address. */
  async addWorkloadAt(url: string, namespace: string, name: string): Promise<Client> {
    const server = await this.#workload(namespace, name);
    this.#urls.set(url, `${namespace}/${name}`);
    return new Client(server.admin(), { fieldManager: "user", clock: this.clock });
  }

  /** A workload cluster whose API is served at a control plane Machine's address as well as at its endpoint. */
  async addWorkloadAtMachine(namespace: string, name: string): Promise<MachineApi & { readonly client: Client }> {
    const server = await this.#workload(namespace, name);
    const api = await serveAtMachine(server, name);
    const client = await this.addWorkloadAt(api.url, namespace, name);
    await this.user.create(kubeconfigSecret(namespace, name, api.kubeconfig));
    await this.settle();
    return { ...api, client };
  }

  async close(): Promise<void> {
    await this.stopControllers();
    for (const server of this.#workloads.values()) await server.close();
    await this.server.close();
  }

  /** Makes a workload cluster's requests fail, or answer again. */
  setReachable(namespace: string, name: string, reachable: boolean): void {
    if (reachable) this.#unreachable.delete(`${namespace}/${name}`);
    else this.#unreachable.add(`${namespace}/${name}`);
  }

  async #workload(namespace: string, name: string): Promise<ApiServer> {
    const known = this.#workloads.get(`${namespace}/${name}`);
    if (known !== undefined) return known;
    const server = await createApiServer({
      store: memoryStore(),
      clock: this.clock,
      random: seededRandom(9),
      auth: { staticTokens: new Map([[TOKEN, { name: "admin", groups: ["system:masters"] }]]) },
    });
    this.#workloads.set(`${namespace}/${name}`, server);
    return server;
  }

  #dial(url: string, owner: CountingTransport): Transport | undefined {
    const key = this.#urls.get(url) ?? url.replace("https://workload.test/", "");
    const server = this.#workloads.get(key);
    if (server === undefined) return undefined;
    return new CountingTransport(
      server.admin(),
      Number.POSITIVE_INFINITY,
      () => {
        if (owner.dead || this.#unreachable.has(key)) throw new Error("connection refused");
      },
      owner,
    );
  }
}

function kubeconfigSecret(namespace: string, name: string, kubeconfig: string): Unstructured {
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "cluster.x-k8s.io/secret",
    metadata: { namespace, name: `${name}-kubeconfig`, labels: { "cluster.x-k8s.io/cluster-name": name } },
    data: { value: Buffer.from(kubeconfig).toString("base64") },
  } as Unstructured;
}

/** Counts writes, and fails every request once the process is to be dead. */
class CountingTransport implements Transport {
  writes = 0;
  dead = false;
  readonly #inner: Transport;
  readonly #dieAfter: number;
  readonly #check: (request: ApiRequest) => void;
  readonly #owner: CountingTransport;

  constructor(
    inner: Transport,
    dieAfter: number,
    check: (request: ApiRequest) => void = () => undefined,
    owner?: CountingTransport,
  ) {
    this.#inner = inner;
    this.#dieAfter = dieAfter;
    this.#check = check;
    this.#owner = owner ?? this;
  }

  die(): void {
    this.dead = true;
  }

  async request(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    this.#check(request);
    if (this.#owner.dead) throw new Error("the process is dead");
    const response = await this.#inner.request(request, signal);
    if (request.method !== "GET") this.#owner.wrote();
    if (this.#owner.dead) throw new Error("the process is dead");
    return response;
  }

  wrote(): void {
    this.writes++;
    if (this.writes >= this.#dieAfter) this.dead = true;
  }

  async *watch(request: ApiRequest, signal?: AbortSignal): AsyncGenerator<WatchEvent> {
    this.#check(request);
    for await (const event of this.#inner.watch(request, signal)) {
      if (this.#owner.dead) return;
      yield event;
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/**
 * The law every controller obeys: killed after its k-th write, for every k, and started again, it ends in the same state. Runs
 * `scenario` once undisturbed to learn the state, then once per write until there is none left to be killed after. Returns how many
 * there were.
 */
export async function crashAtEveryWrite<State>(scenario: {
  start(): Promise<Plane>;
  /** What the user does, given the fresh plane. */
  act(plane: Plane): Promise<void>;
  /** Time that must pass until all is done. */
  wait(plane: Plane): Promise<void>;
  /** What must come out the same, without names and times made by chance. */
  state(plane: Plane): Promise<State>;
  check(actual: State, expected: State, crashedAfter: number): void;
  /** Which of so many writes to be killed after, for stories that take too long to try all. */
  sample?(writes: number): readonly number[];
}): Promise<number> {
  const calm = await scenario.start();
  const before = calm.writes;
  await scenario.act(calm);
  await scenario.wait(calm);
  const expected = await scenario.state(calm);
  const writes = calm.writes - before;
  await calm.close();
  const sampled = scenario.sample?.(writes);
  for (const k of sampled ?? naturalNumbers()) {
    const plane = await scenario.start();
    await plane.stopControllers();
    await plane.startControllers(k);
    await scenario.act(plane);
    await scenario.wait(plane);
    const { died } = plane;
    if (died) {
      await plane.stopControllers();
      await plane.startControllers();
      await scenario.wait(plane);
    }
    scenario.check(await scenario.state(plane), expected, k);
    await plane.close();
    if (sampled === undefined && !died) return k - 1;
  }
  return writes;
}

function* naturalNumbers(): Generator<number> {
  for (let k = 1; ; k++) yield k;
}
