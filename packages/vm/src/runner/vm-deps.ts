import type { Clock, Random } from "@capstan/apimachinery";
import type { QemuImg } from "../disks/ensure-disk.ts";
import type { QemuProgram } from "../host/qemu-program.ts";
import type { VmUser } from "../host/vm-user.ts";
import type { ImageStore } from "../images/image-store.ts";
import type { AllowedRoots } from "./spec-of.ts";
import type { VmProcesses } from "./vm-processes.ts";

/** Assigns each machine a user of its own. */
export interface VmUsers {
  userOf(id: string): Promise<VmUser>;
  release(id: string): Promise<void>;
}

/** What machines are run with. */
export interface VmDeps {
  clock: Clock;
  random: Random;
  processes: VmProcesses;
  images: Pick<ImageStore, "get" | "evict" | "subscribe">;
  qemu: QemuProgram;
  qemuImg: QemuImg;
  roots: AllowedRoots;
  /** Undefined when the manager is an ordinary user: QEMU then runs as the same one. */
  users?: VmUsers | undefined;
  /** `writeback` where the file system cannot bypass the page cache. */
  diskCache?: "none" | "writeback" | undefined;
  /** This boot of the host. */
  bootId: string | undefined;
}
