import { planControlPlane } from "../plan.ts";
import type { Plan, Step } from "../step.ts";
import type { ControlPlaneView, DomainView, Health, MachineView, MemberView, RemediationRecord } from "../view.ts";

const TICK_MS = 10_000;
const NODE_AFTER_MS = 20_000;
const MEMBER_STARTS_AFTER_MS = 30_000;
const PROMOTED_AFTER_MS = 40_000;
const DRAINED_AFTER_MS = 20_000;
const NODE_STARTUP_MS = 600_000;
const GONE_AFTER_MS = 10_000;

export interface ModelMachine {
  name: string;
  node: string;
  createdMs: number;
  deletingMs: number | undefined;
  releasedMs: number | undefined;
  domain: string | undefined;
  revision: number;
  alive: boolean;
  /** Its kubelet never registers a Node. */
  stillborn: boolean;
  /** Its Node is never recorded in the Machine, as without a provider ID; its member joins all the same. */
  nodeless: boolean;
  /** Its member stays a learner. */
  unpromotable: boolean;
  /** Its member reports NOSPACE. */
  alarmed: boolean;
  /** It works, but the manager does not reach it. */
  unreachable: boolean;
  failedSinceMs: number | undefined;
  remediationFor: RemediationRecord | undefined;
  deleteAnnotation: boolean;
}

interface ModelMember {
  id: string;
  node: string;
  started: boolean;
  learner: boolean;
  /** It runs on a host that is no Machine. */
  elsewhere?: boolean;
  /** The last write that it has stored. */
  revision: number;
}

/** What befalls the next Machine that is created. */
export type BirthFault = "stillborn" | "nodeless" | "unpromotable";

/** Desired state of the modelled control plane. */
export interface Wanted {
  replicas: number;
  maxSurge: number;
  revision: number;
  domains: DomainView[];
  maxRetry: number | undefined;
}

/** A control plane in memory: Machines boot, join etcd, fail and are drained as time goes by, and nothing else is modelled. */
export class Model {
  readonly wanted: Wanted = { replicas: 1, maxSurge: 1, revision: 1, domains: [], maxRetry: undefined };
  readonly machines: ModelMachine[] = [];
  readonly members: ModelMember[] = [];
  readonly log: string[] = [];
  leader: string | undefined;
  /** The last write that a majority stored, and that a client was therefore promised. */
  acknowledged = 0;
  /** Which followers are behind: a write is acknowledged as soon as the leader and just enough of the others have it. */
  lag = 0;
  /** The manager reaches nothing of the cluster. */
  partitioned = false;
  /** The next Machines have these faults. */
  readonly births: BirthFault[] = [];
  /** The manager is killed after so many writes of its next step, and starts again; etcd is a store of its own. */
  killAfter = Number.POSITIVE_INFINITY;
  /** For so many ticks the watches of the workload cluster report what was seen when they stopped. */
  staleTicks = 0;
  nowMs = 0;
  deleting = false;
  initialized = false;
  finished = false;
  /** The plan of the last reconcile. */
  last: Plan | undefined;
  #inProgress: RemediationRecord | undefined;
  #stale = new Map<string, MachineView>();
  #count = 0;

  /** Whether a majority of the voting members is alive. */
  get hasQuorum(): boolean {
    const voters = this.members.filter(({ learner }) => !learner);
    return voters.filter((member) => this.#alive(member)).length >= majorityOf(voters.length);
  }

  /** Whether a member that works has every acknowledged write. */
  get hasAcknowledged(): boolean {
    return this.members.some((member) => this.#alive(member) && member.revision === this.acknowledged);
  }

  /** Whether every majority of the voting members has every acknowledged write, so that no election can lose one. */
  get electsAcknowledged(): boolean {
    const voters = this.members.filter(({ learner }) => !learner);
    return voters.filter(({ revision }) => revision < this.acknowledged).length < majorityOf(voters.length);
  }

  /** Lets time pass until the plan has been `none` for some ticks, or `ticks` have passed. */
  settle(ticks = 200): void {
    for (let quiet = 0, tick = 0; quiet < 8 && tick < ticks && !this.finished; tick++)
      quiet = this.tick().step.type === "none" ? quiet + 1 : 0;
  }

  /** One reconcile, and then ten seconds. */
  tick(): Plan {
    const plan = planControlPlane(this.view());
    this.check(plan.step);
    if (plan.remediationCompleted) this.#inProgress = undefined;
    this.#apply(plan.step);
    this.killAfter = Number.POSITIVE_INFINITY;
    if (this.staleTicks > 0) this.staleTicks--;
    this.last = plan;
    this.#note(plan);
    this.nowMs += TICK_MS;
    this.#progress();
    return plan;
  }

  /** What must hold of every step before it is carried out; tests replace it. */
  check: (step: Step) => void = () => undefined;

  /** Whether a Machine works in every respect that a health check sees. */
  works(machine: ModelMachine): boolean {
    return this.isBorn(machine) && machine.failedSinceMs === undefined;
  }

  /** Whether it runs, with a Node. */
  isBorn({ alive, stillborn, nodeless }: ModelMachine): boolean {
    return alive && !stillborn && !nodeless;
  }

  /** A machine stops for good; its health check reports it after a minute. */
  fail(name: string): void {
    const machine = this.machine(name);
    machine.alive = false;
    machine.failedSinceMs = this.nowMs;
    this.say(`${name} fails`);
    this.#elect();
  }

  /** Whether a majority is left if a machine stops, with a working Machine of ours in it. */
  keepsQuorumWithout({ node }: ModelMachine): boolean {
    const voters = this.members.filter(({ learner }) => !learner);
    const left = voters.filter((member) => member.node !== node && this.#alive(member));
    const ours = this.machines.filter((machine) => this.isBorn(machine)).map((machine) => machine.node);
    return left.length >= majorityOf(voters.length) && left.some((member) => ours.includes(member.node));
  }

  /** Whether etcd keeps a majority once the member of a machine is removed. */
  maySpare({ node }: ModelMachine): boolean {
    const left = this.members.filter((member) => !member.learner && member.node !== node);
    return left.filter((member) => this.#alive(member)).length >= majorityOf(left.length);
  }

  /** Another member becomes the leader. */
  elect(which: number): void {
    const able = this.#electable();
    if (this.hasQuorum) this.leader = able[which % able.length]?.id;
  }

  machine(name: string): ModelMachine {
    const found = this.machines.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no machine ${name}`);
    return found;
  }

  say(text: string): void {
    this.log.push(`${String(this.nowMs / 1000).padStart(5)} s  ${text}`);
  }

  view(): ControlPlaneView {
    return {
      nowMs: this.nowMs,
      namespace: "default",
      replicas: this.wanted.replicas,
      version: "v1.37.1",
      maxSurge: this.wanted.maxSurge,
      initialized: this.initialized,
      etcdManaged: true,
      certificatesAvailable: true,
      machines: this.machines.map((machine) => this.#machineView(machine)),
      members:
        this.hasQuorum && !this.partitioned
          ? this.members.map((member) => this.#memberView(member))
          : { unknown: "no quorum" },
      youngNodes: new Set(this.machines.filter((each) => this.#age(each) < 60_000).map(({ node }) => node)),
      failureDomains: this.wanted.domains,
      topology: undefined,
      remediation: {
        maxRetry: this.wanted.maxRetry,
        retryPeriodMs: 0,
        minHealthyPeriodMs: 3_600_000,
        inProgress: this.#inProgress,
      },
      deleting: this.deleting,
      workersLeft: [],
    };
  }

  #machineView(machine: ModelMachine): MachineView {
    const member = this.members.find(({ node }) => node === machine.node);
    const hasNode = this.#hasNode(machine);
    const lost = this.partitioned;
    const pod = hasNode && !lost ? healthOf(machine.alive) : unknown;
    const voting = member?.started === true && !member.learner;
    const asked = hasNode && !lost && this.hasQuorum && !machine.unreachable;
    const known = this.staleTicks > 0 ? this.#stale.get(machine.name)?.components : undefined;
    const failed = machine.failedSinceMs !== undefined && this.nowMs - machine.failedSinceMs >= 60_000;
    const view: MachineView = {
      name: machine.name,
      createdMs: machine.createdMs,
      deletingSinceMs: machine.deletingMs,
      failureDomain: machine.domain,
      nodeName: hasNode ? machine.node : undefined,
      upToDate: machine.revision === this.wanted.revision,
      healthCheck: failed ? "failed" : "none",
      awaitsRemediation: failed,
      remediateAnnotation: false,
      deleteAnnotation: machine.deleteAnnotation,
      remediationFor: machine.remediationFor,
      components: {
        apiServer: pod,
        controllerManager: pod,
        scheduler: pod,
        etcdPod: pod,
        nodeLabels: pod,
        ...known,
        // Read from etcd before every step that changes members.
        etcdMember: asked ? healthOf(machine.alive && voting && !machine.alarmed) : unknown,
      },
      hooks: {
        ours: machine.releasedMs === undefined,
        others: false,
        waiting: machine.deletingMs !== undefined && this.nowMs - machine.deletingMs >= DRAINED_AFTER_MS,
      },
    };
    if (this.staleTicks === 0) this.#stale.set(machine.name, view);
    return view;
  }

  #memberView(member: ModelMember): MemberView {
    return {
      id: member.id,
      name: member.started ? member.node : "",
      nodeName: member.started ? member.node : undefined,
      learner: member.learner,
      leader: member.id === this.leader,
      alarms: this.machines.find(({ node }) => node === member.node)?.alarmed === true ? ["NOSPACE"] : [],
      answered: this.#alive(member),
    };
  }

  /** Whether another write of this step is made before the manager is killed. */
  #writes(): boolean {
    return this.killAfter-- > 0;
  }

  #apply(step: Step): void {
    switch (step.type) {
      case "create": {
        const name = `m${++this.#count}`;
        if (!this.#writes()) return;
        const fault = this.births.shift();
        this.machines.push({
          name,
          // Nodes are not named like Machines: nothing may rely on it.
          node: `node-${this.#count}`,
          createdMs: this.nowMs,
          deletingMs: undefined,
          releasedMs: undefined,
          domain: step.failureDomain,
          revision: this.wanted.revision,
          alive: true,
          stillborn: fault === "stillborn",
          nodeless: fault === "nodeless",
          unpromotable: fault === "unpromotable",
          alarmed: false,
          unreachable: false,
          failedSinceMs: undefined,
          remediationFor: this.#inProgress,
          deleteAnnotation: false,
        });
        if (this.#writes()) this.#inProgress = undefined;
        return;
      }
      case "delete":
        if (step.moveLeaderTo.length > 0 && this.#writes()) this.#lead(step.moveLeaderTo);
        if (step.record !== undefined && this.#writes()) this.#inProgress = step.record;
        if (this.#writes()) this.machine(step.machine).deletingMs ??= this.nowMs;
        return;
      case "removeMember":
        this.removeMember(step.memberId);
        return;
      case "releaseHook":
        if (step.removeMember !== undefined) {
          if (this.#writes()) this.#lead(step.moveLeaderTo);
          if (!this.#writes()) return;
          this.removeMember(step.removeMember);
        }
        if (this.#writes()) this.machine(step.machine).releasedMs = this.nowMs;
        return;
      case "deleteAll":
        for (const name of step.machines) {
          this.machine(name).deletingMs ??= this.nowMs;
          this.machine(name).releasedMs ??= this.nowMs + DRAINED_AFTER_MS;
        }
        return;
      case "finished":
        this.finished = true;
        return;
      default:
    }
  }

  /** Removes a member, as etcd does: only with a quorum, and if the members that are left have one. */
  removeMember(id: string): void {
    const index = this.members.findIndex((member) => member.id === id);
    if (index < 0) return;
    if (!this.hasQuorum) throw new Error(`etcd cannot remove ${id} without a quorum`);
    // The change is a write, which the old majority stores.
    this.#write();
    const [removed] = this.members.splice(index, 1);
    if (removed?.learner === false && !this.hasQuorum)
      throw new Error(`etcd refuses to remove ${id}: the quorum would be lost`);
    this.#elect();
  }

  /** Clients write without a break: whenever there is a leader, one more write is acknowledged. */
  #write(): void {
    const leader = this.members.find(({ id }) => id === this.leader);
    if (leader === undefined || !this.#alive(leader) || !this.hasQuorum) return;
    const voters = this.members.filter(({ learner }) => !learner);
    const others = voters.filter((member) => member !== leader && this.#alive(member));
    const start = others.length === 0 ? 0 : this.lag % others.length;
    const fastest = [...others.slice(start), ...others.slice(0, start)].slice(0, majorityOf(voters.length) - 1);
    this.acknowledged++;
    for (const member of [leader, ...fastest]) member.revision = this.acknowledged;
  }

  #progress(): void {
    for (const machine of this.machines.slice()) {
      const { releasedMs } = machine;
      if (machine.deletingMs !== undefined && releasedMs !== undefined && this.nowMs - releasedMs >= GONE_AFTER_MS)
        this.#forget(machine);
      else if (machine.alive && machine.deletingMs === undefined) this.#boot(machine);
      // A health check waits so long for a Node.
      if (!this.#hasNode(machine) && this.#age(machine) >= NODE_STARTUP_MS) machine.failedSinceMs ??= this.nowMs;
    }
    this.#elect();
    this.#write();
  }

  #forget(machine: ModelMachine): void {
    this.machines.splice(this.machines.indexOf(machine), 1);
  }

  #boot(machine: ModelMachine): void {
    if (machine.stillborn || (machine.nodeless && this.members.length === 0)) return;
    const age = this.#age(machine);
    let member = this.members.find(({ node }) => node === machine.node);
    if (this.members.length === 0 && age >= NODE_AFTER_MS) {
      this.initialized = true;
      // An empty store: what clients were promised before is not in it.
      this.members.push({ ...memberOf(machine), started: true, learner: false });
      return;
    }
    if (member === undefined && age >= NODE_AFTER_MS && age < MEMBER_STARTS_AFTER_MS && this.hasQuorum) {
      member = { ...memberOf(machine), started: false, learner: true };
      this.members.push(member);
    }
    if (member === undefined) return;
    if (age >= MEMBER_STARTS_AFTER_MS) member.started = true;
    // A learner copies the leader's data before it is promoted.
    if (member.learner && member.started && this.hasQuorum && !machine.unpromotable)
      member.revision = this.acknowledged;
    const isReady = this.hasQuorum && member.revision === this.acknowledged && !machine.unpromotable;
    if (age >= PROMOTED_AFTER_MS && isReady) member.learner = false;
  }

  #lead(candidates: readonly string[]): void {
    const next = candidates.find((id) => this.members.some((member) => member.id === id && this.#alive(member)));
    if (next === undefined) return;
    this.leader = next;
    // etcd hands the leadership over once the other member has caught up.
    for (const member of this.members) if (member.id === next) member.revision = this.acknowledged;
  }

  /** Only a member with every acknowledged write is given the votes of a majority. */
  #electable(): ModelMember[] {
    const able = this.members.filter((member) => !member.learner && this.#alive(member));
    return able.filter(({ revision }) => revision === this.acknowledged);
  }

  #elect(): void {
    const current = this.members.find(({ id }) => id === this.leader);
    if (current !== undefined && this.#alive(current)) return;
    this.leader = this.hasQuorum ? this.#electable()[0]?.id : undefined;
  }

  /** A member outlives its Machine's object, but not its machine. */
  #alive({ node, elsewhere }: ModelMember): boolean {
    return elsewhere === true || this.machines.find((each) => each.node === node)?.alive === true;
  }

  #hasNode(machine: ModelMachine): boolean {
    return !machine.stillborn && !machine.nodeless && this.#age(machine) >= NODE_AFTER_MS;
  }

  #age({ createdMs }: ModelMachine): number {
    return this.nowMs - createdMs;
  }

  #note({ step, deferral }: Plan): void {
    const state = `${this.machines.map(({ name, domain }) => (domain === undefined ? name : `${name}@${domain}`)).join(" ")} | etcd ${this.members.map(({ id, learner }) => `${id}${learner ? "?" : ""}${id === this.leader ? "*" : ""}`).join(" ")}`;
    const text = deferral === undefined ? textOf(step) : `${textOf(step)}; ${deferral.machine}: ${deferral.message}`;
    if (step.type === "none" && deferral === undefined) return;
    const line = `${text}  [${state}]`;
    if (this.log.at(-1)?.slice(9) !== line) this.say(line);
  }
}

const majorityOf = (voters: number): number => Math.floor(voters / 2) + 1;

function memberOf({ node }: ModelMachine): Pick<ModelMember, "id" | "node" | "revision"> {
  return { id: node.replace("node", "id"), node, revision: 0 };
}

const unknown: Health = { status: "Unknown", message: "" };
const healthOf = (good: boolean): Health => ({ status: good ? "True" : "False", message: "" });

function textOf(step: Step): string {
  switch (step.type) {
    case "create":
      return `create (${step.mode})`;
    case "delete":
      return `delete ${step.machine} (${step.why})${leadership(step.moveLeaderTo)}`;
    case "removeMember":
      return `remove member ${step.memberId}: ${step.message}`;
    case "releaseHook":
      return `release ${step.machine}${step.removeMember === undefined ? "" : `, remove member ${step.removeMember}`}${leadership(step.moveLeaderTo)}`;
    case "deleteAll":
      return `delete all: ${step.machines.join(" ")}`;
    case "wait":
      return `wait (${step.reason}): ${step.message}`;
    default:
      return step.type;
  }
}

const leadership = (candidates: readonly string[]): string =>
  candidates.length === 0 ? "" : `, leader to ${candidates[0]}`;
