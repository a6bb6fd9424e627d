import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, conditionsOf, kindAdmissionPlugins, kindConverters, Machine, Secret } from "@capstan/capi";
import { Cache, Client, silentLogger, silentRecorder, startControllers } from "@capstan/runtime";
import { startWorkload, type TestWorkload } from "@capstan/workloads/testing";
import { Backend } from "../backend.ts";
import { KVM_KINDS } from "../kinds/all.ts";
import { KVMCluster } from "../kinds/kvm-cluster.ts";
import { KVMMachine } from "../kinds/kvm-machine.ts";
import { CLOSED_HOST, type HostSettings } from "../placement/host-settings.ts";
import { ProcessPlacement } from "../placement/process.ts";
import { SimulatedPlacement } from "../placement/simulated.ts";
import { kvmProvider } from "../running.ts";
import { FakeRunner } from "./fake-runner.ts";

const LABELS = { "cluster.x-k8s.io/cluster-name": "c1" };
/** What tests say of an image that nothing fetches. */
export const IMAGE = { url: "https://images.example/node.qcow2", checksum: "a".repeat(64) };

/** A management cluster with one Cluster, whose machines run on a fake host. */
export class KvmWorld {
  readonly clock = new VirtualClock();
  readonly runner = new FakeRunner(this.clock);
  readonly client: Client;
  readonly workload: TestWorkload;
  readonly #stop: () => Promise<void>;

  private constructor(client: Client, workload: TestWorkload, stop: () => Promise<void>) {
    this.client = client;
    this.workload = workload;
    this.#stop = stop;
  }

  static async start(more: Partial<HostSettings> = {}, memoryMib = 32 * 1024): Promise<KvmWorld> {
    let stop = (): Promise<void> => Promise.resolve();
    const random = seededRandom(3);
    const boot = new VirtualClock();
    const workload = await startWorkload({ clock: boot, random });
    const kinds = [Cluster, Machine, ...KVM_KINDS];
    const converters = kindConverters(kinds, (group) => `${group}/v1beta1`);
    const admission = kindAdmissionPlugins(KVM_KINDS);
    const server = await createApiServer({ store: memoryStore(), clock: boot, random, converters, admission });
    await server.registerCrds(kinds.map((kind) => kind.crd()));
    const client = new Client(server.admin(), { fieldManager: "test", clock: boot });
    const world = new KvmWorld(client, workload, () => stop());
    const { clock, runner } = world;
    const settings = { ...CLOSED_HOST, openUserNetwork: true, ...more };
    const close = (): Promise<void> => Promise.resolve();
    const provider = kvmProvider(
      new Backend({
        Process: new ProcessPlacement(() => Promise.resolve({ settings, runner, memoryMib, close })),
        Simulated: new SimulatedPlacement({ clock, random, log: silentLogger, connect: workload.connect }),
      }),
    );
    const cache = new Cache(client, { clock, random });
    cache.informer(Secret);
    provider.addIndexes(cache);
    const stopping = new AbortController();
    const controllers = provider.controllers({ workload: workload.clusters });
    startControllers(
      controllers,
      { cache, clock, random, log: silentLogger, recorder: silentRecorder },
      stopping.signal,
    );
    stop = async () => {
      stopping.abort(new Error("over"));
      await cache.stop();
      await server.close();
      await workload.close();
    };
    await world.#createCluster();
    return world;
  }

  async close(): Promise<void> {
    await this.#stop();
  }

  async pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds * 4; i++) await this.clock.advance(250);
  }

  async createMachine(name: string, spec: object = { image: IMAGE }): Promise<void> {
    const machine = await this.client.create<Unstructured>({
      apiVersion: Machine.apiVersion,
      kind: "Machine",
      metadata: { namespace: "default", name, labels: LABELS },
      spec: {
        clusterName: "c1",
        version: "v1.34.4",
        bootstrap: { dataSecretName: "boot" },
        infrastructureRef: { apiGroup: KVMMachine.group, kind: KVMMachine.kind, name },
      },
    });
    const { apiVersion, kind, metadata } = machine;
    const owner = { apiVersion, kind, name, uid: metadata.uid ?? "", controller: true };
    await this.client.create<Unstructured>({
      apiVersion: KVMMachine.apiVersion,
      kind: KVMMachine.kind,
      metadata: { namespace: "default", name, labels: LABELS, ownerReferences: [owner] },
      spec,
    });
  }

  async machine(name: string): Promise<KVMMachine> {
    const found = await this.client.get(KVMMachine, { namespace: "default", name });
    if (found === undefined) throw new Error(`there is no machine ${name}`);
    return found;
  }

  async condition(name: string, type: string) {
    return conditionsOf(await this.machine(name)).find((each) => each.type === type);
  }

  async #createCluster(): Promise<void> {
    const cluster = await this.client.create<Unstructured>({
      apiVersion: Cluster.apiVersion,
      kind: "Cluster",
      metadata: { namespace: "default", name: "c1" },
      spec: { infrastructureRef: { apiGroup: KVMCluster.group, kind: KVMCluster.kind, name: "c1" } },
    });
    const initialization = { infrastructureProvisioned: true, controlPlaneInitialized: true };
    await this.client.patchStatus(cluster, { status: { initialization } });
    await this.client.create<Unstructured>({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name: "boot" },
      data: { value: Buffer.from(this.workload.cloudConfig).toString("base64") },
    });
    await this.client.create<Unstructured>({
      apiVersion: KVMCluster.apiVersion,
      kind: KVMCluster.kind,
      metadata: {
        namespace: "default",
        name: "c1",
        labels: LABELS,
        ownerReferences: [
          {
            apiVersion: Cluster.apiVersion,
            kind: "Cluster",
            name: "c1",
            uid: cluster.metadata.uid ?? "",
            controller: true,
          },
        ],
      },
      spec: {},
    });
  }
}
