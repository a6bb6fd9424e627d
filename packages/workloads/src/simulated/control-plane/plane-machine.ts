import { formatTime, sleep } from "@capstan/apimachinery";
import type { Node } from "@capstan/capi";
import type { Connect } from "../discovery.ts";
import type { KubeadmPlan } from "../join-plan.ts";
import { joinCluster, type Kubelet } from "../kubelet.ts";
import type { MachineTrouble, SimulatedPlane } from "./simulated-plane.ts";

/** What distinguishes a control plane machine from the others of its cluster. */
export interface PlaneMachineFacts {
  /** Unique in the cluster, and the same after a restart. */
  readonly machine: string;
  /** Identifies the Cluster, so that data of an earlier one of the same name is not used. */
  readonly clusterUid: string;
  readonly address: string;
  readonly version: string;
  /** Connects to the API that it joins. */
  readonly connect: Connect;
}

/** How long a learner takes to copy the data. */
const CATCH_UP_MS = 500;

/** A simulated control plane machine: runs kubeadm init or join, its member of etcd and its static pods. */
export class PlaneMachine {
  readonly #plane: SimulatedPlane;
  readonly #facts: PlaneMachineFacts;
  #kubelet: Kubelet | undefined;
  #trouble: MachineTrouble = {};

  constructor(plane: SimulatedPlane, facts: PlaneMachineFacts) {
    this.#plane = plane;
    this.#facts = facts;
  }

  /** Sets what is wrong with it. */
  set trouble(trouble: MachineTrouble) {
    this.#trouble = trouble;
    this.#plane.setTrouble(this.#facts.machine, trouble);
  }

  /** Runs kubeadm; only starts the member if it did before. Safe to repeat after a failure. */
  async start(plan: KubeadmPlan, signal: AbortSignal): Promise<Kubelet> {
    const { machine, clusterUid, address, version, connect } = this.#facts;
    const { clock, random } = this.#plane.options;
    const authority = plan.authority;
    if (authority === undefined)
      throw new Error("the bootstrap data is of a worker, but the machine belongs to the control plane");
    await this.#plane.open(authority, clusterUid, plan);
    const member = { machine, nodeName: plan.nodeName, address, version };
    if (plan.type === "init" && !this.#plane.hasDisk(machine)) await this.#plane.init(member, plan, clusterUid);
    if (this.#plane.hasDisk(machine)) {
      this.#plane.run(member, this.#trouble);
      this.#plane.assertSettled(machine);
      return this.#plane.localKubelet();
    }
    if (plan.type === "init") throw new Error("kubeadm init did not finish");
    this.#kubelet ??= await joinCluster(plan, { connect, clock, random }, signal);
    await this.#plane.addLearner(member);
    this.#plane.run(member, this.#trouble);
    await sleep(clock, CATCH_UP_MS, signal);
    await this.#plane.promote(machine);
    return this.#kubelet;
  }

  /** Registers the Node and the static pods. */
  async register(kubelet: Kubelet, node: Node): Promise<void> {
    if (this.#trouble.noNode === true) throw new Error("the kubelet does not register its Node: fault NoNode is set");
    await kubelet.resume(node);
    await this.#plane.createPods(this.#facts.machine, formatTime(this.#plane.options.clock.now()));
  }

  /** Reports whether the machine is alive. */
  async post(kubelet: Kubelet, nodeName: string, alive: boolean): Promise<void> {
    await kubelet.post(nodeName, alive);
    await this.#plane.postPods(this.#facts.machine, alive);
  }

  /** Destroys machine and disk. */
  async destroy(): Promise<void> {
    await this.#plane.destroy(this.#facts.machine);
  }
}
