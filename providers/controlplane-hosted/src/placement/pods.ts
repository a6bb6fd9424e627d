import type { Clock, KubeObject, Random } from "@capstan/apimachinery";
import type { Client, Logger } from "@capstan/runtime";
import {
  Deployment,
  type HostCluster,
  type HostClusters,
  HostNode,
  HostSecret,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";
import type {
  ControlPlanePlan,
  PlacedObject,
  Placement,
  PlacementState,
  Reservation,
  ReserveRequest,
} from "./placement.ts";
import { apiService, endpointOf, konnectivityEndpoint } from "./pods-exposure.ts";
import { disruptionBudget, etcdNetworkPolicy, etcdService } from "./pods-guards.ts";
import { asPodsProblem, PodHosts, PodsProblem } from "./pods-host.ts";
import { authorityOf, PodsInputs } from "./pods-inputs.ts";
import { nameOf, type PodComponent, type PodNames, podNames } from "./pods-names.ts";
import {
  apiserverDeployment,
  controllerManagerDeployment,
  etcdStatefulSet,
  filesSecret,
  type PodsInput,
  schedulerDeployment,
} from "./pods-objects.ts";
import { readPodsRecord } from "./pods-record.ts";
import { type ComponentView, gaveUp, servingVersion, stateOf, troubleOf, viewOf } from "./pods-state.ts";
import { VERSION_ANNOTATION } from "./pods-template.ts";

export interface PodsPlacementOptions {
  hosts: HostClusters;
  /** Of the management cluster: kubeconfigs of host clusters come from its Secrets. */
  management: Client;
  clock: Clock;
  random: Random;
  log: Logger;
}

/** A host cluster that does not answer, or pods that do not end, hold a deletion up no longer than this. */
const GIVE_UP_MS = 2 * 60_000;
const COMPONENTS: readonly PodComponent[] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** A control plane as pods of the management cluster or of another one. All state is in that cluster. */
export class PodsPlacement implements Placement {
  private readonly options: PodsPlacementOptions;
  private readonly hosts: PodHosts;
  private readonly inputs: PodsInputs;

  constructor(options: PodsPlacementOptions) {
    this.options = options;
    this.hosts = new PodHosts(options.hosts, options.management);
    this.inputs = new PodsInputs(options.clock, options.random);
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    try {
      const host = await this.hosts.find(request.owner, request.spec);
      await this.hosts.ensureNamespace(host, request.owner);
      const names = podNames(request.owner);
      const service = await this.service(host, names, request.spec, request.endpoint);
      if (request.endpoint !== undefined) return { type: "reserved", endpoint: request.endpoint };
      const { items } = request.spec.expose?.type === "NodePort" ? await host.client.list(HostNode) : { items: [] };
      return endpointOf(service, request.spec, items);
    } catch (error) {
      const problem = asPodsProblem(error);
      if (problem === undefined) throw error;
      return { type: "failed", ...problem };
    }
  }

  async ensure(plan: ControlPlanePlan): Promise<PlacementState> {
    try {
      return await this.run(plan);
    } catch (error) {
      const problem = asPodsProblem(error);
      if (problem === undefined) throw error;
      return { components: [], apiReady: false, problem };
    }
  }

  async hibernate(owner: string, placed: PlacedObject): Promise<PlacementState> {
    try {
      const host = await this.hosts.find(owner, placed.spec);
      const names = podNames(owner);
      const record = readPodsRecord(viewOf(host, names, "etcd").live);
      if (record?.storage.type === "EmptyDir")
        throw new PodsProblem(
          "DataWouldBeLost",
          "spec.replicas is 0, but spec.etcd.storage.type EmptyDir keeps no data without pods; set replicas back to 1, or make a control plane with PersistentVolumeClaim",
        );
      // Each can release what it holds in the next.
      for (const component of COMPONENTS.toReversed()) {
        await this.scaleToZero(host, names, component);
        if (viewOf(host, names, component).pods.length > 0 && component === "kube-apiserver") break;
      }
      return { components: [], apiReady: false };
    } catch (error) {
      const problem = asPodsProblem(error);
      if (problem === undefined) throw error;
      return { components: [], apiReady: false, problem };
    }
  }

  async remove(owner: string, placed: PlacedObject): Promise<string[]> {
    const { clock, hosts, log } = this.options;
    const patience = (placed.deletingSinceMs ?? clock.now()) + GIVE_UP_MS - clock.now();
    try {
      const host = await this.hosts.find(owner, placed.spec);
      // A kube-apiserver whose etcd is gone before it takes half a minute to end.
      const inOrder = patience > GIVE_UP_MS / 2;
      const left = (inOrder ? await removeWorkers(host, owner) : undefined) ?? (await host.removeAll(owner));
      if (left.length > 0 && patience > 0) return left.map((object) => `${object.kind} ${object.metadata.name}`);
    } catch (error) {
      const problem = asPodsProblem(error);
      const why = problem?.message ?? String(error);
      const nowhere = problem?.reason === "NothingRunsPods";
      if (!nowhere && patience > 0) return [`the host cluster (${why})`];
      if (!nowhere)
        log.warn("a control plane goes although its host cluster does not answer: pods may be left", { owner, why });
    }
    this.inputs.forget(owner);
    hosts.release(owner);
    return [];
  }

  subscribe(listener: (owner: string) => void): () => void {
    return this.options.hosts.subscribe(listener);
  }

  private async run(plan: ControlPlanePlan): Promise<PlacementState> {
    const names = podNames(plan.owner);
    const host = await this.hosts.find(plan.owner, plan.spec);
    const known = readPodsRecord(viewOf(host, names, "etcd").live);
    refuseForeignData(plan, known);
    const service = await this.service(host, names, plan.spec, plan.endpoint);
    const input = await this.inputs.of(host, names, plan, service, known);
    await this.ensureGuards(host, input);

    await host.ensure(StatefulSet, etcdStatefulSet(input, input.record.members));
    const etcd = viewOf(host, names, "etcd");
    const hasQuorum = etcd.ready > input.record.members / 2;
    const before = viewOf(host, names, "kube-apiserver");
    // Without etcd it would end again and again, and be kept back longer each time.
    if (hasQuorum || before.live !== undefined) {
      const version = etcd.settled ? plan.version : (annotatedVersion(before) ?? plan.version);
      await host.ensure(Deployment, apiserverDeployment(input, version, Math.max(plan.spec.replicas ?? 1, 1)));
    }
    const apiserver = viewOf(host, names, "kube-apiserver");
    const serving = servingVersion(apiserver);
    if (apiserver.ready > 0 || viewOf(host, names, "kube-scheduler").live !== undefined) {
      // They are never newer than the API they work with.
      const version = serving ?? annotatedVersion(viewOf(host, names, "kube-scheduler")) ?? plan.version;
      const replicas = (plan.spec.replicas ?? 1) > 1 ? 2 : 1;
      await host.ensure(Deployment, controllerManagerDeployment(input, version, replicas));
      await host.ensure(Deployment, schedulerDeployment(input, version, replicas));
    }
    return this.stateOf(host, input, service, serving);
  }

  /** What all components need before the first of them starts. */
  private async ensureGuards(host: HostCluster, input: PodsInput): Promise<void> {
    const { names } = input;
    await Promise.all([
      ...COMPONENTS.map((component) => host.ensure(HostSecret, filesSecret(input, component))),
      ...COMPONENTS.map((component) => host.ensure(PodDisruptionBudget, disruptionBudget(names, component))),
      host.ensure(Service, etcdService(names)),
      host.ensure(NetworkPolicy, etcdNetworkPolicy(names)),
    ]);
  }

  private stateOf(host: HostCluster, input: PodsInput, service: Service, serving: string | undefined): PlacementState {
    const { plan, names } = input;
    const views = COMPONENTS.map((component) => [component, viewOf(host, names, component)] as const);
    const components = views
      .filter(([, view]) => view.live !== undefined)
      .map(([component, view]) => stateOf(host, names, component, view));
    const apiserver = viewOf(host, names, "kube-apiserver");
    const konnectivity = konnectivityEndpoint(service, plan.spec, plan.endpoint);
    const upgrade = fixedProblem(input) ?? upgradeOf(host, input, views, serving);
    return {
      components,
      apiReady: apiserver.ready > 0,
      readyReplicas: apiserver.ready,
      ...(serving === undefined ? {} : { version: serving }),
      ...(konnectivity === undefined ? {} : { konnectivity }),
      ...(upgrade === undefined ? {} : { upgrade }),
      recheckAtMs: this.inputs.renewalMs(plan.owner),
    };
  }

  private service(
    host: HostCluster,
    names: PodNames,
    spec: HostedControlPlaneSpec,
    endpoint: { host: string; port: number } | undefined,
  ): Promise<Service> {
    const live = host.get(Service, { namespace: names.namespace, name: nameOf(names, "kube-apiserver") });
    return host.ensure(Service, apiService(names, spec, endpoint, live));
  }

  private async scaleToZero(host: HostCluster, names: PodNames, component: PodComponent): Promise<void> {
    const { live } = viewOf(host, names, component);
    if (live === undefined || live.spec?.replicas === 0) return;
    await host.client.patch(live, { spec: { replicas: 0 } });
  }
}

/** Takes what works with etcd away; undefined when that is done. */
async function removeWorkers(host: HostCluster, owner: string): Promise<KubeObject[] | undefined> {
  const deployments = await host.remove(Deployment, owner);
  const names = podNames(owner);
  const pods = COMPONENTS.slice(1).flatMap((component) => viewOf(host, names, component).pods);
  const left = [...deployments, ...pods];
  return left.length === 0 ? undefined : left;
}

/** Data of an earlier control plane of that name is not taken for this one's; the same one after a move is known by its authority. */
function refuseForeignData(plan: ControlPlanePlan, known: ReturnType<typeof readPodsRecord>): void {
  if (plan.restore !== undefined)
    throw new PodsProblem(
      "RestoreNotSupported",
      "spec.etcd.restoreFrom works with placement Process only; restore the volumes of etcd by the means of the host cluster and remove restoreFrom",
    );
  if (known === undefined || known.objectUid === plan.objectUid || known.authority === authorityOf(plan)) return;
  throw new PodsProblem(
    "LeftoverData",
    `The host cluster holds the data of another control plane of that name (uid ${known.objectUid}); choose another name, or delete the StatefulSet, its PersistentVolumeClaims and what else carries the label capstan.dev/hosted there`,
  );
}

/** What the spec asks for and cannot be had any more. */
function fixedProblem({ plan, record }: PodsInput): { reason: string; message: string } | undefined {
  const { etcd } = plan.spec;
  const members = etcd?.replicas ?? 1;
  if (members !== record.members)
    return {
      reason: "EtcdMembersFixed",
      message: `etcd runs with ${record.members} members, chosen when its data was made; set spec.etcd.replicas back, or make a new control plane with ${members}`,
    };
  const wanted = etcd?.storage ?? {};
  const same = (["type", "size", "storageClassName"] as const).every((key) => wanted[key] === record.storage[key]);
  if (same) return undefined;
  return {
    reason: "StorageFixed",
    message: `etcd's volumes stay as they were made (${JSON.stringify(record.storage)}); set spec.etcd.storage back, or make a new control plane`,
  };
}

function upgradeOf(
  host: HostCluster,
  { plan, names }: PodsInput,
  views: readonly (readonly [PodComponent, ComponentView])[],
  serving: string | undefined,
): { reason: string; message: string } | undefined {
  if (serving === undefined) return undefined;
  for (const [component, view] of views) {
    if (view.live === undefined || view.settled) continue;
    const trouble = troubleOf(host, names, view) ?? "its pods are replaced one by one";
    const message = `${component}: ${trouble}`;
    if (gaveUp(view))
      return { reason: "UpgradeFailed", message: `${message}; ${serving} goes on serving. Correct it, or set it back` };
    return { reason: serving === plan.version ? "RollingOut" : "Upgrading", message };
  }
  return serving === plan.version ? undefined : { reason: "Upgrading", message: `${serving} serves still` };
}

function annotatedVersion(view: ComponentView): string | undefined {
  return view.live?.metadata.annotations?.[VERSION_ANNOTATION];
}
