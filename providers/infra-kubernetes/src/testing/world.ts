import {
  type Condition,
  findCondition,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { Cluster, conditionsOf, Machine, MachineSet, Secret, type WorkloadClusters } from "@capstan/capi";
import {
  Cache,
  Client,
  type ClientConfig,
  kindRef,
  openDialGate,
  silentLogger,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";
import { compileScript } from "@capstan/userdata";
import { Pod } from "@capstan/workloads";
import { Backend } from "../backend.ts";
import { KUBERNETES_KINDS } from "../kinds/all.ts";
import { KubernetesCluster } from "../kinds/kubernetes-cluster.ts";
import { KubernetesMachine } from "../kinds/kubernetes-machine.ts";
import { kubernetesProvider } from "../running.ts";
import { Outer } from "./outer.ts";

const NAMESPACE = "default";
const CLOUD_CONFIG = `#cloud-config
write_files:
- path: /run/kubeadm/kubeadm-join-config.yaml
  content: token
runcmd:
- kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml
`;

/** What a world is started with. */
export interface WorldOptions {
  /** Whether the management cluster runs pods; true unless said otherwise. */
  runsPods?: boolean;
  /** Spec of the KubernetesCluster. */
  cluster?: object;
  /** Spec of the Cluster in addition to its references. */
  core?: object;
  userData?: string;
  workload?: WorkloadClusters;
  /** The way to outer clusters of kubeconfigs. */
  dial?: (config: ClientConfig) => Transport | undefined;
}

/** The provider on a management cluster that runs pods, in virtual time, with a hand that plays the core controllers. */
export class World {
  readonly clock = new VirtualClock();
  readonly outer: Outer;
  readonly client: Client;
  readonly #stop: () => Promise<void>;

  private constructor(clock: VirtualClock, outer: Outer, stop: () => Promise<void>) {
    this.clock = clock;
    this.outer = outer;
    this.client = outer.client;
    this.#stop = stop;
  }

  /** Starts one with Cluster c1. */
  static async start(options: WorldOptions = {}): Promise<World> {
    const clock = new VirtualClock();
    const random = seededRandom(1);
    const crds = [Cluster, Machine, MachineSet, ...KUBERNETES_KINDS].map((kind) => kind.crd());
    const outer = await Outer.start({ clock, random, crds });
    const runsPods = options.runsPods ?? true;
    const { dial } = options;
    const backend = new Backend({
      clock,
      random,
      log: silentLogger,
      gate: openDialGate(),
      runsPods,
      compile: compileScript,
      ...(dial === undefined ? {} : { dial }),
    });
    const provider = kubernetesProvider(backend);
    const cache = new Cache(new Client(outer.server.admin(), { fieldManager: "kubernetes", clock }), { clock, random });
    cache.informer(Secret);
    provider.addIndexes(cache);
    const stopping = new AbortController();
    const controllers = provider.controllers({ workload: options.workload ?? NO_WORKLOAD });
    const deps = { cache, clock, random, log: silentLogger, recorder: silentRecorder };
    const running = startControllers(controllers, deps, stopping.signal);
    const world = new World(clock, outer, async () => {
      stopping.abort(new Error("over"));
      const ended = Promise.all([running.finished, cache.stop(), backend.close()]);
      await clock.advance(0);
      await ended;
      await outer.close();
    });
    await world.#createCluster(options);
    return world;
  }

  async close(): Promise<void> {
    await this.#stop();
  }

  /** Lets virtual time pass. */
  async pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds * 2; i++) await this.clock.advance(500);
  }

  /** Creates a Machine and its KubernetesMachine, and lets it settle. */
  async machine(
    name: string,
    spec: object = {},
    options: { controlPlane?: boolean; core?: object } = {},
  ): Promise<void> {
    const labels = {
      "cluster.x-k8s.io/cluster-name": "c1",
      ...(options.controlPlane === true ? { "cluster.x-k8s.io/control-plane": "" } : {}),
    };
    const machine = await this.client.create<Unstructured>({
      apiVersion: Machine.apiVersion,
      kind: Machine.kind,
      metadata: { namespace: NAMESPACE, name, labels },
      spec: {
        clusterName: "c1",
        version: "v1.34.4",
        bootstrap: { dataSecretName: "boot" },
        infrastructureRef: { apiGroup: KubernetesMachine.group, kind: KubernetesMachine.kind, name },
        ...options.core,
      },
    });
    const owner = { apiVersion: machine.apiVersion, kind: machine.kind, name, uid: machine.metadata.uid ?? "" };
    await this.client.create<Unstructured>({
      apiVersion: KubernetesMachine.apiVersion,
      kind: KubernetesMachine.kind,
      metadata: { namespace: NAMESPACE, name, labels, ownerReferences: [owner] },
      spec,
    });
    await this.pass(5);
  }

  async get(name = "m1"): Promise<KubernetesMachine> {
    const found = await this.client.get(kindRef<KubernetesMachine>(KubernetesMachine), { namespace: NAMESPACE, name });
    if (found === undefined) throw new Error(`KubernetesMachine ${name} does not exist`);
    return found;
  }

  async infra(): Promise<KubernetesCluster> {
    const found = await this.client.get(kindRef<KubernetesCluster>(KubernetesCluster), {
      namespace: NAMESPACE,
      name: "c1",
    });
    if (found === undefined) throw new Error("KubernetesCluster c1 does not exist");
    return found;
  }

  /** A condition of a machine, Ready unless said otherwise. */
  async condition(type = "Ready", name = "m1"): Promise<Condition | undefined> {
    return findCondition(conditionsOf(await this.get(name)), type);
  }

  async clusterCondition(): Promise<Condition | undefined> {
    return findCondition(conditionsOf(await this.infra()), "Ready");
  }

  async pod(name = "m1"): Promise<Pod | undefined> {
    return await this.client.get(Pod, { namespace: NAMESPACE, name });
  }

  async #createCluster({ cluster = {}, core = {}, userData = CLOUD_CONFIG }: WorldOptions): Promise<void> {
    const { client } = this;
    const made = await client.create<Unstructured>({
      apiVersion: Cluster.apiVersion,
      kind: Cluster.kind,
      metadata: { namespace: NAMESPACE, name: "c1" },
      spec: {
        infrastructureRef: { apiGroup: KubernetesCluster.group, kind: KubernetesCluster.kind, name: "c1" },
        ...core,
      },
    });
    await client.patchStatus(made, {
      status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } },
    });
    const value = Buffer.from(userData).toString("base64");
    await client.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: NAMESPACE, name: "boot" },
      data: { value },
    } as Unstructured);
    await client.create<Unstructured>({
      apiVersion: KubernetesCluster.apiVersion,
      kind: KubernetesCluster.kind,
      metadata: {
        namespace: NAMESPACE,
        name: "c1",
        labels: { "cluster.x-k8s.io/cluster-name": "c1" },
        ownerReferences: [{ apiVersion: made.apiVersion, kind: made.kind, name: "c1", uid: made.metadata.uid ?? "" }],
      },
      spec: cluster,
    });
    await this.pass(3);
  }
}

const NO_WORKLOAD: WorkloadClusters = {
  get: () => ({ state: "connecting", since: 0, error: "there is no workload cluster here" }),
  subscribe: () => () => undefined,
};
