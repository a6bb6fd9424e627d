import type { VmMemory, VmNetwork } from "../arguments/vm-spec.ts";
import type { ImageSource } from "../images/image-source.ts";

/** When a machine starts again by itself after its QEMU has exited. */
export type RestartPolicy = "Always" | "OnFailure" | "Never";

/** A virtual machine as it is ordered: plain data, in terms of the host that runs it. */
export interface VmOrder {
  /** `NAMESPACE/NAME`: the machine is found again by it. */
  id: string;
  /** A DNS label. */
  name: string;
  uuid: string;
  cpus: number;
  memory: VmMemory;
  /** `auto` is KVM where it works, and TCG elsewhere. */
  accelerator: "auto" | "kvm" | "tcg";
  cpuModel?: string | undefined;
  cpuPinning?: number[] | undefined;
  boot: { type: "disk" } | { type: "kernel"; kernel: string; initrd?: string | undefined; args: string };
  image: ImageSource;
  /** The first begins with the image, the others are empty. */
  disks: { name: string; bytes: number }[];
  networks: VmNetwork[];
  /** Folders of the host. */
  hostVolumes?: { tag: string; path: string; readOnly?: boolean | undefined }[] | undefined;
  hostDevices?: string[] | undefined;
  restartPolicy: RestartPolicy;
}
