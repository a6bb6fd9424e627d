import { chmod, mkdir, rm } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { bootId } from "@capstan/os";
import {
  ImageStore,
  kvmGroups,
  qemuImgProgram,
  qemuProgram,
  systemVmProcesses,
  VmRunner,
  type VmUsers,
} from "@capstan/vm";
import { UserIds } from "@capstan/workloads";
import { hexOf } from "../names.ts";
import { readHostSettings } from "./host-settings.ts";
import type { ProcessHost } from "./process.ts";

/** Files that the users of machines must reach, which the manager's own folder does not let them. */
const SHARED_ROOT = "/var/lib/capstan-vm";
const PROBE = "capstan/probe";

/** What a host of machines needs of its manager. */
export interface HostOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly gate: DialGate;
  /** The provider's folder; the operator's settings are in its `host.json`. */
  readonly folder: string;
}

/** Opens this machine as a host of virtual machines. */
export async function openHost({ clock, random, gate, folder }: HostOptions): Promise<ProcessHost> {
  const settings = await readHostSettings(join(folder, "host.json"));
  const isRoot = process.getuid?.() === 0;
  const root = settings.directory ?? (isRoot ? join(SHARED_ROOT, hexOf(folder).slice(0, 12)) : folder);
  await mkdir(join(root, "machines"), { recursive: true, mode: 0o711 });
  // Whatever the umask is.
  if (isRoot) for (const each of [SHARED_ROOT, root, join(root, "machines")]) await chmod(each, 0o711).catch(ignore);
  const users = isRoot ? machineUsers(folder) : undefined;
  const images = new ImageStore({
    root: join(root, "images"),
    clock,
    gate,
    fileRoots: settings.imageFolders,
  });
  const runner = new VmRunner(join(root, "machines"), {
    clock,
    random,
    processes: systemVmProcesses,
    images,
    qemu: qemuProgram({
      clock,
      program: settings.qemu,
      folder: root,
      user: users === undefined ? undefined : () => users.userOf(PROBE),
    }),
    qemuImg: qemuImgProgram(clock, settings.qemuImg),
    roots: { files: settings.imageFolders, volumes: settings.volumeFolders },
    users,
    diskCache: settings.diskCache,
    bootId: bootId(),
  });
  const close = async (): Promise<void> => {
    await runner.close();
    await images.close();
  };
  const memoryMib = settings.memoryMiB ?? Math.floor(totalmem() / 2 / 2 ** 20);
  return { settings, runner, memoryMib, close };
}

const ignore = (): void => undefined;

/** A user of its own for each machine, so that one QEMU that a guest has taken over reaches no other. */
function machineUsers(folder: string): VmUsers {
  const ids = new UserIds(join(folder, "users"));
  return {
    userOf: async (id) => ({ uid: await ids.allocate(id), groups: await kvmGroups() }),
    release: async (id) => {
      await rm(join(folder, "users", id), { recursive: true, force: true });
      await ids.release(id);
    },
  };
}
