import { writeFile } from "node:fs/promises";
import type { EtcdClient, ListedMember, MemberAlarm, MemberStatus } from "@capstan/etcd";
import type { Program } from "../types.ts";
import * as refusal from "./etcd-refusals.ts";

const MIB = 1024 ** 2;
/** etcd's own default. */
const MAX_LEARNERS = 1;

/** A member as its program starts it, whether a process, a pod or a static pod of a machine. */
export interface StartedMember {
  name: string;
  peerUrl: string;
  clientUrl: string;
  /** Whether it joins members that exist; it must have been added to them. */
  joins: boolean;
}

/** Everything about a simulated etcd that survives a restart of this process. */
export interface EtcdRecord {
  readonly listed: readonly ListedMember[];
  /** Member id by client address. */
  readonly ids: readonly (readonly [string, string])[];
  readonly leader: string;
  readonly nextId: number;
  /** Ids of members with the alarm NOSPACE. */
  readonly noSpace: readonly string[];
}

/** An etcd cluster without processes: its members, their votes, the leader, the size of its database and its alarms. */
export class SimulatedEtcd implements EtcdClient {
  readonly calls: string[] = [];
  listed: ListedMember[] = [];
  /** Member id by client address, filled as members start. */
  readonly #ids = new Map<string, string>();
  /** Members whose process does not run. */
  readonly #stopped = new Set<string>();
  /** Members that reach no other member, although clients reach them. */
  readonly #isolated = new Set<string>();
  /** Members with the alarm NOSPACE. */
  readonly #noSpace = new Set<string>();
  /** Learners that do not catch up. */
  readonly #behind = new Set<string>();
  leader = "";
  dbSize = 10 * MIB;
  dbSizeInUse = 10 * MIB;
  /** Alarms as a member's status reports them. */
  errors: string[] = [];
  /** Size after a compaction and a defragmentation. */
  compacted = 10 * MIB;
  #nextId = 1;
  #leaderChanges = 0;
  readonly #strict: boolean;

  /** With `strict` nothing answers at an address where no member was started, and members that never started do not count. */
  constructor({ strict = false }: { strict?: boolean } = {}) {
    this.#strict = strict;
  }

  /** Starts a member: the first ones make the cluster, later ones must have been added. */
  startMember({ name, peerUrl, clientUrl, joins }: StartedMember): string {
    let member = this.listed.find(({ peerUrls }) => peerUrls.includes(peerUrl));
    if (member === undefined) {
      if (joins) throw new Error(`${name} was never added`);
      member = { id: this.#newId(), name: "", peerUrls: [peerUrl], clientUrls: [], isLearner: false };
      this.listed.push(member);
      if (this.leader === "") this.leader = member.id;
    }
    member.name = name;
    member.clientUrls = [clientUrl];
    this.#ids.set(clientUrl, member.id);
    this.#stopped.delete(member.id);
    return member.id;
  }

  /** Starts the member that a program is, by its flags; other programs are ignored. */
  start(program: Program): void {
    if (!/^etcd(-\d+)?$/.test(program.id.name)) return;
    const flag = (name: string): string =>
      program.args.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? "";
    this.startMember({
      name: flag("name"),
      peerUrl: flag("initial-advertise-peer-urls"),
      clientUrl: flag("advertise-client-urls"),
      joins: flag("initial-cluster-state") === "existing",
    });
  }

  /** Whether a program is a member without a vote: it does not say that it is ready. */
  isLearner(program: Program): boolean {
    const peerUrl = program.args.find((argument) => argument.startsWith("--initial-advertise-peer-urls="));
    const member = this.listed.find(({ peerUrls }) => peerUrl?.endsWith(peerUrls[0] ?? "none") === true);
    return program.id.name.startsWith("etcd") && member?.isLearner === true;
  }

  /** What goes wrong with a member from now on; nothing of what is not given. */
  trouble(
    id: string,
    trouble: { stopped?: boolean; isolated?: boolean; noSpace?: boolean; behind?: boolean } = {},
  ): void {
    const set = (ids: Set<string>, applies: boolean | undefined): unknown =>
      applies === true ? ids.add(id) : ids.delete(id);
    set(this.#stopped, trouble.stopped);
    set(this.#isolated, trouble.isolated);
    set(this.#behind, trouble.behind);
    // An alarm stays until it is disarmed, whatever became of its cause.
    if (trouble.noSpace === true) this.#noSpace.add(id);
    this.#elect();
  }

  /** Whether a member is in the part of the cluster that can commit. */
  serves(id: string): boolean {
    const member = this.listed.find((each) => each.id === id);
    if (member === undefined || !this.#runs(member)) return false;
    const voters = this.#voters();
    if (this.#isolated.has(id)) return voters.length === 1 && !member.isLearner;
    return this.#connected().length >= quorumOf(voters.length);
  }

  /** Whether the alarm NOSPACE is raised, which makes every member refuse to write. */
  get full(): boolean {
    return this.#noSpace.size > 0;
  }

  /** What to keep over a restart. */
  record(): EtcdRecord {
    const { listed, leader } = this;
    return {
      listed: structuredClone(listed),
      ids: [...this.#ids],
      leader,
      nextId: this.#nextId,
      noSpace: [...this.#noSpace],
    };
  }

  /** Continues from a record; none of its members runs yet. */
  restore(record: EtcdRecord): void {
    this.listed = structuredClone([...record.listed]);
    this.leader = record.leader;
    this.#nextId = record.nextId;
    for (const [url, id] of record.ids) this.#ids.set(url, id);
    for (const id of record.noSpace) this.#noSpace.add(id);
    for (const { id } of this.listed) this.#stopped.add(id);
  }

  /** The member that serves clients at an address, if it has started. */
  idAt(endpoint: string): string | undefined {
    return this.#ids.get(endpoint);
  }

  async members(endpoint: string, { linearizable = false } = {}): Promise<ListedMember[]> {
    const id = linearizable ? this.#committing(endpoint) : this.#answering(endpoint);
    if (id !== undefined && this.#member(id).isLearner) throw refusal.notForLearners();
    return structuredClone(this.listed);
  }

  async addMember(endpoint: string, peerUrl: string, asLearner: boolean): Promise<void> {
    this.#committing(endpoint);
    if (this.listed.some(({ peerUrls }) => peerUrls.includes(peerUrl))) throw refusal.peerUrlExists();
    const voters = this.#voters();
    const started = voters.filter(({ name }) => name !== "").length;
    const after = voters.length + 1;
    // The only member may always get a second one: the way to restore a cluster.
    if (!asLearner && !(started === 1 && after === 2) && started < quorumOf(after)) throw refusal.notEnoughStarted();
    if (voters.length > 1 && this.#connected().length < quorumOf(after)) throw refusal.unhealthy();
    if (asLearner && this.listed.filter(({ isLearner }) => isLearner).length >= MAX_LEARNERS)
      throw refusal.tooManyLearners();
    this.calls.push(`add ${asLearner ? "learner" : "voter"}`);
    this.listed.push({
      id: this.#newId(),
      name: "",
      peerUrls: [peerUrl],
      clientUrls: [],
      isLearner: asLearner,
    });
  }

  async promoteMember(endpoint: string, id: string): Promise<void> {
    this.#committing(endpoint);
    const member = this.#member(id);
    if (!member.isLearner) throw refusal.notLearner();
    const copied = !this.#strict || (this.#runs(member) && !this.#isolated.has(id));
    if (!copied || this.#behind.has(id)) throw refusal.learnerNotReady();
    const voters = this.#voters();
    const started = voters.filter(({ name }) => name !== "").length + 1;
    if (started < quorumOf(voters.length + 1)) throw refusal.notEnoughStarted();
    this.calls.push("promote");
    member.isLearner = false;
  }

  async removeMember(endpoint: string, id: string): Promise<void> {
    this.#committing(endpoint);
    const member = this.#member(id);
    // etcd itself would carry it out and elect another leader; a control plane that does this interrupts its own API.
    if (this.leader === id) throw new Error("the leader must transfer leadership first");
    if (!member.isLearner) this.#mayRemove(member, this.#ids.get(endpoint));
    this.calls.push(`remove ${member.name}`);
    this.listed = this.listed.filter((each) => each.id !== id);
    for (const [url, known] of this.#ids) if (known === id) this.#ids.delete(url);
    this.#noSpace.delete(id);
    this.#elect();
  }

  async moveLeader(endpoint: string, to: string): Promise<void> {
    this.#committing(endpoint);
    const asked = this.#ids.get(endpoint);
    if (asked !== undefined && asked !== this.leader) throw refusal.notLeader();
    const member = this.listed.find(({ id }) => id === to);
    if (this.#strict && (member === undefined || member.isLearner)) throw refusal.badTransferee();
    if (this.#strict && !this.serves(to)) throw refusal.timedOutTransfer();
    this.calls.push("move leader");
    this.#lead(to);
  }

  async status(endpoint: string): Promise<MemberStatus> {
    const { dbSize, dbSizeInUse, errors } = this;
    const id = this.#answering(endpoint);
    const led = id === undefined || this.serves(id);
    return {
      memberId: id ?? "",
      clusterId: "1",
      leader: led ? this.leader : "0",
      revision: "42",
      dbSize,
      dbSizeInUse,
      errors: [
        ...(led ? [] : [refusal.NO_LEADER]),
        ...errors,
        ...[...this.#noSpace].map((each) => `memberID:${each} alarm:NOSPACE `),
      ],
    };
  }

  async compact(endpoint: string, revision: string): Promise<void> {
    this.#committing(endpoint);
    this.calls.push(`compact ${revision}`);
  }

  async defragment(endpoint: string): Promise<void> {
    const id = this.#answering(endpoint);
    this.calls.push(id === this.leader ? "defragment leader" : "defragment");
    this.dbSize = this.compacted;
    this.dbSizeInUse = this.compacted;
  }

  async alarms(endpoint: string): Promise<MemberAlarm[]> {
    this.#committing(endpoint);
    const named = this.errors.flatMap((text) => {
      const [, memberId, alarm] = /memberID:(\d+) alarm:(\w+)/.exec(text) ?? [];
      return memberId === undefined || alarm === undefined ? [] : [{ memberId, alarm }];
    });
    return [...named, ...[...this.#noSpace].map((memberId) => ({ memberId, alarm: "NOSPACE" }))];
  }

  async metrics(endpoint: string): Promise<string> {
    const id = this.#answering(endpoint);
    const led = id === undefined || this.serves(id) ? 1 : 0;
    return `etcd_server_has_leader ${led}\netcd_server_leader_changes_seen_total ${this.#leaderChanges}\n`;
  }

  async disarm(endpoint: string): Promise<void> {
    this.#committing(endpoint);
    this.calls.push("disarm");
    this.errors = [];
    this.#noSpace.clear();
  }

  async snapshot(endpoint: string, file: string): Promise<void> {
    this.#answering(endpoint);
    this.calls.push("snapshot");
    await writeFile(file, "the data");
  }

  /** The calls since the last time. */
  news(): string[] {
    return this.calls.splice(0);
  }

  #newId(): string {
    while (this.listed.some(({ id }) => id === String(this.#nextId))) this.#nextId++;
    return String(this.#nextId++);
  }

  #voters(): ListedMember[] {
    return this.listed.filter(({ isLearner }) => !isLearner);
  }

  #runs({ id, name }: ListedMember): boolean {
    return (name !== "" || !this.#strict) && !this.#stopped.has(id);
  }

  /** Voters that run and reach each other. */
  #connected(): ListedMember[] {
    const voters = this.#voters();
    return voters.filter((each) => this.#runs(each) && (voters.length === 1 || !this.#isolated.has(each.id)));
  }

  #elect(): void {
    const connected = this.#connected();
    if (connected.length < quorumOf(this.#voters().length)) return;
    if (!connected.some(({ id }) => id === this.leader)) this.#lead(connected[0]?.id ?? "");
  }

  #lead(id: string): void {
    this.leader = id;
    this.#leaderChanges++;
  }

  #member(id: string): ListedMember {
    const member = this.listed.find((each) => each.id === id);
    if (member === undefined) throw refusal.memberNotFound();
    return member;
  }

  #mayRemove(member: ListedMember, asked: string | undefined): void {
    const left = this.#voters().filter(({ id }) => id !== member.id);
    if (left.filter(({ name }) => name !== "").length < quorumOf(left.length)) throw refusal.notEnoughStarted();
    const down = !this.#runs(member) || this.#isolated.has(member.id);
    if (down && member.id !== asked) return;
    if (this.#connected().length - 1 < 1 + Math.floor(left.length / 2)) throw refusal.unhealthy();
  }

  /** The member that answers at an address; where no member was started by its address, any of them does. */
  #answering(endpoint: string): string | undefined {
    const id = this.#ids.get(endpoint);
    if (id === undefined ? this.#strict : this.#stopped.has(id)) throw refusal.noConnection(endpoint);
    return id;
  }

  /** Like #answering, for calls that need the quorum and a vote. */
  #committing(endpoint: string): string | undefined {
    const id = this.#answering(endpoint);
    if (id === undefined) return id;
    if (this.#member(id).isLearner) throw refusal.notForLearners();
    if (!this.serves(id)) throw refusal.timedOut();
    return id;
  }
}

const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1;
