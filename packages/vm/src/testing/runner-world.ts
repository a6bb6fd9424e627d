import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { openDialGate } from "@capstan/runtime";
import type { AcceleratorVerdict } from "../accelerator/probe-accelerator.ts";
import { ImageStore } from "../images/image-store.ts";
import type { VmDeps } from "../runner/vm-deps.ts";
import type { VmOrder } from "../runner/vm-order.ts";
import { VmRunner } from "../runner/vm-runner.ts";
import type { VmStatus } from "../runner/vm-status.ts";
import type { VmSeed } from "../seed/seed.ts";
import { FakeProcesses } from "./fake-qemu.ts";
import { fakeQemuImg } from "./fake-qemu-img.ts";

const GIB = 2 ** 30;
export const ID = "default/m1";

/** A host with fake QEMUs, an image and a manager that can be restarted. */
export class RunnerWorld {
  readonly folder: string;
  readonly clock = new VirtualClock();
  readonly processes = new FakeProcesses();
  readonly changes: string[] = [];
  verdict: AcceleratorVerdict = { accelerator: "tcg", message: "QEMU emulates the processor" };
  version: () => Promise<string> = () => Promise.resolve("7.2.22");
  bootId = "boot-1";
  seeds = 0;
  runner: VmRunner;
  #images: ImageStore;

  private constructor(folder: string) {
    this.folder = folder;
    this.#images = this.#store();
    this.runner = this.#manager();
  }

  static async create(): Promise<RunnerWorld> {
    const folder = await mkdtemp(join(tmpdir(), "cvm-"));
    await mkdir(join(folder, "allowed"));
    await writeFile(join(folder, "allowed/disk.img"), Buffer.alloc(1024, 1));
    return new RunnerWorld(folder);
  }

  order(more: Partial<VmOrder> = {}): VmOrder {
    return {
      id: ID,
      name: "m1",
      uuid: "6a7b2f0e-0000-4000-8000-000000000001",
      cpus: 2,
      memory: { mib: 1024 },
      accelerator: "auto",
      boot: { type: "disk" },
      image: { location: { type: "file", path: join(this.folder, "allowed/disk.img") }, format: "raw" },
      disks: [
        { name: "root", bytes: 20 * GIB },
        { name: "containerfs", bytes: GIB },
      ],
      networks: [{ type: "user" }],
      restartPolicy: "Always",
      ...more,
    };
  }

  async ensure(more: Partial<VmOrder> = {}): Promise<VmStatus> {
    return await this.runner.ensure(this.order(more), () => {
      this.seeds++;
      return Promise.resolve<VmSeed>({
        type: "noCloud",
        data: { metaData: { "instance-id": "i" }, userData: "#cloud-config\npassword: secret-token\n" },
      });
    });
  }

  /** Ensures it until it runs. */
  async run(more: Partial<VmOrder> = {}): Promise<VmStatus> {
    await this.until(async () => (await this.ensure(more)).phase === "running");
    return await this.status();
  }

  async status(): Promise<VmStatus> {
    const found = await this.runner.status(ID);
    if (found === undefined) throw new Error("there is no machine");
    return found;
  }

  /** Waits for what happens on sockets and disks, in no time of the clock. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
  }

  async phase(phase: VmStatus["phase"]): Promise<VmStatus> {
    await this.until(async () => (await this.status()).phase === phase);
    return await this.status();
  }

  /** Another manager takes over, as after kill -9. */
  async restartManager(): Promise<void> {
    await this.runner.close();
    await this.#images.close();
    this.#images = this.#store();
    this.runner = this.#manager();
    await this.runner.resume();
  }

  async close(): Promise<void> {
    await this.runner.close();
    await this.#images.close();
    this.processes.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  #store(): ImageStore {
    const { clock, folder } = this;
    return new ImageStore({
      root: join(folder, "images"),
      clock,
      gate: openDialGate(),
      fileRoots: [join(folder, "allowed")],
    });
  }

  #manager(): VmRunner {
    const deps: VmDeps = {
      clock: this.clock,
      random: seededRandom(1),
      processes: this.processes,
      images: this.#images,
      qemu: {
        program: "qemu-system-x86_64",
        version: () => this.version(),
        accelerator: () => Promise.resolve(this.verdict),
      },
      qemuImg: fakeQemuImg,
      roots: { files: [join(this.folder, "allowed")], volumes: [join(this.folder, "allowed")] },
      bootId: this.bootId,
    };
    const runner = new VmRunner(join(this.folder, "vms"), deps);
    runner.subscribe((id) => this.changes.push(id));
    return runner;
  }
}
