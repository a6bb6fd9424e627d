import type { Clock, Random } from "@capstan/apimachinery";
import {
  type ClusterKey,
  type Node,
  reach,
  type WorkloadCalls,
  type WorkloadClusters,
  type WorkloadConnection,
  WorkloadUnavailable,
} from "@capstan/capi";
import type { Client, Logger, ReconcileContext } from "@capstan/runtime";
import type { EtcdPlace, EtcdWays } from "../etcd/etcd-ways.ts";
import type { Components } from "../plan/view.ts";
import { type ClusterSight, ClusterWatch } from "./cluster-watch.ts";
import { updateCoreDns } from "./core-dns.ts";
import { endpointProblem } from "./endpoint-problem.ts";
import type { Inspection } from "./etcd-inspection.ts";
import { type EtcdSight, etcdSight, memberPlaces } from "./etcd-members.ts";
import { EtcdSpace } from "./etcd-space.ts";
import { EtcdTrouble } from "./etcd-trouble.ts";
import { EtcdWatch } from "./etcd-watch.ts";
import { Expiries } from "./expiries.ts";
import { updateKubeProxy } from "./kube-proxy.ts";
import { ensureKubeadmConfig, KubeadmConfigError } from "./kubeadm-config.ts";
import { moveLeader, removeMember } from "./member-changes.ts";
import { CONTROL_PLANE_ROLE, nodeLabelsHealth } from "./node-labels.ts";
import { ensurePermissions } from "./permissions.ts";
import {
  health,
  podHealth,
  staleHealth,
  staticPodName,
  withDiskPressure,
  withoutNode,
  withoutPods,
} from "./static-pods.ts";
import { removeStrayNodes, strayNodes } from "./stray-nodes.ts";
import type {
  EtcdReport,
  ObserveOptions,
  PlaneTarget,
  ReportedHealth,
  WorkloadObservation,
  WorkloadProblem,
  WorkloadSide,
} from "./workload-side.ts";

/** kubeadm adds the member within this time after the Node registers. */
const YOUNG_NODE_MS = 2 * 60_000;
/** Without a change that is watched, a control plane is observed this often. */
const RECHECK_MS = 60_000;

/** Add-ons are not watched: someone may have changed them. */
const ADDONS_MS = 10 * 60_000;

/** Dependencies of createWorkloadSide. */
export interface WorkloadSideDeps {
  readonly workloads: WorkloadClusters;
  /** Limits the calls of all controllers to workload clusters. */
  readonly calls: WorkloadCalls;
  readonly ways: EtcdWays;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Creates the workload side of control planes over connections to workload clusters and ways to their etcd. */
export function createWorkloadSide(deps: WorkloadSideDeps): WorkloadSide {
  return new MachineWorkloadSide(deps);
}

interface Followed {
  readonly cluster: ClusterKey;
  readonly watch: ClusterWatch;
  readonly etcd: EtcdWatch;
  readonly trouble: EtcdTrouble;
  readonly space: EtcdSpace;
  readonly expiries: Expiries;
  /** What the add-ons were last brought up to date with. */
  readonly settled: { inputs: string | undefined; atMs: number };
  /** What decisions depend on in each control plane Node. */
  readonly nodes: Map<string, string>;
}

class MachineWorkloadSide implements WorkloadSide {
  readonly #deps: WorkloadSideDeps;
  readonly #followed = new Map<string, Followed>();
  readonly #calls: WorkloadCalls;
  readonly #listeners = new Set<(cluster: ClusterKey) => void>();
  #unsubscribe: (() => void) | undefined;

  constructor(deps: WorkloadSideDeps) {
    this.#deps = deps;
    this.#calls = deps.calls.limited();
  }

  async observe(
    target: PlaneTarget,
    _context: ReconcileContext,
    options: ObserveOptions = {},
  ): Promise<WorkloadObservation> {
    const { clock, workloads } = this.#deps;
    const { cluster, machines } = target;
    const followed = this.#follow(cluster);
    const connection = reach(workloads, cluster);
    const sight = await followed.watch.sight(connection);
    const unreachable = "unreachable" in sight ? sight.unreachable : undefined;
    const nodes = unreachable === undefined ? controlPlaneNodes(connection, target) : [];
    const places = target.etcdManaged ? placesOf(target, nodes) : [];
    const etcd = await this.#etcdOf(target, followed, { places, nodes, options });
    const nowMs = clock.now();
    followed.expiries.keep(machines);
    const endpoint = endpointProblem(workloads, cluster, nowMs);
    const recheckMs = target.etcdManaged && places.length > 0 ? followed.etcd.recheckMs : RECHECK_MS;
    return {
      unreachable,
      endpointDown: endpoint.error,
      initialized: "unreachable" in sight ? undefined : sight.kubeadmConfig !== undefined,
      machines: new Map(
        machines.map((machine) => {
          const name = machine.metadata.name ?? "";
          const node = nodes.find(({ metadata }) => metadata.name === machine.status?.nodeRef?.name);
          const components = componentsOf(target, name, node, sight, etcd);
          const isServing = connection.state === "connected" && components.apiServer.status === "True";
          const certificatesExpireMs = isServing
            ? followed.expiries.get(connection.client, target, machine)
            : undefined;
          return [name, { components, certificatesExpireMs }];
        }),
      ),
      members: etcd.members,
      youngNodes: new Set(
        nodes.flatMap(({ metadata }) =>
          nowMs - Date.parse(metadata.creationTimestamp ?? "") < YOUNG_NODE_MS ? [metadata.name ?? ""] : [],
        ),
      ),
      etcdTrouble: target.etcdManaged
        ? troubleOf(cluster, unreachable, etcd, followed.space.problem ?? followed.trouble.problem(nowMs))
        : undefined,
      strayNodes: strayNodes(machines, nodes),
      recheckMs: Math.min(recheckMs, endpoint.dueMs),
    };
  }

  async prepareRollout(target: PlaneTarget, { clock }: ReconcileContext): Promise<void> {
    const { controlPlane } = target;
    await this.#call(target, async (client, signal) => {
      await ensurePermissions(client, controlPlane.spec.version, signal);
      await ensureKubeadmConfig(client, controlPlane, clock, signal);
    });
  }

  async removeStrayNodes(target: PlaneTarget): Promise<void> {
    await this.#call(target, (client, signal) => removeStrayNodes(client, target.machines, signal));
  }

  async updateAddons(target: PlaneTarget, context: ReconcileContext): Promise<WorkloadProblem | undefined> {
    const { controlPlane } = target;
    const followed = this.#follow(target.cluster);
    const inputs =
      followed.watch.kubeadmConfigVersion + JSON.stringify([controlPlane.spec, controlPlane.metadata.annotations]);
    const nowMs = context.clock.monotonic();
    const { settled } = followed;
    if (settled.inputs === inputs && nowMs - settled.atMs < ADDONS_MS) return undefined;
    settled.inputs = undefined;
    try {
      const problem = await this.#call(target, async (client, signal) => {
        const proxy = await updateKubeProxy(client, controlPlane, signal);
        const dns = await updateCoreDns(client, controlPlane, signal);
        await this.#correctKubeadmConfig(client, target, context, signal, dns === undefined ? "follow" : "keep");
        return proxy ?? dns;
      });
      if (problem === undefined) Object.assign(settled, { inputs, atMs: nowMs });
      return problem;
    } catch (error) {
      if (error instanceof WorkloadUnavailable) throw error;
      return { reason: "AddonsNotUpdated", message: error instanceof Error ? error.message : String(error) };
    }
  }

  async removeMember(target: PlaneTarget, memberId: string, moveLeaderTo: readonly string[]): Promise<void> {
    await this.#change(target, (members) => removeMember(members, memberId, moveLeaderTo));
  }

  async moveLeader(target: PlaneTarget, to: readonly string[]): Promise<void> {
    await this.#change(target, (members) => moveLeader(members, to));
  }

  async keepSpace({ cluster, controlPlane, etcdManaged }: PlaneTarget): Promise<void> {
    if (!etcdManaged) return;
    const { space, etcd } = this.#follow(cluster);
    const before = space.problem?.message;
    const acted = await space.keep(cluster, controlPlane, etcd.answers);
    if (!acted && before === space.problem?.message) return;
    // The next reconcile reports it.
    etcd.invalidate();
    this.#notify(cluster);
  }

  subscribe(listener: (cluster: ClusterKey) => void): () => void {
    this.#listeners.add(listener);
    this.#unsubscribe ??= this.#deps.workloads.subscribe((cluster, nodeName) => this.#nodeChanged(cluster, nodeName));
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    };
  }

  etcdReports(): readonly EtcdReport[] {
    const nowMs = this.#deps.clock.now();
    return [...this.#followed.values()].map(({ cluster, trouble }) => ({
      cluster,
      leaderChanges: trouble.recentLeaderChanges(nowMs),
      latencies: trouble.latencies,
    }));
  }

  forget(cluster: ClusterKey): void {
    this.#followed.get(clusterText(cluster))?.watch.stop();
    this.#followed.delete(clusterText(cluster));
    this.#deps.ways.forget(cluster);
  }

  async #etcdOf(
    target: PlaneTarget,
    followed: Followed,
    { places, nodes, options }: { places: readonly EtcdPlace[]; nodes: readonly Node[]; options: ObserveOptions },
  ): Promise<EtcdSight> {
    const { machines, etcdManaged, cluster } = target;
    if (!etcdManaged) return withoutEtcd(target, "etcd is external");
    const inspections = places.length === 0 ? [] : await followed.etcd.inspections(cluster, places, options);
    if (inspections === undefined) return withoutEtcd(target, "etcd has not answered yet");
    const nowMs = this.#deps.clock.now();
    const { trouble } = followed;
    trouble.keep(new Set(places.map(({ nodeName }) => nodeName)));
    for (const each of inspections)
      if (!("error" in each) && each.place.machine !== "" && each.figures !== undefined)
        trouble.read(each.place.nodeName, each.figures, nowMs);
    return etcdSight(machines, memberPlaces(machines, nodes), inspections);
  }

  async #change(
    target: PlaneTarget,
    change: (members: Parameters<typeof moveLeader>[0]) => Promise<void>,
  ): Promise<void> {
    const { ways, log, clock } = this.#deps;
    const { cluster } = target;
    const followed = this.#follow(cluster);
    try {
      const moved = (): void => followed.trouble.moved(clock.now());
      await change({ ways, cluster, places: placesOf(target, []), log, moved });
    } finally {
      // Also after a failure: etcd may have done it all the same.
      followed.etcd.forget();
    }
  }

  /** Nothing is being rolled out, so what differs was changed by another client, and the next Machine would join with it. */
  async #correctKubeadmConfig(
    client: Client,
    { controlPlane }: PlaneTarget,
    { clock, recorder }: ReconcileContext,
    signal: AbortSignal,
    dns: "keep" | "follow",
  ): Promise<void> {
    const changed = await ensureKubeadmConfig(client, controlPlane, clock, signal, dns);
    if (changed.length === 0) return;
    const note = `The ConfigMap kube-system/kubeadm-config differed from the control plane in ${changed.join(", ").slice(0, 500)} and was corrected`;
    recorder.event(controlPlane, "Normal", "KubeadmConfigCorrected", "UpdateKubeadmConfig", note);
  }

  async #call<T>({ cluster }: PlaneTarget, call: (client: Client, signal: AbortSignal) => Promise<T>): Promise<T> {
    const connection = reach(this.#deps.workloads, cluster);
    if (connection.state !== "connected") throw new Error(`the workload cluster does not answer: ${connection.error}`);
    // What the cluster contains says nothing about whether it responds.
    const result = await this.#calls.run(cluster, async (signal) => {
      try {
        return { value: await call(connection.client, signal) };
      } catch (error) {
        if (error instanceof KubeadmConfigError) return { error };
        throw error;
      }
    });
    if ("error" in result) throw result.error;
    return result.value;
  }

  #follow(cluster: ClusterKey): Followed {
    const key = clusterText(cluster);
    const known = this.#followed.get(key);
    if (known !== undefined) return known;
    const { clock, random, log, ways } = this.#deps;
    const etcd = new EtcdWatch({ ways, clock, changed: () => this.#notify(cluster), isHealthy });
    const watch = new ClusterWatch({
      clock,
      random,
      log,
      changed: (members) => {
        if (members) etcd.invalidate();
        this.#notify(cluster);
      },
    });
    const expiries = new Expiries({ clock, log, changed: () => this.#notify(cluster) });
    const followed: Followed = {
      cluster,
      watch,
      etcd,
      trouble: new EtcdTrouble(),
      space: new EtcdSpace({ ways, clock }),
      expiries,
      settled: { inputs: undefined, atMs: 0 },
      nodes: new Map(),
    };
    this.#followed.set(key, followed);
    return followed;
  }

  /** Heartbeats of Nodes change nothing; of a Node without the role only its existence is of interest. */
  #nodeChanged(cluster: ClusterKey, nodeName: string | undefined): void {
    const followed = this.#followed.get(clusterText(cluster));
    if (followed === undefined) return;
    if (nodeName !== undefined) {
      const connection = reach(this.#deps.workloads, cluster);
      const node = connection.state === "connected" ? connection.nodes.get(nodeName) : undefined;
      if (node !== undefined && !isControlPlane(node) && !followed.nodes.has(nodeName)) return;
      const digest = node === undefined ? "" : nodeDigest(node);
      if ((followed.nodes.get(nodeName) ?? "") === digest) return;
      if (node === undefined) followed.nodes.delete(nodeName);
      else followed.nodes.set(nodeName, digest);
    }
    followed.etcd.invalidate();
    this.#notify(cluster);
  }

  #notify(cluster: ClusterKey): void {
    for (const listener of this.#listeners) listener(cluster);
  }
}

/** Whether all members answered, agree and raised no alarm. */
function isHealthy(inspections: readonly Inspection[]): boolean {
  const lists = new Set<string>();
  for (const each of inspections) {
    if ("error" in each || each.leader === "" || each.alarms.length > 0) return false;
    if (each.members.some(({ name, isLearner }) => name === "" || isLearner)) return false;
    if (each.members.length !== inspections.length) return false;
    lists.add(JSON.stringify([each.clusterId, each.members]));
  }
  return lists.size === 1;
}

function withoutEtcd({ machines, etcdManaged }: PlaneTarget, unknown: string): EtcdSight {
  const judged = machines.map((machine): [string, ReportedHealth] => {
    const deleting = machine.metadata.deletionTimestamp !== undefined && etcdManaged;
    return [
      machine.metadata.name ?? "",
      deleting
        ? health("False", "Deleting", "Machine is deleting")
        : ((etcdManaged ? withoutNode(machine) : undefined) ?? health("Unknown", "InspectionFailed", unknown)),
    ];
  });
  return { members: { unknown }, health: new Map(judged) };
}

type MachineComponents = { readonly [K in keyof Components]: ReportedHealth };

function componentsOf(
  target: PlaneTarget,
  machineName: string,
  node: Node | undefined,
  sight: ClusterSight | { readonly unreachable: string },
  etcd: EtcdSight,
): MachineComponents {
  const { machines, etcdManaged, kubeadmConfigs } = target;
  const machine = machines.find(({ metadata }) => metadata.name === machineName);
  const etcdMember = etcd.health.get(machineName) ?? health("Unknown", "InspectionFailed", "etcd has not answered yet");
  if (machine === undefined) throw new Error(`Machine ${machineName} is not part of the control plane`);
  const all = (value: ReportedHealth, nodeLabels = value): MachineComponents => ({
    apiServer: value,
    controllerManager: value,
    scheduler: value,
    etcdPod: etcdManaged ? value : etcdMember,
    etcdMember,
    nodeLabels,
  });
  if ("unreachable" in sight) {
    const known = machine.metadata.deletionTimestamp !== undefined || machine.status?.nodeRef?.name === undefined;
    const lost = health("Unknown", "ConnectionDown", `The workload cluster does not answer: ${sight.unreachable}`);
    return all((known ? withoutPods(machine, undefined) : undefined) ?? lost);
  }
  const nodeLabels = node === undefined ? undefined : nodeLabelsHealth(machine, node, kubeadmConfigs.get(machineName));
  const unseen = withoutPods(machine, node);
  if (unseen !== undefined || node === undefined) {
    const value = unseen ?? health("Unknown", "InspectionFailed", "the Node is unknown");
    // Labels of a Node are those in the API, whatever its kubelet does, except while nothing of it can be believed.
    return all(value, value.reason === "Deleting" ? (nodeLabels ?? value) : value);
  }
  const nodeName = node.metadata.name ?? "";
  const of = (component: string): ReportedHealth =>
    staleHealth(node) ?? podHealth(sight.pod(staticPodName(component, nodeName)));
  return {
    apiServer: of("kube-apiserver"),
    controllerManager: of("kube-controller-manager"),
    scheduler: of("kube-scheduler"),
    etcdPod: etcdManaged ? withDiskPressure(of("etcd"), node) : etcdMember,
    etcdMember: etcdManaged ? withDiskPressure(etcdMember, node) : etcdMember,
    nodeLabels: nodeLabels ?? health("Unknown", "InspectionFailed", "the Node is unknown"),
  };
}

/** The Nodes of the Machines, and others that say they are control plane Nodes. */
function controlPlaneNodes(connection: WorkloadConnection, { machines }: PlaneTarget): Node[] {
  if (connection.state !== "connected") return [];
  const names = new Set(machines.map(({ status }) => status?.nodeRef?.name));
  return connection.nodes.list().filter((node) => names.has(node.metadata.name) || isControlPlane(node));
}

/** While the API answers, etcd has its quorum, whoever else can reach the members. */
function troubleOf(
  { namespace, name }: ClusterKey,
  unreachable: string | undefined,
  { lostQuorum }: EtcdSight,
  trouble: WorkloadProblem | undefined,
): WorkloadProblem | undefined {
  if (unreachable === undefined || lostQuorum === undefined) return trouble;
  const cure = `Power on a majority of them, or restore etcd from what is left: capstan recover ${name} -n ${namespace}`;
  return { ...lostQuorum, message: `${lostQuorum.message}. ${cure}` };
}

const isControlPlane = ({ metadata }: Node): boolean => metadata.labels?.[CONTROL_PLANE_ROLE] !== undefined;

function placesOf({ machines }: PlaneTarget, nodes: readonly Node[]): EtcdPlace[] {
  return machines.flatMap(({ metadata, status }) => {
    const nodeName = status?.nodeRef?.name;
    if (nodeName === undefined) return [];
    const own = (status?.addresses ?? []).filter(({ type }) => type.endsWith("IP"));
    const node = nodes.find((each) => each.metadata.name === nodeName)?.status?.addresses ?? [];
    const addresses = [...own, ...node.filter(({ type }) => type === "InternalIP")].map(({ address }) => address);
    return [{ machine: metadata.name ?? "", nodeName, addresses: [...new Set(addresses)] }];
  });
}

function nodeDigest({ metadata, spec, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  const labelled = metadata.labels?.[CONTROL_PLANE_ROLE] !== undefined;
  return JSON.stringify([metadata.uid, labelled, ready, spec?.taints, status?.addresses]);
}

function clusterText({ namespace, name }: ClusterKey): string {
  return `${namespace}/${name}`;
}
