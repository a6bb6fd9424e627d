import { createHash } from "node:crypto";
import type { Clock, Random } from "@capstan/apimachinery";
import type { Logger, Request } from "@capstan/runtime";
import {
  type Connect,
  Guest,
  type GuestProgram,
  type PlaneMachine,
  type SimulatedControlPlanes,
} from "@capstan/workloads";
import { troubleOf } from "./faults.ts";
import type { Fault } from "./kinds/memory-machine.ts";

/** Dependencies and settings of the simulated machines. */
export interface BackendOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Determines everything that differs between machines. */
  readonly seed: number;
  /** Connects machines to the API that they join. */
  readonly connect: Connect;
  /** The control planes that machines are members of; without it there are workers only. */
  readonly planes?: SimulatedControlPlanes | undefined;
}

/** Parameters for creating a simulated machine. */
export interface MachineOrder {
  readonly key: Request;
  /** `NAMESPACE/NAME` of the Cluster whose capacity it takes. */
  readonly cluster: string;
  /** Maximum number of machines of that Cluster. */
  readonly limit: number | undefined;
  readonly bootMs: number;
  readonly program: GuestProgram;
  /** What it is in the control plane, if it belongs to one. */
  readonly member?: PlaneMachine | undefined;
}

/** Observed state of a simulated machine. */
export interface MachineState {
  readonly running: boolean;
  readonly bootsAtMs: number;
  readonly problem: string | undefined;
}

interface VirtualMachine {
  readonly key: Request;
  readonly cluster: string;
  readonly guest: Guest;
  readonly member: PlaneMachine | undefined;
  readonly bootsAtMs: number;
  running: boolean;
  fault: Fault | undefined;
  cancelBoot: (() => void) | undefined;
}

/** Holds all simulated machines of this process. A restart loses them; reconciling creates them again. */
export class MemoryBackend {
  readonly options: BackendOptions;
  readonly #machines = new Map<string, VirtualMachine>();
  readonly #byCluster = new Map<string, number>();
  readonly #refused = new Map<string, Map<string, Request>>();
  readonly #listeners = new Set<(machine: Request) => void>();

  constructor(options: BackendOptions) {
    this.options = options;
  }

  /** Calls back when a machine changes outside of a reconcile, for example when it has booted. */
  subscribe(listener: (machine: Request) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The machine, or undefined if there is none. */
  find(key: Request): MachineState | undefined {
    const machine = this.#machines.get(textOf(key));
    if (machine === undefined) return undefined;
    const { running, bootsAtMs, guest } = machine;
    return { running, bootsAtMs, problem: guest.problem };
  }

  /** Creates a machine; false when there is no room for it. */
  create(order: MachineOrder): boolean {
    const taken = this.#byCluster.get(order.cluster) ?? 0;
    if (order.limit !== undefined && taken >= order.limit) {
      const waiting = this.#refused.get(order.cluster) ?? new Map<string, Request>();
      this.#refused.set(order.cluster, waiting.set(textOf(order.key), order.key));
      return false;
    }
    const { clock, log } = this.options;
    const changed = (): void => this.#notify(order.key);
    const machine: VirtualMachine = {
      key: order.key,
      cluster: order.cluster,
      guest: new Guest(order.program, { clock, log, changed }),
      member: order.member,
      bootsAtMs: clock.now() + order.bootMs,
      running: order.bootMs === 0,
      fault: undefined,
      cancelBoot: undefined,
    };
    this.#machines.set(textOf(order.key), machine);
    this.#byCluster.set(order.cluster, taken + 1);
    this.#refused.get(order.cluster)?.delete(textOf(order.key));
    if (!machine.running)
      machine.cancelBoot = clock.after(order.bootMs, () => {
        machine.cancelBoot = undefined;
        machine.running = true;
        this.#settle(machine);
        this.#notify(machine.key);
      });
    return true;
  }

  /** Sets what is wrong with a machine, undefined for nothing. */
  setFault(key: Request, fault: Fault | undefined): void {
    const machine = this.#machines.get(textOf(key));
    if (machine === undefined) return;
    machine.fault = fault;
    this.#settle(machine);
  }

  /** Destroys a machine; its room goes to those that wait for it. Safe to repeat. */
  async destroy(key: Request): Promise<void> {
    for (const waiting of this.#refused.values()) waiting.delete(textOf(key));
    const machine = this.#machines.get(textOf(key));
    if (machine === undefined) return;
    this.#machines.delete(textOf(key));
    machine.cancelBoot?.();
    machine.guest.stop();
    const left = (this.#byCluster.get(machine.cluster) ?? 1) - 1;
    if (left > 0) this.#byCluster.set(machine.cluster, left);
    else this.#byCluster.delete(machine.cluster);
    const waiting = this.#refused.get(machine.cluster);
    this.#refused.delete(machine.cluster);
    for (const next of waiting?.values() ?? []) this.#notify(next);
    await machine.member?.destroy();
  }

  /** Names of all machines. */
  list(): string[] {
    return [...this.#machines.keys()];
  }

  /** A number in [0, 1) that belongs to a name: the same in every run with the same seed. */
  share(name: string): number {
    return createHash("sha256").update(`${this.options.seed}/${name}`).digest().readUInt32BE(0) / 0x1_0000_0000;
  }

  #settle(machine: VirtualMachine): void {
    if (!machine.running || machine.fault === "NeverBoots") return;
    if (machine.member !== undefined) machine.member.trouble = troubleOf(machine.fault);
    machine.guest.reachable = machine.fault !== "APIUnreachable" && machine.fault !== "NodeDies";
  }

  #notify(key: Request): void {
    for (const listener of this.#listeners) listener(key);
  }
}

function textOf(key: Request): string {
  return `${key.namespace}/${key.name}`;
}
