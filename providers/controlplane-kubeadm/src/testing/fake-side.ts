import type { Machine } from "@capstan/capi";
import type { Health } from "../plan/view.ts";
import type {
  MachineObservation,
  ObservedMember,
  ObserveOptions,
  PlaneTarget,
  WorkloadObservation,
  WorkloadProblem,
  WorkloadSide,
} from "../workload/workload-side.ts";

const YOUNG_MS = 60_000;

interface FakeMember {
  id: string;
  node: string;
}

/** A workload cluster whose components are healthy on every Machine with a Node, and whose etcd has a member per Node. */
export class FakeSide implements WorkloadSide {
  readonly calls: string[] = [];
  readonly members: FakeMember[] = [];
  /** Nodes that fail. */
  readonly broken = new Set<string>();
  /** Names of Machines whose kubeadm init does not finish. */
  readonly stillborn = new Set<string>();
  leader: string | undefined;
  etcdTrouble: WorkloadProblem | undefined;
  /** The endpoint does not lead to the cluster. */
  mute: boolean | string = false;
  /** The endpoint does not answer, but the API at the Machines does. */
  endpointDown: string | undefined;
  initialized = false;
  /** Whether what was observed last is repeated until a fresh observation is requested. */
  frozen = false;
  #last: WorkloadObservation | undefined;
  /** So many changes of members succeed without an answer. */
  lostAnswers = 0;
  /** Changes that left etcd without a majority of members that work. */
  readonly quorumLosses: string[] = [];
  expiries = new Map<string, number>();
  #count = 0;

  async observe(
    target: PlaneTarget,
    _context: unknown,
    { fresh = false }: ObserveOptions = {},
  ): Promise<WorkloadObservation> {
    if (!this.frozen || fresh || this.#last === undefined) this.#last = this.#look(target);
    return this.#last;
  }

  #look({ machines }: PlaneTarget): WorkloadObservation {
    for (const machine of machines) this.#join(machine);
    const why = typeof this.mute === "string" ? this.mute : "connection refused";
    const answers = this.mute === false && machines.some((machine) => this.#isFine(machine));
    return {
      unreachable: answers ? undefined : why,
      endpointDown: this.endpointDown,
      initialized: answers ? this.initialized : undefined,
      machines: new Map(machines.map((machine) => [machine.metadata.name ?? "", this.#observation(machine)])),
      members: answers ? this.members.map((member) => this.#member(member)) : { unknown: why },
      youngNodes: new Set(),
      etcdTrouble: this.etcdTrouble,
      strayNodes: [],
      recheckMs: YOUNG_MS,
    };
  }

  async prepareRollout({ controlPlane }: PlaneTarget): Promise<void> {
    this.calls.push(`prepare ${controlPlane.spec.version}`);
  }

  async updateAddons({ controlPlane }: PlaneTarget): Promise<undefined> {
    const call = `addons ${controlPlane.spec.version}`;
    if (this.calls.at(-1) !== call) this.calls.push(call);
  }

  async keepSpace(): Promise<void> {
    await Promise.resolve();
  }

  async removeMember(_target: PlaneTarget, memberId: string, moveLeaderTo: readonly string[]): Promise<void> {
    const index = this.members.findIndex(({ id }) => id === memberId);
    if (index < 0) return;
    const [removed] = this.members.splice(index, 1);
    if (removed?.node === this.leader) this.leader = this.members.find(({ id }) => id === moveLeaderTo[0])?.node;
    this.calls.push(`remove ${removed?.node}`);
    const working = this.members.filter(({ node }) => !this.broken.has(node)).length;
    if (working * 2 <= this.members.length) this.quorumLosses.push(this.calls.slice(-5).join("; "));
    this.#answer();
  }

  async moveLeader(_target: PlaneTarget, to: readonly string[]): Promise<void> {
    this.leader = this.members.find(({ id }) => id === to[0])?.node;
    this.calls.push("move leader");
    this.#answer();
  }

  #answer(): void {
    if (this.lostAnswers === 0) return;
    this.lostAnswers--;
    throw new Error("the connection was closed");
  }

  async removeStrayNodes(): Promise<void> {
    this.calls.push("remove stray Nodes");
  }

  subscribe(): () => void {
    return () => undefined;
  }

  etcdReports(): [] {
    return [];
  }

  forget(): void {
    this.calls.push("forget");
  }

  /** A Machine with a Node has joined etcd. */
  #join(machine: Machine): void {
    const node = machine.status?.nodeRef?.name;
    const { name = "", deletionTimestamp } = machine.metadata;
    if (node === undefined || deletionTimestamp !== undefined || this.stillborn.has(name)) return;
    if (this.members.some((member) => member.node === node) || this.broken.has(node)) return;
    this.members.push({ id: String(++this.#count), node });
    this.leader ??= node;
    this.initialized = true;
  }

  #isFine(machine: Machine): boolean {
    const node = machine.status?.nodeRef?.name;
    return node !== undefined && !this.broken.has(node) && this.members.some((member) => member.node === node);
  }

  #observation(machine: Machine): MachineObservation {
    const name = machine.metadata.name ?? "";
    const fine = this.mute === false && this.#isFine(machine);
    const unknown = this.mute !== false || machine.status?.nodeRef === undefined;
    const status: Health["status"] = fine ? "True" : unknown ? "Unknown" : "False";
    const of = (good: string) => ({ status, reason: fine ? good : "NotHealthy", message: fine ? "" : "it fails" });
    const pod = of("Running");
    return {
      components: {
        apiServer: pod,
        controllerManager: pod,
        scheduler: pod,
        etcdPod: pod,
        etcdMember: of("Healthy"),
        nodeLabels: of("Set"),
      },
      certificatesExpireMs: this.expiries.get(name),
    };
  }

  #member({ id, node }: FakeMember): ObservedMember {
    return {
      id,
      name: node,
      nodeName: node,
      learner: false,
      leader: node === this.leader,
      alarms: [],
      answered: !this.broken.has(node),
      peerUrls: [],
      clientUrls: [],
    };
  }
}
