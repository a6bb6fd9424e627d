import { createHash } from "node:crypto";
import { findCondition } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, conditionsOf, isControlPlaneMachine, type MachineAddress } from "@capstan/capi";
import type { Logger } from "@capstan/runtime";
import type { VmPhase } from "@capstan/vm";
import {
  Guest,
  type JoinDeps,
  machineProgram,
  type PlaneMachine,
  planeMember,
  type SimulatedControlPlanes,
  type SimulatedMachine,
} from "@capstan/workloads";
import { defaultsOf } from "../machine/defaults.ts";
import { disksOf } from "../machine/disks.ts";
import { idOf, type Key, keyOf, keyOfId } from "../names.ts";
import type { MachineFacts, MachineView, Placement, Removal, Scope } from "./placement.ts";

const BOOT_MS = 2000;
/** After a restart a machine waits for its cluster, which nothing announces to it. */
const RECONNECT_MS = 1000;

/** Dependencies of simulated machines. */
export interface SimulatedOptions extends JoinDeps {
  readonly log: Logger;
  /** The control planes that machines are members of; without it there are workers only. */
  readonly planes?: SimulatedControlPlanes | undefined;
}

interface Simulated {
  readonly guest: Guest;
  readonly member: PlaneMachine | undefined;
  running: boolean;
  cancelBoot: () => void;
}

/** Machines that exist in this process only: they boot and join their cluster, and run nothing. */
export class SimulatedPlacement implements Placement {
  readonly #options: SimulatedOptions;
  readonly #machines = new Map<string, Simulated>();
  readonly #listeners = new Set<(key: Key) => void>();

  constructor(options: SimulatedOptions) {
    this.#options = options;
  }

  /** Names of all machines. */
  list(): string[] {
    return [...this.#machines.keys()];
  }

  async ensure(scope: Scope, { key, providerID }: MachineFacts): Promise<MachineView> {
    const { object, workload, clock } = scope;
    const addresses = addressesOf(key);
    const view = (phase: VmPhase, reason: string, message: string): MachineView => ({
      phase,
      reason,
      message,
      addresses,
      knowsProviderID: true,
      restarts: 0,
      agentConnected: phase === "running",
      drift: [],
      disks: disksOf(object.spec ?? {}),
    });
    const id = idOf(key);
    if (!this.#machines.has(id)) {
      const { cpus, memoryMib } = defaultsOf(object.spec ?? {});
      const capacity = { cpu: String(cpus), memory: `${memoryMib}Mi`, pods: "110" };
      const simulated: SimulatedMachine = { scope, providerID, addresses, capacity, join: this.#options };
      const resumed = object.spec?.providerID !== undefined;
      const member = planeMember(simulated, this.#options.planes);
      if (resumed && member === undefined && workload.state !== "connected") {
        const wasReady = findCondition(conditionsOf(object), "Ready")?.status === "True";
        const waiting =
          wasReady && workload.state === "connecting"
            ? view("running", "Running", "the machine is running")
            : view("starting", "Starting", "waiting for a connection to its cluster after a restart");
        return { ...waiting, recheckAfterMs: RECONNECT_MS };
      }
      const program = await machineProgram(simulated, member, resumed);
      // Another reconcile may have been faster while the bootstrap data was read.
      if (!this.#machines.has(id)) this.#start(id, new Guest(program, this.#guestDeps(key, clock)), member, resumed);
    }
    const machine = this.#machines.get(id);
    return machine?.running === true
      ? view("running", "Running", machine.guest.problem ?? "the machine is running")
      : view("starting", "Starting", "the simulated machine boots");
  }

  powerOff(key: Key): Promise<VmPhase | undefined> {
    const machine = this.#machines.get(idOf(key));
    machine?.guest.stop();
    return Promise.resolve(machine === undefined ? undefined : "terminated");
  }

  async destroy({ object, machine }: Removal): Promise<void> {
    const key = keyOf(object);
    const known = this.#machines.get(idOf(key));
    this.#machines.delete(idOf(key));
    known?.cancelBoot();
    known?.guest.stop();
    await known?.member?.destroy();
    const cluster = object.metadata.labels?.[CLUSTER_NAME_LABEL];
    // An earlier process has started it.
    if (known === undefined && cluster !== undefined && machine !== undefined && isControlPlaneMachine(machine))
      await this.#options.planes?.destroyed({ namespace: key.namespace, name: cluster }, key.name);
  }

  console(): Promise<string> {
    return Promise.resolve("");
  }

  subscribe(listener: (key: Key) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    for (const { guest, cancelBoot } of this.#machines.values()) {
      cancelBoot();
      guest.stop();
    }
    return Promise.resolve();
  }

  #guestDeps(key: Key, clock: Scope["clock"]) {
    return { clock, log: this.#options.log, changed: () => this.#tell(key) };
  }

  #start(id: string, guest: Guest, member: PlaneMachine | undefined, resumed: boolean): void {
    const machine: Simulated = { guest, member, running: false, cancelBoot: () => undefined };
    this.#machines.set(id, machine);
    const boot = (): void => {
      machine.running = true;
      guest.reachable = true;
      this.#tell(keyOfId(id));
    };
    if (resumed) boot();
    else machine.cancelBoot = this.#options.clock.after(BOOT_MS, boot);
  }

  #tell(key: Key): void {
    for (const listener of this.#listeners) listener(key);
  }
}

function addressesOf({ namespace, name }: Key): MachineAddress[] {
  const hash = createHash("sha256").update(`${namespace}/${name}`).digest();
  return [
    { type: "InternalIP", address: `10.${hash.readUInt8(0)}.${hash.readUInt8(1)}.${hash.readUInt8(2)}` },
    { type: "Hostname", address: name },
  ];
}
