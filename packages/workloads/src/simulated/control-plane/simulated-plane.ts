import { formatTime, type Unstructured } from "@capstan/apimachinery";
import type { ClusterKey, Node } from "@capstan/capi";
import type { EtcdClient } from "@capstan/etcd";
import { issueCertificate } from "@capstan/pki";
import type { EmbeddedCluster } from "../../embedded/embedded-clusters.ts";
import { machinesHost, machinesOwner } from "../../embedded/machines-address.ts";
import { startEmbeddedSigner } from "../../embedded/signer.ts";
import * as refusal from "../etcd-refusals.ts";
import type { InitPlan, KubeadmPlan, PlaneAuthority } from "../join-plan.ts";
import { type Kubelet, kubeletAt } from "../kubelet.ts";
import { SimulatedEtcd } from "../simulated-etcd.ts";
import { endpointOf, initObjects } from "./init-objects.ts";
import { type PlaneRecord, readRecord, recordObject, writeRecord } from "./plane-record.ts";
import type { SimulatedControlPlanesOptions } from "./simulated-control-planes.ts";
import { COMPONENTS, type Component, mirrorPod, type PodHealth, podName, podStatus } from "./static-pods.ts";

const YEAR_MS = 365 * 24 * 3600_000;
const NODES = { group: "", plural: "nodes" };
const PODS = { group: "", plural: "pods" };

/** What is wrong with a control plane machine. */
export interface MachineTrouble {
  /** Powered off: neither etcd nor the API server runs. */
  readonly off?: boolean;
  /** Its etcd reaches no other member. */
  readonly isolated?: boolean;
  /** Its etcd stays a learner. */
  readonly neverPromoted?: boolean;
  /** Its kubelet registers no Node. */
  readonly noNode?: boolean;
  /** Its etcd raises the alarm NOSPACE. */
  readonly noSpace?: boolean;
  /** A static pod that exits again and again. */
  readonly crashing?: Component;
}

/** A member as it is started on a machine. */
export interface PlaneMember {
  readonly machine: string;
  readonly nodeName: string;
  readonly address: string;
  readonly version: string;
}

interface Running extends PlaneMember {
  readonly trouble: MachineTrouble;
}

/** The control plane of one cluster: its API serves while a machine runs whose etcd member has a vote and the quorum. */
export class SimulatedPlane {
  readonly options: SimulatedControlPlanesOptions;
  readonly #key: ClusterKey;
  readonly #owner: string;
  #etcd = new SimulatedEtcd({ strict: true });
  #cluster: EmbeddedCluster | undefined;
  #opening: Promise<void> | undefined;
  #stopSigner: (() => void) | undefined;
  #initMachine = "";
  /** Member id by machine: what is on the machines' disks. */
  readonly #disks = new Map<string, string>();
  /** Machines that were destroyed before the record was read. */
  readonly #destroyed = new Set<string>();
  readonly #running = new Map<string, Running>();
  /** Writes of the record, one after the other. */
  #saving: Promise<void> = Promise.resolve();

  constructor(key: ClusterKey, options: SimulatedControlPlanesOptions) {
    this.#key = key;
    this.options = options;
    this.#owner = machinesOwner(key);
  }

  /** etcd as its clients see it; changes are stored before they are answered. */
  readonly etcdClient: EtcdClient = this.#storing();

  /** Address of the etcd member on a Node; nothing answers at that of an unknown one. */
  endpointOf(nodeName: string): string {
    const member = [...this.#running.values()].find((each) => each.nodeName === nodeName);
    return member === undefined ? `https://${nodeName}:2379` : clientUrl(member);
  }

  /** Opens the API with the data that it had before. */
  async open(authority: PlaneAuthority, uid: string, plan: KubeadmPlan): Promise<void> {
    this.#opening ??= this.#open(authority, uid, plan);
    try {
      await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  /** Whether a machine has a member's data. */
  hasDisk(machine: string): boolean {
    return this.#disks.has(machine);
  }

  /** Runs `kubeadm init` on a machine; what an earlier machine initialized is lost with that machine. */
  async init(member: PlaneMember, plan: InitPlan, uid: string): Promise<void> {
    if (this.#initMachine !== "") {
      await this.remove();
      await this.open(plan.authority, uid, plan);
    }
    const cluster = this.#opened();
    const id = this.#etcd.startMember({ ...urlsOf(member), name: member.nodeName, joins: false });
    this.#initMachine = member.machine;
    this.#disks.set(member.machine, id);
    // The record comes last: without it everything is made again.
    await cluster.server.seed(initObjects(plan));
    await cluster.server.seed([recordObject(this.#record())]);
  }

  /** Starts the member on a machine's disk. */
  run(member: PlaneMember, trouble: MachineTrouble): void {
    this.#running.set(member.machine, { ...member, trouble });
    this.#apply(member.machine);
  }

  /** Rejects while the machine's own API server does not serve. */
  assertSettled(machine: string): void {
    const id = this.#disks.get(machine);
    if (id === undefined || this.#cluster?.reachable !== true)
      throw new Error("the API server does not respond: etcd has no quorum");
  }

  /** Adds the machine's member without a vote, if it is not there yet. */
  async addLearner(member: PlaneMember): Promise<void> {
    const { peerUrl } = urlsOf(member);
    const asked = this.#anyServing();
    const members = await this.#etcd.members(asked);
    if (!members.some(({ peerUrls }) => peerUrls.includes(peerUrl))) {
      await this.#etcd.addMember(asked, peerUrl, true);
      await this.#save();
    }
    const id = this.#etcd.startMember({ ...urlsOf(member), name: member.nodeName, joins: true });
    this.#disks.set(member.machine, id);
    await this.#save();
  }

  /** Gives the machine's member a vote. */
  async promote(machine: string): Promise<void> {
    const id = this.#disks.get(machine) ?? "";
    const asked = this.#anyServing();
    const member = (await this.#etcd.members(asked)).find((each) => each.id === id);
    if (member?.isLearner === false) return;
    await this.#etcd.promoteMember(asked, id);
    await this.#save();
    this.#settle();
  }

  setTrouble(machine: string, trouble: MachineTrouble): void {
    const running = this.#running.get(machine);
    if (running === undefined) return;
    const before = running.trouble.crashing;
    this.#running.set(machine, { ...running, trouble });
    this.#apply(machine);
    if (before !== trouble.crashing) void this.postPods(machine, trouble.off !== true).catch(() => undefined);
  }

  /** Creates the mirror Pods of a machine whose Node exists. */
  async createPods(machine: string, since: string): Promise<void> {
    const running = this.#running.get(machine);
    const { server } = this.#opened();
    const node = server.internal.get(NODES, "", running?.nodeName ?? "") as Node | undefined;
    if (running === undefined || node === undefined) return;
    await server.seed(COMPONENTS.map((component) => mirrorPod({ ...running, component, node, since })));
    await this.postPods(machine, true);
  }

  /** Updates the mirror Pods of a machine. */
  async postPods(machine: string, alive: boolean): Promise<void> {
    const running = this.#running.get(machine);
    if (running === undefined || this.#cluster === undefined) return;
    const { internal } = this.#cluster.server;
    const since = formatTime(this.options.clock.now());
    for (const component of COMPONENTS) {
      const input = { ...running, component, since, health: healthOf(component, running.trouble, alive) };
      const update = (object: Unstructured): void | false => {
        const next = podStatus(input);
        const before = object["status"] as { conditions?: unknown } | undefined;
        if (readyOf(before) === readyOf(next)) return false;
        Object.assign(object, { status: next });
        return undefined;
      };
      await internal.update(PODS, "kube-system", podName(component, running.nodeName), "kubelet", update, "status");
    }
  }

  /** A machine and its disk are deleted; its member stays listed until a client removes it. */
  async destroy(machine: string): Promise<void> {
    const id = this.#disks.get(machine);
    this.#running.delete(machine);
    this.#disks.delete(machine);
    if (this.#cluster === undefined) {
      this.#destroyed.add(machine);
      return;
    }
    if (id === undefined) return;
    this.#etcd.trouble(id, { stopped: true });
    this.#settle();
    if (this.#disks.size === 0) await this.remove();
    else await this.#save();
  }

  /** Deletes the API with everything in it. */
  async remove(): Promise<void> {
    this.stop();
    this.#cluster?.disconnect();
    this.#cluster = undefined;
    this.#opening = undefined;
    this.#initMachine = "";
    this.#etcd = new SimulatedEtcd({ strict: true });
    this.#disks.clear();
    this.#running.clear();
    await this.options.embedded.remove(this.#owner);
  }

  stop(): void {
    this.#stopSigner?.();
    this.#stopSigner = undefined;
  }

  /** A kubelet whose credentials kubeadm init or an earlier process made. */
  localKubelet(): Kubelet {
    const cluster = this.#opened();
    return kubeletAt(() => {
      if (!cluster.reachable) throw new Error("the API server does not respond");
      return cluster.server.admin();
    }, this.options.clock);
  }

  async #open(authority: PlaneAuthority, uid: string, plan: KubeadmPlan): Promise<void> {
    const { embedded, clock, random } = this.options;
    const endpoint = plan.type === "init" ? endpointOf(plan.configuration) : plan.endpoint;
    const own = endpoint.startsWith(`${machinesHost(this.#key)}:`);
    const cluster = await embedded.ensure(this.#owner, {
      ca: authority,
      identity: uid,
      ...(own ? {} : { address: `https://${endpoint}` }),
      serving: (serverName) =>
        issueCertificate(authority, {
          commonName: "kube-apiserver",
          dnsNames: [serverName, "kubernetes"],
          usages: ["server"],
          nowMs: clock.now(),
          validMs: YEAR_MS,
          random,
        }),
    });
    cluster.reachable = false;
    this.#cluster = cluster;
    const record = readRecord(cluster);
    if (record !== undefined) {
      this.#etcd.restore(record.etcd);
      this.#initMachine = record.initMachine;
      for (const [machine, id] of record.disks) if (!this.#destroyed.has(machine)) this.#disks.set(machine, id);
    }
    this.#destroyed.clear();
    this.#stopSigner = startEmbeddedSigner(cluster.server.internal, clock);
  }

  #opened(): EmbeddedCluster {
    if (this.#cluster === undefined) throw new Error("the control plane was removed");
    return this.#cluster;
  }

  #apply(machine: string): void {
    const trouble = this.#running.get(machine)?.trouble ?? {};
    const id = this.#disks.get(machine);
    if (id === undefined) return;
    this.#etcd.trouble(id, {
      stopped: trouble.off === true || trouble.crashing === "etcd",
      isolated: trouble.isolated === true,
      noSpace: trouble.noSpace === true,
      behind: trouble.neverPromoted === true,
    });
    this.#settle();
  }

  /** An API server asks only the member on its own machine. */
  #settle(): void {
    const cluster = this.#cluster;
    if (cluster === undefined) return;
    const voters = new Set(this.#etcd.listed.filter(({ isLearner }) => !isLearner).map(({ id }) => id));
    const serves = [...this.#running.values()].some(({ machine, trouble }) => {
      const id = this.#disks.get(machine) ?? "";
      return trouble.off !== true && trouble.crashing !== "kube-apiserver" && voters.has(id) && this.#etcd.serves(id);
    });
    const before = cluster.reachable;
    cluster.reachable = serves;
    cluster.refusesWrites = this.#etcd.full ? refusal.noSpace().message : undefined;
    if (before && !serves) cluster.disconnect();
  }

  #anyServing(): string {
    const leads = (machine: string): boolean => this.#disks.get(machine) === this.#etcd.leader;
    const all = [...this.#running.values()].filter(({ machine }) => this.#etcd.serves(this.#disks.get(machine) ?? ""));
    const found = all.find(({ machine }) => leads(machine)) ?? all[0];
    if (found === undefined) throw refusal.timedOut();
    return clientUrl(found);
  }

  #record(): PlaneRecord {
    return { initMachine: this.#initMachine, disks: [...this.#disks], etcd: this.#etcd.record() };
  }

  async #save(): Promise<void> {
    const cluster = this.#cluster;
    if (cluster === undefined) return;
    const saved = this.#saving.then(() => writeRecord(cluster, this.#record()));
    this.#saving = saved.catch(() => undefined);
    await saved;
  }

  #storing(): EtcdClient {
    const after = async (change: Promise<void>): Promise<void> => {
      await change;
      this.#settle();
      await this.#save();
    };
    return {
      members: (endpoint, options) => this.#etcd.members(endpoint, options),
      alarms: (endpoint) => this.#etcd.alarms(endpoint),
      metrics: (endpoint) => this.#etcd.metrics(endpoint),
      addMember: (endpoint, url, learner) => after(this.#etcd.addMember(endpoint, url, learner)),
      promoteMember: (endpoint, id) => after(this.#etcd.promoteMember(endpoint, id)),
      removeMember: (endpoint, id) => after(this.#etcd.removeMember(endpoint, id)),
      moveLeader: (endpoint, to) => after(this.#etcd.moveLeader(endpoint, to)),
      status: (endpoint) => this.#etcd.status(endpoint),
      compact: (endpoint, revision) => this.#etcd.compact(endpoint, revision),
      defragment: (endpoint) => this.#etcd.defragment(endpoint),
      disarm: (endpoint) => after(this.#etcd.disarm(endpoint)),
      snapshot: (endpoint, file) => this.#etcd.snapshot(endpoint, file),
    };
  }
}

function healthOf(component: Component, trouble: MachineTrouble, alive: boolean): PodHealth {
  if (!alive) return "unknown";
  return trouble.crashing === component ? "crashing" : "running";
}

function readyOf(status: { conditions?: unknown } | undefined): string {
  const conditions = (status?.conditions ?? []) as { type: string; status: string }[];
  return conditions.map(({ type, status: value }) => `${type}=${value}`).join();
}

function clientUrl({ address }: PlaneMember): string {
  return `https://${address}:2379`;
}

function urlsOf(member: PlaneMember): { peerUrl: string; clientUrl: string } {
  return { peerUrl: `https://${member.address}:2380`, clientUrl: clientUrl(member) };
}
