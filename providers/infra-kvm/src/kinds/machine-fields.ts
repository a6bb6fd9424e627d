import { array, boolean, integer, object, optional, string } from "@capstan/capi";
import { size } from "./size.ts";

const path = (doc: string) => string({ doc, pattern: "^/", maxLength: 1024 });
const servers = (doc: string) =>
  optional(array(string({ maxLength: 253, minLength: 1 }), { doc, maxItems: 8, listType: "atomic" }));

/** Where a machine can run. */
export const PLACEMENTS = ["Process", "Simulated"] as const;
/** One of PLACEMENTS. */
export type PlacementType = (typeof PLACEMENTS)[number];

const resources = optional(
  object(
    {
      cpu: optional(integer({ doc: "Processors of the guest; 4 by default.", minimum: 1, maximum: 255 })),
      memory: optional(size("Memory of the guest, such as 8Gi; 8GB is read as 8G. 8Gi by default.")),
      disk: optional(size("Size of the root disk, which may grow later; 40Gi by default.")),
      dockerVolumeSize: optional(
        size(
          "Size of a disk for container images, mounted at /var/lib/containerd; none by default. It may grow later.",
        ),
      ),
    },
    { doc: "Size of the machine." },
  ),
);

const image = optional(
  object(
    {
      url: optional(
        string({
          doc: "Where the image is downloaded from, over HTTP or HTTPS.",
          pattern: "^https?://",
          maxLength: 2048,
        }),
      ),
      file: optional(path("The image as a file of the host, below a folder that the host allows.")),
      checksum: optional(
        string({
          doc: "SHA-256 or SHA-512 of the file, or the URL of a file with such checksums; required with url.",
          maxLength: 2048,
        }),
      ),
      format: optional(string({ doc: "Format of the image; qcow2 by default.", enum: ["raw", "qcow2"] })),
    },
    {
      doc: "Image of the root disk; it may be compressed with gzip.",
      rules: [
        { rule: "has(self.url) != has(self.file)", message: "exactly one of url and file must be set" },
        { rule: "!has(self.url) || has(self.checksum)", message: "checksum is required with url" },
      ],
    },
  ),
);

const boot = optional(
  object(
    {
      kernel: path("Kernel as a file of the host, below a folder that the host allows."),
      initrd: optional(path("Initial RAM disk, a file of the same kind.")),
      args: optional(string({ doc: "Command line of the kernel.", maxLength: 2047 })),
    },
    { doc: "Kernel that the machine starts with; without it the machine boots from its root disk." },
  ),
);

const hostVolumes = optional(
  array(
    object(
      {
        mountTag: string({
          doc: "Name by which the guest mounts it.",
          minLength: 1,
          maxLength: 31,
          pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]*$",
        }),
        hostPath: path("Folder of the host, below one that the host allows."),
        readOnly: optional(boolean({ doc: "Whether the guest can only read it." })),
      },
      { doc: "A folder of the host in the guest." },
    ),
    { doc: "Folders of the host that the guest mounts by 9p.", maxItems: 8, listType: "map", keys: ["mountTag"] },
  ),
);

const additionalDisks = optional(
  array(
    object(
      {
        name: string({
          doc: "The guest finds it as /dev/disk/by-id/virtio-NAME.",
          pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
          maxLength: 20,
        }),
        size: size("Size of the disk, which may grow later."),
      },
      { doc: "An empty disk." },
    ),
    { doc: "Further disks of the machine.", maxItems: 8, listType: "map", keys: ["name"] },
  ),
);

/** Spec of a machine, but for its provider ID. */
export const machineFields = {
  placement: optional(
    object(
      {
        type: optional(
          string({
            doc: "Process runs QEMU next to the manager, and is the default. Simulated runs nothing, and is for trying things out.",
            enum: PLACEMENTS,
          }),
        ),
      },
      { doc: "Where the machine runs." },
    ),
  ),
  resources,
  kubeletVolumeSize: optional(
    size("Size of a disk for volumes of pods, mounted at /var/lib/kubelet; none by default. It may grow later."),
  ),
  image,
  boot,
  delivery: optional(
    string({
      doc: "How the guest gets its bootstrap data; Auto, the default, is a NoCloud seed for cloud-init and FwCfg for Ignition.",
      enum: ["Auto", "NoCloud", "ConfigDrive", "FwCfg"],
    }),
  ),
  accelerator: optional(
    string({
      doc: "How the processor is run; Auto, the default, is KVM where it works, and TCG elsewhere.",
      enum: ["Auto", "KVM", "TCG"],
    }),
  ),
  cpuModel: optional(
    string({ doc: "Processor as QEMU names it, such as host,pmu=off.", maxLength: 200, minLength: 1 }),
  ),
  cpuPinning: optional(
    array(integer({ minimum: 0, maximum: 4095 }), {
      doc: "Processors of the host that the machine is bound to.",
      maxItems: 255,
      listType: "set",
    }),
  ),
  hugepages: optional(string({ doc: "Takes the memory from huge pages of the host.", enum: ["2M", "1G"] })),
  additionalDisks,
  hostVolumes,
  dnsServers: servers("DNS servers of the guest; by default those that its network announces."),
  ntpServers: servers("NTP servers of the guest."),
  restartPolicy: optional(
    string({
      doc: "When the machine starts again after QEMU has exited; Always by default.",
      enum: ["Always", "OnFailure", "Never"],
    }),
  ),
  shutdown: optional(
    object(
      {
        graceSeconds: optional(
          integer({
            doc: "How long the guest may take to shut down before it is powered off; 600 by default.",
            minimum: 0,
            maximum: 3600,
          }),
        ),
      },
      { doc: "How the machine is shut down." },
    ),
  ),
};
