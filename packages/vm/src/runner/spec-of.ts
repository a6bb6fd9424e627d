import type { VmSpec } from "../arguments/vm-spec.ts";
import { allowedPath, PathRefused } from "../host/allowed-path.ts";
import type { StoredImage } from "../images/image-source.ts";
import { filesOf } from "./prepare.ts";
import type { VmOrder } from "./vm-order.ts";
import { VmProblem } from "./vm-status.ts";

/** What an order becomes on this host. */
export interface Placed {
  folder: string;
  image: StoredImage;
  seeded: { firmwareName?: string | undefined } | undefined;
  accelerator: "kvm" | "tcg";
}

/** Folders of this host that orders may name files and folders in. */
export interface AllowedRoots {
  /** Of images, kernels and initial RAM disks. */
  files: readonly string[];
  /** Of folders that guests share. */
  volumes: readonly string[];
}

/** Returns the machine as QEMU runs it here; throws a VmProblem when it names a path that it may not. */
export async function specOf(order: VmOrder, placed: Placed, roots: AllowedRoots): Promise<VmSpec> {
  const { name, uuid, cpus, memory, cpuModel, cpuPinning, networks, hostDevices, disks } = order;
  const { folder, image, seeded, accelerator } = placed;
  const files = filesOf(folder);
  try {
    return {
      name,
      uuid,
      directory: files.run,
      cpus,
      memory,
      accelerator: { type: accelerator },
      cpuModel,
      cpuPinning,
      boot: await bootOf(order, roots.files),
      disks: disks.map((disk, index) =>
        index === 0
          ? { name: disk.name, file: files.disk(disk.name, "qcow2"), format: "qcow2", base: image }
          : { name: disk.name, file: files.disk(disk.name, "raw"), format: "raw" },
      ),
      ...seedOf(seeded, files.seed),
      networks,
      hostVolumes: await Promise.all(
        (order.hostVolumes ?? []).map(async ({ tag, path, readOnly }) => ({
          driver: "9p" as const,
          tag,
          path: await allowedPath(path, roots.volumes),
          readOnly,
        })),
      ),
      hostDevices,
    };
  } catch (error) {
    if (error instanceof PathRefused) throw new VmProblem("PathRefused", error.message, { cause: error });
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new VmProblem("PathRefused", `a path of the machine does not exist: ${message}`);
    throw error;
  }
}

async function bootOf({ boot }: VmOrder, roots: readonly string[]): Promise<VmSpec["boot"]> {
  if (boot.type === "disk") return { type: "disk", firmware: "bios" };
  const kernel = await allowedPath(boot.kernel, roots);
  const initrd = boot.initrd === undefined ? undefined : await allowedPath(boot.initrd, roots);
  return { type: "kernel", kernel, args: boot.args, ...(initrd === undefined ? {} : { initrd }) };
}

function seedOf(seeded: Placed["seeded"], file: string): Pick<VmSpec, "seed" | "firmwareFiles"> {
  if (seeded === undefined) return {};
  const { firmwareName } = seeded;
  return firmwareName === undefined ? { seed: { file } } : { firmwareFiles: [{ name: firmwareName, file }] };
}
