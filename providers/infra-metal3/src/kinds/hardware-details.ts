import { array, boolean, type Infer, integer, object, optional, string } from "@capstan/capi";

const nic = object(
  {
    name: optional(string({ doc: "Name of the interface in the inspecting system.", maxLength: 256 })),
    model: optional(string({ doc: "Vendor and product IDs of the NIC, e.g. `0x8086 0x1572`.", maxLength: 256 })),
    mac: optional(string({ doc: "MAC address.", maxLength: 64 })),
    ip: optional(
      string({ doc: "IP address. An interface with two addresses is listed once for each.", maxLength: 64 }),
    ),
    speedGbps: optional(integer({ doc: "Speed in Gigabits per second." })),
    vlans: optional(
      array(
        object(
          {
            id: optional(integer({ doc: "ID of the VLAN." })),
            name: optional(string({ doc: "Name of the VLAN.", maxLength: 256 })),
          },
          { doc: "One VLAN." },
        ),
        {
          doc: "Available VLANs.",
        },
      ),
    ),
    vlanId: optional(integer({ doc: "The untagged VLAN.", minimum: 0, maximum: 4094 })),
    pxe: optional(boolean({ doc: "Whether it can boot from the network." })),
    lldp: optional(
      object(
        {
          switchID: optional(string({ doc: "Chassis ID of the switch.", maxLength: 256 })),
          portID: optional(string({ doc: "ID of the port on the switch.", maxLength: 256 })),
          switchSystemName: optional(string({ doc: "System name of the switch.", maxLength: 256 })),
        },
        { doc: "Data that the switch announces over LLDP." },
      ),
    ),
    pciAddress: optional(string({ doc: "PCI address.", maxLength: 256 })),
  },
  { doc: "One network interface." },
);

const disk = object(
  {
    name: optional(string({ doc: "Path of the device, a stable one where known.", maxLength: 1024 })),
    alternateNames: optional(array(string({ maxLength: 1024 }), { doc: "Further paths of the device." })),
    rotational: optional(boolean({ doc: "Whether the disk is a rotating disk." })),
    type: optional(string({ doc: "Kind of device.", enum: ["HDD", "SSD", "NVME"] })),
    sizeBytes: optional(integer({ doc: "Size in bytes.", format: "int64" })),
    vendor: optional(string({ doc: "Vendor of the disk.", maxLength: 256 })),
    model: optional(string({ doc: "Model of the disk.", maxLength: 256 })),
    serialNumber: optional(string({ doc: "Serial number of the disk.", maxLength: 256 })),
    wwn: optional(string({ doc: "World wide name of the disk.", maxLength: 256 })),
    wwnVendorExtension: optional(string({ doc: "Vendor extension of the world wide name.", maxLength: 256 })),
    wwnWithExtension: optional(string({ doc: "World wide name with the vendor extension.", maxLength: 256 })),
    hctl: optional(string({ doc: "SCSI location.", maxLength: 64 })),
  },
  { doc: "One disk." },
);

/** Schema of the results of an inspection. */
export const hardwareDetails = object(
  {
    systemVendor: optional(
      object(
        {
          manufacturer: optional(string({ doc: "Manufacturer of the host.", maxLength: 256 })),
          productName: optional(string({ doc: "Product name of the host.", maxLength: 256 })),
          serialNumber: optional(string({ doc: "Serial number of the host.", maxLength: 256 })),
        },
        { doc: "Manufacturer and model of the host." },
      ),
    ),
    firmware: optional(
      object(
        {
          bios: optional(
            object(
              {
                date: optional(string({ doc: "Release date of the firmware.", maxLength: 64 })),
                vendor: optional(string({ doc: "Vendor of the firmware.", maxLength: 256 })),
                version: optional(string({ doc: "Version of the firmware.", maxLength: 256 })),
              },
              { doc: "BIOS or UEFI firmware." },
            ),
          ),
        },
        { doc: "Firmware of the host." },
      ),
    ),
    ramMebibytes: optional(integer({ doc: "Memory in MiB." })),
    nics: optional(array(nic, { doc: "Network interfaces." })),
    storage: optional(array(disk, { doc: "Disks." })),
    cpu: optional(
      object(
        {
          arch: optional(string({ doc: "CPU architecture, such as x86_64.", maxLength: 64 })),
          model: optional(string({ doc: "Model of the CPU.", maxLength: 256 })),
          // Upstream's CRD says number; whole megahertz are numbers too.
          clockMegahertz: optional(integer({ doc: "Clock in MHz." })),
          flags: optional(array(string({ maxLength: 64 }), { doc: "Feature flags of the CPU." })),
          count: optional(integer({ doc: "Number of logical processors." })),
        },
        { doc: "CPUs of the host." },
      ),
    ),
    hostname: optional(
      string({ doc: "Host name of the inspecting system; not that of the later operating system.", maxLength: 253 }),
    ),
  },
  { doc: "Hardware that the inspection found." },
);
/** Results of an inspection: CPU, memory, disks, network interfaces and firmware. */
export type HardwareDetails = Infer<typeof hardwareDetails>;
