/** A virtual machine as QEMU runs it. Files and addresses are those of the machine that runs QEMU. */
export interface VmSpec {
  /** A DNS label; the process is called `vm-NAME`. */
  name: string;
  /** Identity for the life of the machine: network addresses derive from it. */
  uuid: string;
  /** Absolute folder of the sockets and of the console's log. */
  directory: string;
  cpus: number;
  memory: VmMemory;
  accelerator: VmAccelerator;
  /** A processor of `qemu-system-x86_64 -cpu help` with its features; by default all that the accelerator offers. */
  cpuModel?: string;
  /** Processors of the host to which all threads of this machine are bound. */
  cpuPinning?: number[];
  boot: VmBoot;
  /** In the order in which the guest sees them: the first is /dev/vda, and the one to boot from. */
  disks: VmDisk[];
  /** An image with the guest's first configuration, such as a NoCloud seed. */
  seed?: { file: string };
  /** Files that the guest's firmware interface hands over, which is how Ignition reads its configuration. */
  firmwareFiles?: { name: string; file: string }[];
  networks: VmNetwork[];
  hostVolumes?: HostVolume[];
  /** PCI devices of the host that the guest owns, such as `0000:65:00.0`; bound to vfio-pci. */
  hostDevices?: string[];
  /** Also offers the console to one client at a time; its log is written in any case. */
  interactiveConsole?: boolean;
}

/** The memory of the guest. */
export interface VmMemory {
  mib: number;
  /** How far it may grow while the machine runs. */
  maxMib?: number;
  /** Allocated from the host's huge pages at once. */
  hugepages?: "2M" | "1G";
  /** A device through which the host can ask for memory back. */
  balloon?: boolean;
}

/** TCG keeps translated code in `cacheMib` of memory next to the guest's own. */
export type VmAccelerator = { type: "kvm" } | { type: "tcg"; cacheMib?: number };

/** How the guest starts. */
export type VmBoot =
  | { type: "disk"; firmware: "bios" }
  /** `variables` is a copy of the firmware's template that belongs to this machine. */
  | { type: "disk"; firmware: "uefi"; code: string; variables: string }
  /** A kernel with a PVH entry point (an ELF vmlinux) starts 2 s sooner than a bzImage. */
  | { type: "kernel"; kernel: string; initrd?: string; args: string };

/** A disk as the guest gets it. */
export interface VmDisk {
  /** What the guest finds as /dev/disk/by-id/virtio-NAME. */
  name: string;
  file: string;
  format: "raw" | "qcow2";
  /** The read-only image below an overlay. What the overlay's own header says about it is not used. */
  base?: { file: string; format: "raw" | "qcow2" };
  readOnly?: boolean;
  /** Both keep what the guest has flushed. `writeback` is for file systems that cannot bypass the page cache. */
  cache?: "none" | "writeback";
}

/** A network device of the guest, and what it is connected to. */
export type VmNetwork = (
  | { type: "tap"; device: string; vhost?: boolean }
  /**
   * Needs no permissions. Unless `open`, the guest reaches nothing through it, and only `forwards` reach the guest: through an open one it
   * also reaches what listens on the loopback addresses of the host.
   */
  | { type: "user"; open?: boolean; forwards?: PortForward[] }
  /** A network segment that all machines with the same group and port of one host share; needs no permissions. */
  | { type: "segment"; group: string; port: number }
) & {
  /** Instead of the address that follows from the machine's identity. */
  mac?: string;
};

/** A port of the host that leads into the guest. */
export interface PortForward {
  /** 127.0.0.1 unless given. */
  hostAddress?: string;
  hostPort: number;
  guestPort: number;
}

/** A folder of the host in the guest, which mounts it by its tag. */
export type HostVolume =
  | { driver: "9p"; tag: string; path: string; readOnly?: boolean }
  /** `socket` is that of the virtiofsd that serves the folder. */
  | { driver: "virtiofs"; tag: string; socket: string };
