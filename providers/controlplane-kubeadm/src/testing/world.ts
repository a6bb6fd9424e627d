import { stat } from "node:fs/promises";
import { findCondition, formatTime, type KubeObject, type Unstructured } from "@capstan/apimachinery";
import {
  Cluster,
  conditionsOf,
  KubeadmConfig,
  KubeadmControlPlane,
  Machine,
  MachineDeployment,
  MachineDrainRule,
  MachinePool,
  MachineSet,
  type ObjectOf,
  WorkerPool,
} from "@capstan/capi";
import { type Client, type Controller, controller, done, type Kind, type Logger } from "@capstan/runtime";
import { addCoreIndexes, coreControllers } from "../../../core/src/controllers.ts";
import { Plane } from "../../../core/src/testing/plane.ts";
import { TEST_KINDS, TestMachineTemplate, testProvider } from "../../../core/src/testing/test-infrastructure.ts";
import { kubeadmControlPlaneController } from "../controller.ts";
import { addKubeadmControlPlaneIndexes } from "../indexes.ts";
import { FakeSide } from "./fake-side.ts";

const KINDS = [
  Cluster,
  Machine,
  MachineSet,
  MachineDeployment,
  MachinePool,
  WorkerPool,
  MachineDrainRule,
  KubeadmConfig,
  KubeadmControlPlane,
  ...TEST_KINDS,
];
export const NAMESPACE = "default";
const NAME = "c1";

type PlaneSpec = Partial<KubeadmControlPlane["spec"]>;

/** Further kinds and controllers of a World. */
export interface WorldExtras {
  readonly kinds?: readonly { crd(): Unstructured }[];
  /** Created for it, if not the default one. */
  readonly namespace?: string;
  readonly log?: Logger;
  readonly controllers?: (side: FakeSide) => Controller[];
}

/** A management plane in virtual time with the real controllers of core, machines that join at once, and a fake workload side. */
export class World {
  readonly plane: Plane;
  readonly side: FakeSide;
  /** What was to be seen for a moment, which the virtual time passes over. */
  readonly seen: Seen;
  /** The control plane and its Cluster. */
  readonly key: { readonly namespace: string; readonly name: string };

  private constructor(plane: Plane, side: FakeSide, seen: Seen, namespace: string) {
    this.plane = plane;
    this.key = { namespace, name: NAME };
    this.side = side;
    this.seen = seen;
  }

  static async start(more: WorldExtras = {}): Promise<World> {
    const side = new FakeSide();
    const seen: Seen = { mostMachines: 0, rollingOut: new Set(), progressing: new Set() };
    const plane = await Plane.start({
      crds: [...KINDS, ...(more.kinds ?? [])].map((kind) => kind.crd()),
      ruled: [KubeadmControlPlane, Machine],
      ...(more.log === undefined ? {} : { log: more.log }),
      indexes: (cache) => {
        addCoreIndexes(cache);
        addKubeadmControlPlaneIndexes(cache);
      },
      controllers: (deps) => [
        ...coreControllers(deps),
        ...testProvider(deps.workload),
        bootstrapData(),
        spectator(seen),
        kubeadmControlPlaneController({ side, cache: deps.cache, workload: deps.workload, capacitySources: [] }),
        ...(more.controllers?.(side) ?? []),
      ],
    });
    const { namespace = NAMESPACE } = more;
    const world = new World(plane, side, seen, namespace);
    if (namespace !== NAMESPACE)
      await world.user.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } } as Unstructured);
    return world;
  }

  get user(): Client {
    return this.plane.user;
  }

  /** A Cluster with an endpoint, a template of machines, and the API that its control plane serves. */
  async addCluster(cluster: object = {}): Promise<Client> {
    await this.addTemplate("t1");
    await this.user.create({
      apiVersion: Cluster.apiVersion,
      kind: Cluster.kind,
      metadata: this.key,
      spec: {
        controlPlaneEndpoint: { host: "10.0.0.9", port: 6443 },
        controlPlaneRef: { apiGroup: KubeadmControlPlane.group, kind: KubeadmControlPlane.kind, name: NAME },
        ...cluster,
      },
    } as Unstructured);
    return await this.plane.addWorkloadAt("https://10.0.0.9:6443", this.key.namespace, NAME);
  }

  async addTemplate(name: string, spec: object = {}): Promise<void> {
    await this.user.create({
      apiVersion: TestMachineTemplate.apiVersion,
      kind: TestMachineTemplate.kind,
      metadata: { namespace: this.key.namespace, name },
      spec: { template: { spec } },
    } as Unstructured);
  }

  async addPlane(spec: PlaneSpec = {}, metadata: object = {}): Promise<void> {
    await this.user.create({
      apiVersion: KubeadmControlPlane.apiVersion,
      kind: KubeadmControlPlane.kind,
      metadata: { ...this.key, ...metadata },
      spec: {
        replicas: 1,
        version: "v1.36.2",
        // RSA keys take their time.
        kubeadmConfigSpec: { clusterConfiguration: { encryptionAlgorithm: "ECDSA-P256" } },
        machineTemplate: {
          spec: {
            infrastructureRef: { apiGroup: TestMachineTemplate.group, kind: TestMachineTemplate.kind, name: "t1" },
          },
        },
        ...spec,
      },
    } as Unstructured);
  }

  async patch(spec: object): Promise<void> {
    await this.user.patch({ kind: KubeadmControlPlane, ...this.key }, { spec });
  }

  async get(): Promise<KubeadmControlPlane> {
    const found = await this.user.get(KubeadmControlPlane, this.key);
    if (found === undefined) throw new Error("the control plane is gone");
    return found;
  }

  async cluster(): Promise<Cluster> {
    const found = await this.user.get(Cluster, this.key);
    if (found === undefined) throw new Error("the cluster is gone");
    return found;
  }

  async machines(): Promise<Machine[]> {
    return await this.list(Machine);
  }

  async list<T extends KubeObject>(kind: Kind<T> | ObjectOf<Kind<T>>): Promise<T[]> {
    const { items } = await this.user.list(kind as Kind<T>, { namespace: this.key.namespace });
    return [...items].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  }

  /** `STATUS REASON: MESSAGE` of a condition of the control plane. */
  async condition(type: string): Promise<string> {
    return conditionText(await this.get(), type);
  }

  /** Lets the controllers work until a check holds; keys are made in real time, which turns of the event loop give. */
  async until(check: () => Promise<boolean>, what = "the expected state"): Promise<void> {
    for (let turn = 0; turn < 600; turn++) {
      if (await check()) return;
      await this.turn(1_000);
    }
    throw new Error(`${what} was not reached: ${JSON.stringify((await this.get()).status?.conditions, null, 1)}`);
  }

  /** Lets time pass in which keys may get done, too: threads make them, and a busy machine gives these as much as this request of a file. */
  async turn(ms: number): Promise<void> {
    await stat(import.meta.dirname);
    await this.plane.settle(ms);
  }

  /** Waits until all replicas are there, up to date and ready. */
  async ready(replicas: number): Promise<void> {
    await this.until(async () => {
      const { status } = await this.get();
      return status?.replicas === replicas && status.upToDateReplicas === replicas && status.readyReplicas === replicas;
    }, `${replicas} replicas`);
  }

  /** A worker Machine that no control plane owns. */
  async addWorker(name: string): Promise<void> {
    await this.user.create({
      apiVersion: Machine.apiVersion,
      kind: Machine.kind,
      metadata: { namespace: this.key.namespace, name, labels: { "cluster.x-k8s.io/cluster-name": NAME } },
      spec: {
        clusterName: NAME,
        bootstrap: { dataSecretName: "x" },
        infrastructureRef: { apiGroup: TestMachineTemplate.group, kind: "TestMachine", name },
      },
    } as Unstructured);
  }

  /** Failure domains of the Cluster, all for control planes. */
  async setDomains(domains: readonly string[]): Promise<void> {
    const failureDomains = domains.map((name) => ({ name, controlPlane: true }));
    await this.user.patchStatus({ kind: Cluster, ...this.key }, { status: { failureDomains } });
  }

  /** A health check reports a Machine as failed and requests its remediation. */
  async failHealthCheck({ metadata }: Machine): Promise<void> {
    const lastTransitionTime = formatTime(this.plane.clock.now());
    const failed = (type: string, reason: string) => ({
      type,
      status: "False" as const,
      reason,
      message: "",
      lastTransitionTime,
    });
    const conditions = [
      failed("HealthCheckSucceeded", "UnhealthyNode"),
      failed("OwnerRemediated", "WaitingForRemediation"),
    ];
    await this.user.applyStatus(
      {
        apiVersion: Machine.apiVersion,
        kind: Machine.kind,
        metadata: { namespace: this.key.namespace, name: metadata.name ?? "" },
        status: { conditions },
      } as Machine,
      { fieldManager: "health-check" },
    );
  }

  async close(): Promise<void> {
    await this.plane.close();
  }
}

/** `STATUS REASON: MESSAGE` of a condition; `none` without one. */
export function conditionText(object: { status?: unknown }, type: string): string {
  const found = findCondition(conditionsOf(object), type);
  return found === undefined ? "none" : `${found.status} ${found.reason}: ${found.message}`;
}

interface Seen {
  mostMachines: number;
  /** Messages of the RollingOut condition. */
  readonly rollingOut: Set<string>;
  /** Those of Progressing. */
  readonly progressing: Set<string>;
}

function spectator(seen: Seen): Controller {
  return controller("test-spectator")
    .for(KubeadmControlPlane)
    .owns(Machine)
    .reconcile(async (request, { cache }) => {
      seen.mostMachines = Math.max(seen.mostMachines, cache.list(Machine).length);
      const conditions = conditionsOf(cache.get(KubeadmControlPlane, request) ?? {});
      const rolling = findCondition(conditions, "RollingOut");
      seen.progressing.add(findCondition(conditions, "Progressing")?.message ?? "");
      if (rolling?.status === "True") seen.rollingOut.add(rolling.message);
      return done();
    });
}

/** Bootstrap data that is there at once. */
function bootstrapData(): Controller {
  return controller("test-kubeadm-config")
    .for(KubeadmConfig)
    .concurrency(10)
    .reconcile(async (request, { cache, client }) => {
      const config = cache.get(KubeadmConfig, request);
      if (config === undefined || config.status?.dataSecretName !== undefined) return done();
      await client.patchStatus(config, {
        status: { initialization: { dataSecretCreated: true }, dataSecretName: request.name },
      });
      return done();
    });
}
