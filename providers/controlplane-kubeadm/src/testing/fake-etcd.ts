import type { EtcdClient, ListedMember, MemberAlarm } from "@capstan/etcd";
import type { EtcdPlace, EtcdWays } from "../etcd/etcd-ways.ts";

/** An etcd whose members answer, or not, as a test says; by name of the Node. */
export class FakeEtcd implements EtcdWays {
  listed: ListedMember[] = [];
  leader = "";
  alarms: MemberAlarm[] = [];
  metrics = "";
  /** Size of the data of every member, and how much of it is in use. */
  size = { dbSize: 1000, dbSizeInUse: 500 };
  /** What every member reports about itself, such as an alarm. */
  errors: string[] = [];
  /** Nodes whose member cannot be reached, with the error. */
  readonly broken = new Map<string, string>();
  /** Nodes whose member never answers. */
  readonly silent = new Set<string>();
  /** Another list than that of the others, by Node. */
  readonly lists = new Map<string, ListedMember[]>();
  readonly clusterIds = new Map<string, string>();
  readonly calls: string[] = [];
  opened = 0;
  /** Too few members are left for a leader. */
  leaderless = false;

  /** Adds a started member that kubeadm named after its Node, unless another name is given. */
  add(nodeName: string, address: string, name = nodeName): string {
    const id = String(1000 + this.listed.length);
    const urls = { peerUrls: [`https://${address}:2380`], clientUrls: [`https://${address}:2379`] };
    this.listed.push({ id, name, ...urls, isLearner: false });
    this.#nodes.set(nodeName, id);
    if (this.leader === "") this.leader = id;
    return id;
  }

  async open({ name }: { name: string }, { nodeName }: EtcdPlace): ReturnType<EtcdWays["open"]> {
    this.opened++;
    const broken = this.broken.get(nodeName);
    if (broken !== undefined) throw new Error(broken);
    if (this.silent.has(nodeName)) await new Promise(() => undefined);
    return { client: this.#client(nodeName), endpoint: `https://${nodeName}.${name}:2379` };
  }

  forget(): void {
    this.calls.push("forget");
  }

  readonly #nodes = new Map<string, string>();

  #client(nodeName: string): EtcdClient {
    const memberId = this.#nodes.get(nodeName) ?? "0";
    return {
      status: async () => ({
        memberId,
        clusterId: this.clusterIds.get(nodeName) ?? "77",
        leader: this.leaderless ? "0" : this.leader,
        revision: "1",
        ...this.size,
        errors: [...this.errors],
      }),
      members: async (_endpoint: string, options: { linearizable?: boolean } = {}) => {
        if (this.leaderless) throw new Error("etcdserver: request timed out");
        if (options.linearizable !== true) throw new Error("the list is not confirmed by the quorum");
        return structuredClone(this.lists.get(nodeName) ?? this.listed);
      },
      alarms: async () => this.alarms,
      metrics: async () => this.metrics,
      compact: async (_endpoint: string, revision: string) => {
        this.calls.push(`${nodeName} compacts ${revision}`);
      },
      defragment: async () => {
        this.calls.push(`${nodeName} defragments`);
        this.size = { ...this.size, dbSize: this.size.dbSizeInUse };
      },
      disarm: async () => {
        this.calls.push(`${nodeName} disarms`);
        this.errors = [];
        this.alarms = [];
      },
      removeMember: async (_endpoint: string, id: string) => {
        this.calls.push(`${nodeName} removes ${id}`);
        this.listed = this.listed.filter((member) => member.id !== id);
      },
      moveLeader: async (_endpoint: string, to: string) => {
        if (memberId !== this.leader) throw new Error("etcdserver: not leader");
        if (!this.listed.some(({ id, isLearner }) => id === to && !isLearner))
          throw new Error("etcdserver: bad leader transferee");
        this.calls.push(`${nodeName} hands over to ${to}`);
        this.leader = to;
      },
    } as unknown as EtcdClient;
  }
}
