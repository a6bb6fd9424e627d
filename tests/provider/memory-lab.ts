import type { Clock } from "@capstan/apimachinery";
import type { Lab, LabHost } from "./lab.ts";

/** Hosts that are there, by rack, and how long one takes to start. */
export interface MemoryLabOptions {
  readonly clock: Clock;
  readonly hosts: Readonly<Record<string, number>>;
  readonly bootMs: number;
}

/** A lab that is not there, to try the provider with. */
export class MemoryLab implements Lab {
  readonly #options: MemoryLabOptions;
  readonly #free: { id: string; rack: string }[];
  readonly #taken = new Map<string, { id: string; rack: string; onAt: number; userData: Uint8Array }>();

  constructor(options: MemoryLabOptions) {
    this.#options = options;
    this.#free = Object.entries(options.hosts).flatMap(([rack, count]) =>
      Array.from({ length: count }, (_, index) => ({ id: `${rack}-${index + 1}`, rack })),
    );
  }

  async find(owner: string): Promise<LabHost | undefined> {
    const host = this.#taken.get(owner);
    if (host === undefined) return undefined;
    const { id, rack, onAt } = host;
    return { id, rack, on: this.#options.clock.now() >= onAt, addresses: [{ type: "Hostname", address: id }] };
  }

  async take(owner: string, wish: { rack?: string | undefined; userData: Uint8Array }): Promise<LabHost | undefined> {
    const { clock, bootMs } = this.#options;
    const index = this.#free.findIndex(({ rack }) => wish.rack === undefined || rack === wish.rack);
    const [host] = index < 0 ? [] : this.#free.splice(index, 1);
    if (host === undefined) return undefined;
    this.#taken.set(owner, { ...host, onAt: clock.now() + bootMs, userData: wish.userData });
    return await this.find(owner);
  }

  async giveBack(owner: string): Promise<void> {
    const host = this.#taken.get(owner);
    this.#taken.delete(owner);
    if (host !== undefined) this.#free.push({ id: host.id, rack: host.rack });
  }

  /** Who has a host. */
  owners(): string[] {
    return [...this.#taken.keys()];
  }
}
