import { array, boolean, type Infer, integer, object, optional, string } from "@capstan/capi";

const nic = object({
  name: optional(string({ doc: "Name of the interface, as the inspecting side calls it.", maxLength: 256 })),
  model: optional(string({ doc: "Vendor and product IDs of the NIC, e.g. `0x8086 0x1572`.", maxLength: 256 })),
  mac: optional(string({ doc: "MAC address.", maxLength: 64 })),
  ip: optional(string({ doc: "IP address. An interface with two addresses is listed once for each.", maxLength: 64 })),
  speedGbps: optional(integer({ doc: "Speed in Gigabits per second." })),
  vlans: optional(
    array(object({ id: optional(integer()), name: optional(string({ maxLength: 256 })) }), {
      doc: "VLANs that are available.",
    }),
  ),
  vlanId: optional(integer({ doc: "The untagged VLAN.", minimum: 0, maximum: 4094 })),
  pxe: optional(boolean({ doc: "Whether it can boot from the network." })),
  lldp: optional(
    object({
      switchID: optional(string({ maxLength: 256 })),
      portID: optional(string({ maxLength: 256 })),
      switchSystemName: optional(string({ maxLength: 256 })),
    }),
  ),
  pciAddress: optional(string({ doc: "PCI address.", maxLength: 256 })),
});

const disk = object({
  name: optional(string({ doc: "Path of the device, a stable one where known.", maxLength: 1024 })),
  alternateNames: optional(array(string({ maxLength: 1024 }), { doc: "Further paths of the device." })),
  rotational: optional(boolean({ doc: "Whether it turns." })),
  type: optional(string({ doc: "Kind of device.", enum: ["HDD", "SSD", "NVME"] })),
  sizeBytes: optional(integer({ doc: "Size in bytes.", format: "int64" })),
  vendor: optional(string({ maxLength: 256 })),
  model: optional(string({ maxLength: 256 })),
  serialNumber: optional(string({ maxLength: 256 })),
  wwn: optional(string({ maxLength: 256 })),
  wwnVendorExtension: optional(string({ maxLength: 256 })),
  wwnWithExtension: optional(string({ maxLength: 256 })),
  hctl: optional(string({ doc: "SCSI location.", maxLength: 64 })),
});

/** Schema of the results of an inspection. */
export const hardwareDetails = object(
  {
    systemVendor: optional(
      object({
        manufacturer: optional(string({ maxLength: 256 })),
        productName: optional(string({ maxLength: 256 })),
        serialNumber: optional(string({ maxLength: 256 })),
      }),
    ),
    firmware: optional(
      object({
        bios: optional(
          object({
            date: optional(string({ maxLength: 64 })),
            vendor: optional(string({ maxLength: 256 })),
            version: optional(string({ maxLength: 256 })),
          }),
        ),
      }),
    ),
    ramMebibytes: optional(integer({ doc: "Memory in MiB." })),
    nics: optional(array(nic, { doc: "Network interfaces." })),
    storage: optional(array(disk, { doc: "Disks." })),
    cpu: optional(
      object({
        arch: optional(string({ maxLength: 64 })),
        model: optional(string({ maxLength: 256 })),
        // Upstream's CRD says number; whole megahertz are numbers too.
        clockMegahertz: optional(integer({ doc: "Clock in MHz." })),
        flags: optional(array(string({ maxLength: 64 }))),
        count: optional(integer({ doc: "How many logical processors." })),
      }),
    ),
    hostname: optional(
      string({ doc: "Host name of what inspected; not the name of the later operating system.", maxLength: 253 }),
    ),
  },
  { doc: "What inspection found." },
);
/** Results of an inspection: CPU, memory, disks, network interfaces and firmware. */
export type HardwareDetails = Infer<typeof hardwareDetails>;
