import { mkdir } from "node:fs/promises";
import { qemuCommand } from "../arguments/qemu-args.ts";
import { vmSpecProblems } from "../arguments/vm-spec-problems.ts";
import type { VmUser } from "../host/vm-user.ts";
import type { VmSeed } from "../seed/seed.ts";
import { ensureDisks, ensureFolders, filesOf, imageOf, writeSeed } from "./prepare.ts";
import { specOf } from "./spec-of.ts";
import type { VmDeps } from "./vm-deps.ts";
import type { StartedQemu } from "./vm-processes.ts";
import { type VmRecord, writeVmRecord } from "./vm-record.ts";
import { VmProblem } from "./vm-status.ts";

/** Prepares one machine and starts its QEMU. What it finds out is in the record. */
export class VmStarter {
  readonly #deps: VmDeps;
  readonly #folder: string;
  readonly #record: VmRecord;

  constructor(deps: VmDeps, folder: string, record: VmRecord) {
    this.#deps = deps;
    this.#folder = folder;
    this.#record = record;
  }

  /** Fetches the image, and makes disks and seed. */
  async prepare(seed: () => Promise<VmSeed | undefined>): Promise<void> {
    const record = this.#record;
    await this.#deps.qemu.version();
    record.image ??= imageOf(await this.#deps.images.get(record.order.image));
    const user = await this.user();
    await ensureFolders(this.#folder, user);
    // Before any disk: the image must not be evicted from now on.
    await this.write();
    await ensureDisks(record.order, this.#folder, {
      image: record.image,
      qemuImg: this.#deps.qemuImg,
      user,
      running: false,
    });
    const data = record.seeded === undefined ? await seed() : undefined;
    if (data !== undefined) record.seeded = await writeSeed(data, this.#folder, user, this.#deps.clock.now());
    record.prepared = true;
    await this.write();
  }

  /** Starts QEMU. */
  async start(): Promise<StartedQemu> {
    const { qemu, clock, processes, bootId, qemuImg } = this.#deps;
    const record = this.#record;
    const { image, order } = record;
    if (image === undefined) throw new Error(`machine ${order.id} has not been prepared`);
    await qemu.version();
    const user = await this.user();
    Object.assign(record, await this.#accelerator());
    await ensureFolders(this.#folder, user);
    await ensureDisks(order, this.#folder, { image, qemuImg, user, running: false });
    const { command, args } = await this.command();
    Object.assign(record, { args, process: undefined, startedAtMs: clock.now(), bootId });
    // Before it starts: a process without a record is found by its UUID.
    await this.write();
    const started = await processes
      .start({ command, args }, filesOf(this.#folder).log, user)
      .catch((error: NodeJS.ErrnoException) => {
        record.args = undefined;
        throw new VmProblem("QemuNotFound", `cannot start ${command}: ${error.message}`, { cause: error });
      });
    record.process = started.identity;
    await this.write();
    return started;
  }

  async #accelerator(): Promise<Pick<VmRecord, "accelerator" | "acceleratorMessage">> {
    const { accelerator } = this.#record.order;
    if (accelerator === "tcg") return { accelerator, acceleratorMessage: undefined };
    const verdict = await this.#deps.qemu.accelerator();
    if (accelerator === "kvm" && verdict.accelerator !== "kvm") throw new VmProblem("KVMNotAvailable", verdict.message);
    return { accelerator: verdict.accelerator, acceleratorMessage: verdict.message };
  }

  /** The command line as the order has it now. */
  async command(): Promise<{ command: string; args: string[] }> {
    const { image, seeded, accelerator = "tcg", order } = this.#record;
    if (image === undefined) throw new Error(`machine ${order.id} has not been prepared`);
    const { roots, diskCache, qemu } = this.#deps;
    const spec = await specOf(order, { folder: this.#folder, image, seeded, accelerator }, roots);
    if (diskCache !== undefined) for (const disk of spec.disks) disk.cache = diskCache;
    const problems = vmSpecProblems(spec);
    if (problems.length > 0)
      throw new VmProblem("SpecInvalid", problems.map(({ field, detail }) => `${field}: ${detail}`).join("; "));
    return qemuCommand(spec, qemu.program);
  }

  /** The user that QEMU runs as. */
  async user(): Promise<VmUser | undefined> {
    return await this.#deps.users?.userOf(this.#record.order.id);
  }

  /** Stores what is known of the machine. */
  async write(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o711 });
    await writeVmRecord(this.#folder, this.#record);
  }
}
