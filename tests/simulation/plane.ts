import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  findCondition,
  type KubeObject,
  parseYamlDocuments,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, conditionsOf, Machine } from "@capstan/capi";
import type { EtcdClient } from "@capstan/etcd";
import {
  KINDS,
  kindRules,
  type ManagedProvider,
  type Manager,
  type ManagerOptions,
  managerTransport,
  simulatedHosts,
  startManager,
} from "@capstan/manager";
import { Client, type Kind, silentLogger } from "@capstan/runtime";
import type { PodRunner } from "@capstan/workloads/testing";
import { MachinePods } from "./machine-pods.ts";

const STEP_MS = 200;
const GIVE_UP_MS = 20 * 60_000;
/** Keys are made in threads, in real time: they finish before virtual time continues. */
const REAL_MS = 2;

/** A whole management plane in virtual time: API, all controllers, and hosts in memory. */
export class Plane {
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly server: ApiServer;
  /** Where everything is. */
  readonly namespace: string;
  readonly #dataDir: string;
  /** What the API refused to the manager: its roles must suffice. */
  readonly #refused = new Set<string>();
  readonly #providers: readonly ManagedProvider[] | undefined;
  readonly #mayBeRefused: RegExp | undefined;
  readonly #observe: (transport: Transport) => Transport;
  readonly #embeddedStores: ManagerOptions["embeddedStores"] | undefined;
  readonly #settled: (() => Promise<void>) | undefined;
  readonly #pods: MachinePods | undefined;
  #manager: Manager | undefined;

  private constructor(parts: {
    clock: VirtualClock;
    server: ApiServer;
    dataDir: string;
    namespace: string;
    mayBeRefused: RegExp | undefined;
    observe?: (transport: Transport) => Transport;
    embeddedStores?: ManagerOptions["embeddedStores"];
    settled?: () => Promise<void>;
    pods: MachinePods | undefined;
    providers: readonly ManagedProvider[] | undefined;
  }) {
    this.#pods = parts.pods;
    this.#providers = parts.providers;
    this.#mayBeRefused = parts.mayBeRefused;
    this.#observe = parts.observe ?? ((transport) => transport);
    this.#embeddedStores = parts.embeddedStores;
    this.#settled = parts.settled;
    const { clock, server } = parts;
    this.clock = clock;
    this.server = server;
    this.namespace = parts.namespace;
    this.#dataDir = parts.dataDir;
    this.client = new Client(server.admin(), { fieldManager: "user", clock });
  }

  /** Starts one with this many hosts. */
  static async start(options: {
    own: number;
    metal: number;
    namespace?: string;
    /** Requests that the manager makes without having the right yet. */
    mayBeRefused?: RegExp;
    /** false: nothing admits objects, as in a management cluster without our webhooks. */
    admission?: boolean;
    /** Wraps the transport of the manager. */
    observe?: (transport: Transport) => Transport;
    embeddedStores?: ManagerOptions["embeddedStores"];
    /** Waits until all work in real time has ended: then a timer fires. By default a short time passes after each step. */
    settled?: () => Promise<void>;
    /** Whether the management cluster runs pods, which are simulated. */
    pods?: boolean;
    /** The providers to load; by default those of this tree. */
    providers?: readonly ManagedProvider[];
  }): Promise<Plane> {
    const { namespace = "default", own, metal, mayBeRefused, observe, embeddedStores, settled } = options;
    const clock = new VirtualClock();
    let running: ApiServer | undefined;
    const rules = kindRules(KINDS, () => running);
    const server = await createApiServer({
      store: memoryStore(),
      clock,
      random: seededRandom(1),
      ...rules,
      ...(options.admission === false ? { admission: [] } : {}),
    });
    running = server;
    const dataDir = await mkdtemp(join(tmpdir(), "capstan-simulation-"));
    const given = {
      ...(observe && { observe }),
      ...(embeddedStores && { embeddedStores }),
      ...(settled && { settled }),
    };
    const pods = options.pods === true ? await MachinePods.start(server, clock, namespace) : undefined;
    const plane = new Plane({
      pods,
      clock,
      server,
      dataDir,
      namespace,
      mayBeRefused,
      providers: options.providers,
      ...given,
    });
    await plane.startManager();
    if (namespace !== "default" && options.pods !== true)
      await plane.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    for (const object of simulatedHosts(namespace, { byoh: own, metal3: metal }, options.providers))
      await plane.client.create(object);
    return plane;
  }

  /** Decides what happens to the pods of a plane with pods. */
  get podRunner(): PodRunner {
    if (this.#pods === undefined) throw new Error("the plane runs no pods");
    return this.#pods.runner;
  }

  async startManager(): Promise<void> {
    const { clock } = this;
    this.#manager = await startManager({
      transport: this.#noting(this.#observe(await managerTransport(this.server, this.clock))),
      kinds: "in-process",
      dataDir: this.#dataDir,
      ...(this.#embeddedStores && { embeddedStores: this.#embeddedStores }),
      clock,
      random: seededRandom(2),
      log: silentLogger,
      runsPods: this.#pods !== undefined,
      ...(this.#providers === undefined ? {} : { providers: this.#providers }),
    });
  }

  /** Kills the manager at any point, and lets another one take over. */
  async restartManager(): Promise<void> {
    await this.#manager?.stop();
    await this.startManager();
  }

  async close(): Promise<void> {
    await this.#manager?.stop();
    await this.server.close();
    await rm(this.#dataDir, { recursive: true, force: true });
    if (this.#refused.size > 0) throw new Error(`the manager's roles do not allow: ${[...this.#refused].join(", ")}`);
  }

  #noting(inner: Transport): Transport {
    return {
      request: async (request, signal) => {
        const response = await inner.request(request, signal);
        // That nothing is created in a namespace that goes away is no matter of roles.
        const ending = response.status === 403 && JSON.stringify(response.body).includes("is being terminated");
        const foreseen = this.#mayBeRefused?.test(request.path) === true;
        if (response.status === 403 && !ending && !foreseen) this.#refused.add(`${request.method} ${request.path}`);
        return response;
      },
      watch: (request, signal) => inner.watch(request, signal),
      close: () => inner.close(),
    };
  }

  /** Creates the objects of a manifest, in the plane's namespace. */
  async apply(manifest: string): Promise<Unstructured[]> {
    const text = manifest.replaceAll("namespace: default", `namespace: ${this.namespace}`);
    const objects = parseYamlDocuments(text) as Unstructured[];
    for (const object of objects) await this.client.create(object);
    return objects;
  }

  async get<T extends KubeObject>(kind: Kind<T>, name: string): Promise<T> {
    const object = await this.client.get(kind, { namespace: this.namespace, name });
    if (object === undefined) throw new Error(`${kind.kind} ${name} does not exist`);
    return object;
  }

  async list<T extends KubeObject>(kind: Kind<T>): Promise<T[]> {
    const { items } = await this.client.list(kind, { namespace: this.namespace });
    return items.sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  }

  /** The client of a workload cluster that the controllers use; undefined while they have none. */
  workload(name: string): Client | undefined {
    const connection = this.#manager?.workload.get({ namespace: this.namespace, name });
    return connection?.state === "connected" ? connection.client : undefined;
  }

  /** The member of etcd on a simulated control plane Node. */
  etcd(name: string, nodeName: string): { client: EtcdClient; endpoint: string } | undefined {
    return this.#manager?.planes.find({ namespace: this.namespace, name }, nodeName);
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) await this.#step();
  }

  /** Waits in virtual time; says what all machines wait for when it never comes. */
  async until(what: string, reached: () => Promise<boolean>): Promise<void> {
    const end = this.clock.now() + GIVE_UP_MS;
    while (!(await reached())) {
      if (this.clock.now() > end) throw new Error(`${what}: never; ${await this.#picture()}`);
      await this.#step();
    }
  }

  /** Until the cluster is Available and so many machines run. */
  async available(name: string, machines: number): Promise<void> {
    await this.until(`${name} Available with ${machines} machines`, async () => {
      const cluster = await this.client.get(Cluster, { namespace: this.namespace, name });
      if (cluster === undefined || findCondition(conditionsOf(cluster), "Available")?.status !== "True") return false;
      return (await this.list(Machine)).filter(({ status }) => status?.phase === "Running").length === machines;
    });
  }

  async gone(name: string): Promise<void> {
    await this.until(`${name} gone`, async () => {
      return (await this.client.get(Cluster, { namespace: this.namespace, name })) === undefined;
    });
  }

  async #step(): Promise<void> {
    if (this.#settled !== undefined) {
      await this.#stepExactly(this.#settled);
      return;
    }
    await this.#pods?.step((cluster) => this.workload(cluster));
    await this.clock.advance(STEP_MS);
    await new Promise((resolve) => setTimeout(resolve, REAL_MS));
  }

  async #stepExactly(settled: () => Promise<void>): Promise<void> {
    const end = this.clock.now() + STEP_MS;
    await settled();
    while (this.clock.now() < end) {
      await this.clock.advance(Math.max(0, Math.min(this.clock.nextTimer() ?? end, end) - this.clock.now()));
      await settled();
    }
  }

  /** Every condition that is not as it should be. */
  async #picture(): Promise<string> {
    const lines: string[] = [];
    for (const kind of KINDS.filter(({ plural }) => !plural.endsWith("templates")))
      for (const object of this.server.internal.list(kind, this.namespace))
        for (const { type, status, reason, message } of conditionsOf(object as { status?: unknown }))
          if (status !== "True" && type !== "Deleting" && type !== "Paused")
            lines.push(`${object.kind} ${object.metadata.name} ${type}=${status} ${reason}: ${message}`);
    return lines.join("\n");
  }
}
