import type { Clock } from "@capstan/apimachinery";
import type { VmOrder, VmSeed, VmStatus } from "@capstan/vm";
import type { Runner } from "../placement/process.ts";

const START_MS = 2000;
const SHUTDOWN_MS = 3000;

interface Machine {
  order: VmOrder;
  status: VmStatus;
}

/** A runner whose machines start and shut down in virtual time. It outlives the provider, as processes do. */
export class FakeRunner implements Runner {
  readonly machines = new Map<string, Machine>();
  readonly seeds = new Map<string, VmSeed | undefined>();
  readonly #clock: Clock;
  readonly #listeners = new Set<(id: string) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  resume(): Promise<void> {
    return Promise.resolve();
  }

  subscribe(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async ensure(order: VmOrder, seed: () => Promise<VmSeed | undefined>): Promise<VmStatus> {
    const known = this.machines.get(order.id);
    if (known !== undefined) {
      known.order = order;
      return known.status;
    }
    this.seeds.set(order.id, await seed());
    const status: VmStatus = {
      phase: "starting",
      reason: "Starting",
      message: "QEMU has started and does not answer yet",
      restarts: 0,
      agentConnected: false,
      drift: [],
      disks: order.disks,
    };
    this.machines.set(order.id, { order, status });
    this.#clock.after(START_MS, () =>
      this.set(order.id, { phase: "running", reason: "Running", accelerator: "tcg", pid: 42, agentConnected: true }),
    );
    return status;
  }

  status(id: string): Promise<VmStatus | undefined> {
    return Promise.resolve(this.machines.get(id)?.status);
  }

  powerOff(id: string): Promise<VmStatus | undefined> {
    const machine = this.machines.get(id);
    if (machine !== undefined && !["stopping", "terminated", "failed"].includes(machine.status.phase)) {
      this.set(id, { phase: "stopping", reason: "ShuttingDown", message: "the guest agent was requested" });
      this.#clock.after(SHUTDOWN_MS, () => this.set(id, { phase: "terminated", reason: "Terminated", message: "off" }));
    }
    return Promise.resolve(this.machines.get(id)?.status);
  }

  destroy(id: string): Promise<void> {
    this.machines.delete(id);
    return Promise.resolve();
  }

  console(): Promise<string> {
    return Promise.resolve("");
  }

  list(): Promise<VmOrder[]> {
    return Promise.resolve([...this.machines.values()].map(({ order }) => order));
  }

  /** Changes what is known of a machine. */
  set(id: string, change: Partial<VmStatus>): void {
    const machine = this.machines.get(id);
    if (machine === undefined) return;
    machine.status = { ...machine.status, ...change };
    for (const listener of this.#listeners) listener(id);
  }
}
