import { writeFile } from "node:fs/promises";
import type { EtcdClient, ListedMember, MemberStatus } from "@capstan/etcd";
import type { Program } from "@capstan/workloads";

const MIB = 1024 ** 2;

/** In-memory etcd client that simulates members and database size. */
export class FakeEtcd implements EtcdClient {
  readonly calls: string[] = [];
  listed: ListedMember[] = [];
  /** Member id by client address, filled as members start. */
  private readonly ids = new Map<string, string>();
  leader = "";
  dbSize = 10 * MIB;
  dbSizeInUse = 10 * MIB;
  alarms: string[] = [];
  /** Size after a compaction and a defragmentation. */
  compacted = 10 * MIB;
  private nextId = 1;

  /** A member begins to run: the first ones make the cluster, later ones must have been added. */
  start(program: Program): void {
    if (!/^etcd(-\d+)?$/.test(program.id.name)) return;
    const flag = (name: string): string =>
      program.args.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? "";
    const peerUrl = flag("initial-advertise-peer-urls");
    let member = this.listed.find(({ peerUrls }) => peerUrls.includes(peerUrl));
    if (member === undefined) {
      if (flag("initial-cluster-state") === "existing") throw new Error(`${program.id.name} was never added`);
      member = { id: String(this.nextId++), name: "", peerUrls: [peerUrl], isLearner: false };
      this.listed.push(member);
      if (this.leader === "") this.leader = member.id;
    }
    member.name = flag("name");
    this.ids.set(flag("advertise-client-urls"), member.id);
  }

  /** Whether a program is a member without a vote: it does not say that it is ready. */
  isLearner(program: Program): boolean {
    const peerUrl = program.args.find((argument) => argument.startsWith("--initial-advertise-peer-urls="));
    const member = this.listed.find(({ peerUrls }) => peerUrl?.endsWith(peerUrls[0] ?? "none") === true);
    return program.id.name.startsWith("etcd") && member?.isLearner === true;
  }

  async members(): Promise<ListedMember[]> {
    return structuredClone(this.listed);
  }

  async addMember(_endpoint: string, peerUrl: string, asLearner: boolean): Promise<void> {
    this.calls.push(`add ${asLearner ? "learner" : "voter"}`);
    this.listed.push({ id: String(this.nextId++), name: "", peerUrls: [peerUrl], isLearner: asLearner });
  }

  async promoteMember(_endpoint: string, id: string): Promise<void> {
    this.calls.push("promote");
    for (const member of this.listed) if (member.id === id) member.isLearner = false;
  }

  async removeMember(_endpoint: string, id: string): Promise<void> {
    if (this.leader === id) throw new Error("the leader must hand over first");
    this.calls.push(`remove ${this.listed.find((member) => member.id === id)?.name}`);
    this.listed = this.listed.filter((member) => member.id !== id);
  }

  async moveLeader(_endpoint: string, to: string): Promise<void> {
    this.calls.push("move leader");
    this.leader = to;
  }

  async status(endpoint: string): Promise<MemberStatus> {
    const { leader, dbSize, dbSizeInUse, alarms } = this;
    return { memberId: this.ids.get(endpoint) ?? "", leader, revision: "42", dbSize, dbSizeInUse, errors: [...alarms] };
  }

  async compact(_endpoint: string, revision: string): Promise<void> {
    this.calls.push(`compact ${revision}`);
  }

  async defragment(endpoint: string): Promise<void> {
    this.calls.push(this.ids.get(endpoint) === this.leader ? "defragment leader" : "defragment");
    this.dbSize = this.compacted;
    this.dbSizeInUse = this.compacted;
  }

  async disarm(): Promise<void> {
    this.calls.push("disarm");
    this.alarms = [];
  }

  async snapshot(_endpoint: string, file: string): Promise<void> {
    this.calls.push("snapshot");
    await writeFile(file, "the data");
  }

  /** The calls since the last time. */
  news(): string[] {
    return this.calls.splice(0);
  }
}
