import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { removeReclaimed } from "@capstan/os";
import type { VmSeed } from "../seed/seed.ts";
import type { GuestCommandResult } from "../sockets/guest-agent.ts";
import { Vm } from "./vm.ts";
import type { VmDeps } from "./vm-deps.ts";
import type { VmOrder } from "./vm-order.ts";
import { newRecord, readVmRecord } from "./vm-record.ts";
import type { VmStatus } from "./vm-status.ts";

/** Runs virtual machines on this host. They outlive the manager, and a later one finds them again. */
export class VmRunner {
  readonly #deps: VmDeps;
  readonly #root: string;
  readonly #machines = new Map<string, Promise<Vm>>();
  readonly #listeners = new Set<(id: string) => void>();
  readonly #unsubscribe: () => void;
  #closed = false;

  /** `root` is a folder that the users of machines may enter. */
  constructor(root: string, deps: VmDeps) {
    this.#root = root;
    this.#deps = deps;
    this.#unsubscribe = deps.images.subscribe(() => void this.#imageChanged());
  }

  /** Calls back with the id of a machine whose status has changed. */
  subscribe(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes up the machines that an earlier manager left. Call once, before anything else. */
  async resume(): Promise<void> {
    for (const name of await this.#folders()) {
      const record = await readVmRecord(join(this.#root, name)).catch(() => undefined);
      if (record === undefined || folderName(record.order.id) !== name) continue;
      // The next request for this machine reports why, and the others are taken up nevertheless.
      await this.#find(record.order.id).catch(() => undefined);
    }
    await this.evictImages();
  }

  /** Makes the machine run as it is ordered, as far as that is possible without a restart. `seed` is requested once, before the first start. */
  async ensure(order: VmOrder, seed: () => Promise<VmSeed | undefined>): Promise<VmStatus> {
    const machine = await (this.#machines.get(order.id) ?? this.#open(order.id, order));
    return await machine.ensure(order, seed);
  }

  /** What is known of a machine; undefined when there is none. */
  async status(id: string): Promise<VmStatus | undefined> {
    return (await this.#find(id))?.status;
  }

  /** Begins to shut a machine down: guest agent, power button, and after `graceMs` a power cut. Undefined when there is none. */
  async powerOff(id: string, graceMs: number): Promise<VmStatus | undefined> {
    return await (await this.#find(id))?.powerOff(graceMs);
  }

  /** Powers a machine off at once, and deletes it with its disks. Safe to repeat. */
  async destroy(id: string): Promise<void> {
    const machine = await this.#find(id);
    if (machine === undefined) await this.#removeRest(id);
    else await machine.destroy();
    this.#machines.delete(id);
    await this.evictImages();
  }

  /** The end of what a guest has written to its console. */
  async console(id: string, bytes?: number): Promise<string> {
    return (await (await this.#find(id))?.console(bytes)) ?? "";
  }

  /** Runs a program in a guest through its agent. */
  async exec(
    id: string,
    command: { path: string; args?: string[]; input?: string },
    timeoutMs?: number,
  ): Promise<GuestCommandResult> {
    return await (await this.#known(id)).exec(command, timeoutMs);
  }

  /** Presses the reset button of a machine. */
  async reset(id: string): Promise<void> {
    await (await this.#known(id)).reset();
  }

  /** The orders of all machines. */
  async list(): Promise<VmOrder[]> {
    return (await this.#opened()).map(({ order }) => order);
  }

  /** Deletes images that no machine uses; none while the record of any machine cannot be read. */
  async evictImages(): Promise<void> {
    const used = await this.#usedImages().catch(() => undefined);
    if (used !== undefined) await this.#deps.images.evict(used);
  }

  /** Lets go of all machines, which keep running. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe();
    for (const machine of await this.#opened()) machine.close();
  }

  /** All machines but those that cannot be taken up. */
  async #opened(): Promise<Vm[]> {
    const settled = await Promise.allSettled(this.#machines.values());
    return settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  }

  async #usedImages(): Promise<Set<string>> {
    const machines = await this.#opened();
    const used = new Set(machines.flatMap(({ image }) => image ?? []));
    for (const name of await this.#folders()) {
      const record = await readVmRecord(join(this.#root, name));
      if (record?.image !== undefined) used.add(record.image.file);
    }
    return used;
  }

  /** Without the directory there are no machines; when it cannot be read, they are unknown. */
  async #folders(): Promise<string[]> {
    return await readdir(this.#root).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
  }

  async #known(id: string): Promise<Vm> {
    const machine = await this.#find(id);
    if (machine === undefined) throw new Error(`there is no machine ${id}`);
    return machine;
  }

  async #find(id: string): Promise<Vm | undefined> {
    const known = this.#machines.get(id);
    if (known !== undefined) return await known;
    const record = await readVmRecord(join(this.#root, folderName(id)));
    return record === undefined ? undefined : await (this.#machines.get(id) ?? this.#open(id, record.order));
  }

  #open(id: string, order: VmOrder): Promise<Vm> {
    const folder = join(this.#root, folderName(id));
    const opening = (async () => {
      let record = await readVmRecord(folder);
      if (record === undefined) {
        // A machine never gets the disks of an earlier one of its name.
        await this.#removeRest(id);
        record = newRecord(order);
      }
      const machine = new Vm(this.#deps, folder, record, () => this.#tell(id));
      await machine.resume();
      return machine;
    })();
    this.#machines.set(id, opening);
    opening.catch(() => this.#machines.delete(id));
    return opening;
  }

  /** Removes what a deletion that was interrupted left: the record may be deleted before the disks. */
  async #removeRest(id: string): Promise<void> {
    await removeReclaimed(join(this.#root, folderName(id)));
    await this.#deps.users?.release(id);
  }

  #tell(id: string): void {
    if (!this.#closed) for (const listener of this.#listeners) listener(id);
  }

  async #imageChanged(): Promise<void> {
    for (const [id, opening] of this.#machines) {
      const machine = await opening.catch(() => undefined);
      if (machine?.status.phase === "preparing") this.#tell(id);
    }
  }
}

/** Sockets have short paths, so that names are not in them. */
function folderName(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 20);
}
