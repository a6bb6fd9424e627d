import assert from "node:assert/strict";
import {
  type Condition,
  findCondition,
  type OwnerReference,
  seededRandom,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import {
  Cache,
  Client,
  type Kind,
  kindRef,
  type RunningControllers,
  silentLogger,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";
import { type ContractObject, Secret } from "../contract/builtin-kinds.ts";
import { CLUSTER_NAME_LABEL, CLUSTER_SECRET_TYPE } from "../contract/constants.ts";
import { conditionsOf } from "../contract/fields.ts";
import { Cluster } from "../kinds/cluster.ts";
import { Machine } from "../kinds/machine.ts";
import { CountingTransport } from "../testing/counting-transport.ts";
import { timeless } from "../testing/timeless.ts";
import type { WorkloadClusters } from "../workload/types.ts";
import type { ContractApi, ContractSubject, ContractWorld } from "./types.ts";

const STEP_MS = 1000;
const PROVISION_MS = 60_000;
const NAMESPACE = "default";

/** A provider that runs against an API and a world, with a hand that plays the core controllers. */
export class Harness {
  readonly clock = new VirtualClock();
  readonly client: Client;
  readonly world: ContractWorld;
  readonly #subject: ContractSubject;
  readonly #api: ContractApi;
  #transport: CountingTransport;
  #stop: AbortController | undefined;
  #running: RunningControllers | undefined;
  #cache: Cache | undefined;

  private constructor(subject: ContractSubject, clock: VirtualClock, api: ContractApi, world: ContractWorld) {
    this.clock = clock;
    this.#subject = subject;
    this.#api = api;
    this.world = world;
    this.#transport = new CountingTransport(api.transport);
    this.client = new Client(api.transport, { fieldManager: "contract-suite", clock });
  }

  static async start(subject: ContractSubject): Promise<Harness> {
    const clock = new VirtualClock();
    const random = seededRandom(1);
    const world = await subject.createWorld({ clock, random });
    const kinds = [Cluster, Machine, ...world.provider().kinds];
    const api = await subject.startApi({ clock, random, crds: kinds.map((kind) => kind.crd()) });
    return new Harness(subject, clock, api, world);
  }

  /** Writes of the provider since it was last started. */
  get writes(): number {
    return this.#transport.writes;
  }

  /** Starts the provider with empty memory; its connection breaks after `cutAfter` writes. */
  async startProvider(cutAfter?: number): Promise<void> {
    await this.stopProvider();
    const provider = this.world.provider();
    this.#transport = new CountingTransport(this.#api.transport, cutAfter);
    const random = seededRandom(2);
    const client = new Client(this.#transport, { fieldManager: provider.name, clock: this.clock });
    this.#cache = new Cache(client, { clock: this.clock, random });
    this.#cache.informer(Secret);
    provider.addIndexes(this.#cache);
    this.#stop = new AbortController();
    this.#running = startControllers(
      provider.controllers({ workload: this.world.workload ?? NO_WORKLOAD }),
      { cache: this.#cache, clock: this.clock, random, log: silentLogger, recorder: silentRecorder },
      this.#stop.signal,
    );
  }

  async stopProvider(): Promise<void> {
    this.#stop?.abort(new Error("stopped"));
    const running = this.#running;
    const cache = this.#cache;
    this.#running = undefined;
    this.#cache = undefined;
    const ended = Promise.all([running?.finished, cache?.stop()]);
    await this.clock.advance(0);
    await ended;
  }

  async close(): Promise<void> {
    await this.stopProvider();
    await this.world.close?.();
    await this.#api.close();
  }

  /** Lets virtual time pass. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) await this.clock.advance(Math.min(STEP_MS, ms - passed));
  }

  /** Time enough for everything to be provisioned. */
  async settle(): Promise<void> {
    await this.pass(this.#subject.provisionMs ?? PROVISION_MS);
  }

  /** Waits in virtual time until something holds. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = this.clock.now() + 2 * (this.#subject.provisionMs ?? PROVISION_MS);
    while (!(await holds())) {
      assert.ok(this.clock.now() < end, `timed out: ${what}`);
      await this.clock.advance(STEP_MS);
    }
  }

  // What core would do.

  async createCluster(
    options: { paused?: boolean; foreign?: boolean; provisioned?: boolean } = {},
  ): Promise<Unstructured> {
    const infra = this.#subject.cluster?.("c1");
    const reference =
      options.foreign === true || infra === undefined
        ? { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "SomebodyElsesCluster", name: "c1" }
        : { apiGroup: groupOf(infra), kind: infra.kind, name: "c1" };
    const cluster = await this.client.create<Unstructured>({
      apiVersion: Cluster.apiVersion,
      kind: Cluster.kind,
      metadata: { namespace: NAMESPACE, name: "c1" },
      spec: { infrastructureRef: reference, ...(options.paused === true ? { paused: true } : {}) },
    });
    if (options.provisioned !== false) await this.clusterProvisioned();
    return cluster;
  }

  async clusterProvisioned(): Promise<void> {
    await this.client.patchStatus(
      { kind: Cluster, namespace: NAMESPACE, name: "c1" },
      { status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } } },
    );
  }

  async createInfraCluster(
    owner: Unstructured | undefined,
    change: (object: Unstructured) => void = () => undefined,
  ): Promise<Unstructured> {
    const object = this.#subject.cluster?.("c1");
    assert.ok(object !== undefined);
    for (const other of this.#subject.beside?.("c1") ?? [])
      await this.client.create({ ...other, metadata: { ...other.metadata, namespace: NAMESPACE } });
    return await this.#createOwned(object, owner, change);
  }

  async createMachine(options: { bootstrap?: boolean; failureDomain?: string } = {}): Promise<Unstructured> {
    const infra = this.#infraMachine();
    await this.#createBootstrapSecret();
    return await this.client.create<Unstructured>({
      apiVersion: Machine.apiVersion,
      kind: Machine.kind,
      metadata: { namespace: NAMESPACE, name: "m1", labels: { [CLUSTER_NAME_LABEL]: "c1" } },
      spec: {
        clusterName: "c1",
        version: "v1.34.4",
        bootstrap:
          options.bootstrap === false
            ? { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name: "m1" } }
            : { dataSecretName: "m1" },
        infrastructureRef: { apiGroup: groupOf(infra), kind: infra.kind, name: "m1" },
        failureDomain: options.failureDomain,
      },
    });
  }

  async bootstrapReady(): Promise<void> {
    await this.client.patch(
      { kind: Machine, namespace: NAMESPACE, name: "m1" },
      { spec: { bootstrap: { dataSecretName: "m1" } } },
    );
  }

  async createInfraMachine(
    owner: Unstructured | undefined,
    change: (object: Unstructured) => void = () => undefined,
  ): Promise<Unstructured> {
    return await this.#createOwned(this.#infraMachine(), owner, change);
  }

  #infraMachine(): Unstructured {
    const object = this.#subject.machine?.("m1");
    assert.ok(object !== undefined, "the provider has no machines");
    return object;
  }

  /** Makes `owner` the owner of an object, as core does. */
  async own(object: Unstructured, owner: Unstructured): Promise<void> {
    await this.client.patch(object, { metadata: { ownerReferences: [referenceTo(owner)] } });
  }

  async #createOwned(
    object: Unstructured,
    owner: Unstructured | undefined,
    change: (object: Unstructured) => void,
  ): Promise<Unstructured> {
    const complete: Unstructured = {
      ...object,
      metadata: {
        ...object.metadata,
        namespace: NAMESPACE,
        labels: { ...object.metadata.labels, [CLUSTER_NAME_LABEL]: "c1" },
        ...(owner === undefined ? {} : { ownerReferences: [referenceTo(owner)] }),
      },
    };
    change(complete);
    return await this.client.create(complete);
  }

  async #createBootstrapSecret(): Promise<void> {
    const encode = (text: string): string => Buffer.from(text).toString("base64");
    await this.client.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: NAMESPACE, name: "m1", labels: { [CLUSTER_NAME_LABEL]: "c1" } },
      type: CLUSTER_SECRET_TYPE,
      data: { value: encode(this.world.bootstrapData ?? "#cloud-config\n"), format: encode("cloud-config") },
    } as Secret);
  }

  // What a person would look at.

  async get(object: Unstructured): Promise<ContractObject | undefined> {
    return await this.client.get(await this.kindOf(object), { namespace: NAMESPACE, name: object.metadata.name ?? "" });
  }

  async must(object: Unstructured): Promise<ContractObject> {
    const found = await this.get(object);
    assert.ok(found !== undefined, `${object.kind} ${object.metadata.name} is gone`);
    return found;
  }

  async condition(object: Unstructured, type: string): Promise<Condition | undefined> {
    return findCondition(conditionsOf(await this.must(object)), type);
  }

  async kindOf(object: Unstructured): Promise<Kind<ContractObject>> {
    return kindRef(await this.client.kindOf(object));
  }

  /** All infrastructure objects, without what differs from run to run. */
  async picture(objects: readonly Unstructured[]): Promise<unknown> {
    return await Promise.all(objects.map(async (object) => timeless(await this.get(object))));
  }
}

const NO_WORKLOAD: WorkloadClusters = {
  get: () => ({ state: "connecting", since: 0, error: "there is no workload cluster here" }),
  subscribe: () => () => undefined,
};

function referenceTo(owner: Unstructured): OwnerReference {
  const { name = "", uid = "" } = owner.metadata;
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid };
}

function groupOf(object: Unstructured): string {
  return object.apiVersion.split("/")[0] ?? "";
}
