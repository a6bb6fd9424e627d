import { array, boolean, integer, object, optional, string } from "@capstan/capi";

/** Boot modes of the firmware. */
export const BOOT_MODES = ["UEFI", "UEFISecureBoot", "legacy"] as const;

/** Schema of the hints that select the disk for the operating system; all hints must match. */
export const rootDeviceHints = object(
  {
    deviceName: optional(string({ doc: "Path like /dev/vda or /dev/disk/by-path/….", maxLength: 1024 })),
    hctl: optional(string({ doc: "SCSI location like 3:0:0:0.", maxLength: 64 })),
    model: optional(string({ doc: "Part of the model.", maxLength: 256 })),
    vendor: optional(string({ doc: "Part of the vendor.", maxLength: 256 })),
    serialNumber: optional(string({ doc: "Serial number.", maxLength: 256 })),
    minSizeGigabytes: optional(integer({ doc: "Smallest size in GB.", minimum: 0 })),
    wwn: optional(string({ doc: "World wide name.", maxLength: 256 })),
    wwnWithExtension: optional(string({ doc: "World wide name with the vendor extension.", maxLength: 256 })),
    wwnVendorExtension: optional(string({ doc: "Vendor extension of the world wide name.", maxLength: 256 })),
    rotational: optional(boolean({ doc: "Whether the disk is a rotating disk." })),
  },
  { doc: "Hints that select the disk of the operating system; all of them must match." },
);

/** Schema of the image that a host is provisioned with or boots. */
export const hostImage = object(
  {
    url: string({ doc: "URL of the image: http(s)://, file:// or oci://.", maxLength: 4096 }),
    checksum: optional(
      string({
        doc: "Digest, or the URL of a file with digests; required unless the format is live-iso or the URL is oci://.",
        maxLength: 4096,
      }),
    ),
    checksumType: optional(
      string({
        doc: "Algorithm of the digest; auto detects it from the length.",
        enum: ["md5", "sha256", "sha512", "auto"],
      }),
    ),
    format: optional(
      string({
        doc: "Format of the image; live-iso is booted as virtual media and nothing is written to a disk.",
        enum: ["raw", "qcow2", "vdi", "vmdk", "live-iso"],
      }),
    ),
    ociAuthSecretName: optional(string({ doc: "Secret with the credentials of the registry.", maxLength: 253 })),
  },
  { doc: "Image that the host runs." },
);

const hardwareVolume = object(
  {
    sizeGibibytes: optional(
      integer({ doc: "Size of the volume in GiB; by default all space of its disks.", minimum: 0 }),
    ),
    level: string({ doc: "RAID level of the volume.", enum: ["0", "1", "2", "5", "6", "1+0", "5+0", "6+0"] }),
    name: optional(string({ doc: "Name of the volume; by default the driver chooses one.", maxLength: 64 })),
    rotational: optional(boolean({ doc: "Whether the volume uses rotating disks; any disks by default." })),
    numberOfPhysicalDisks: optional(
      integer({
        doc: "Number of disks of the volume; by default the smallest number that the level needs.",
        minimum: 1,
      }),
    ),
    controller: optional(string({ doc: "Name of the RAID controller.", maxLength: 256 })),
    physicalDisks: optional(
      array(string({ maxLength: 256 }), {
        doc: "Names of the disks of the volume; their number must match numberOfPhysicalDisks.",
      }),
    ),
  },
  { doc: "A volume of the RAID controller." },
);

const softwareVolume = object(
  {
    sizeGibibytes: optional(
      integer({ doc: "Size of the volume in GiB; by default all space of its disks.", minimum: 0 }),
    ),
    level: string({ doc: "RAID level of the volume; the first volume must have level 1.", enum: ["0", "1", "1+0"] }),
    physicalDisks: optional(
      array(rootDeviceHints, {
        doc: "Hints that select the disks of the volume, one entry for each disk.",
        minItems: 2,
      }),
    ),
  },
  { doc: "A software RAID volume." },
);

/** Schema of the RAID volumes of a host. */
export const raidConfig = object(
  {
    hardwareRAIDVolumes: optional(array(hardwareVolume, { doc: "Volumes of the controller; empty removes all." })),
    softwareRAIDVolumes: optional(
      array(softwareVolume, { doc: "Volumes of the operating system; empty removes all.", maxItems: 2 }),
    ),
  },
  { doc: "RAID volumes; what is not said stays as it is." },
);

/** Schema of a custom deploy step that runs instead of writing an image. */
export const customDeploy = object(
  { method: string({ doc: "Name of the deploy step.", maxLength: 256 }) },
  { doc: "A deploy step of the agent instead of writing an image." },
);

/** Settings of the firmware, no longer accepted by upstream. */
export const firmwareConfig = object(
  {
    virtualizationEnabled: optional(boolean({ doc: "Whether hardware virtualization is enabled." })),
    simultaneousMultithreadingEnabled: optional(boolean({ doc: "Whether each core runs several hardware threads." })),
    sriovEnabled: optional(boolean({ doc: "Whether SR-IOV is enabled." })),
  },
  { doc: "Firmware settings; deprecated, use HostFirmwareSettings instead." },
);

/** Returns the schema of a reference to a Secret by name and namespace. */
export const secretReference = (doc: string) =>
  object(
    {
      name: optional(string({ doc: "Name of the Secret.", maxLength: 253 })),
      namespace: optional(string({ doc: "Namespace of the Secret; must be the host's own.", maxLength: 63 })),
    },
    { doc },
  );

/** Returns the schema of a reference to any object, like core/v1 ObjectReference. */
export const objectReference = (doc: string) =>
  object(
    {
      apiVersion: optional(string({ doc: "API version of the object.", maxLength: 317 })),
      kind: optional(string({ doc: "Kind of the object.", maxLength: 63 })),
      namespace: optional(string({ doc: "Namespace of the object.", maxLength: 63 })),
      name: optional(string({ doc: "Name of the object.", maxLength: 253 })),
      uid: optional(string({ doc: "UID of the object.", maxLength: 128 })),
      resourceVersion: optional(
        string({
          doc: "Resource version of the object that the reference is made to; usually absent.",
          maxLength: 128,
        }),
      ),
      fieldPath: optional(
        string({ doc: "Path of a part of the object that is referred to; usually absent.", maxLength: 1024 }),
      ),
    },
    { doc, mapType: "atomic" },
  );
