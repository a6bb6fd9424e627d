import { createHash } from "node:crypto";
import type { HardwareDetails } from "../../kinds/hardware-details.ts";
import type { HostIdentity } from "../provisioner.ts";

/** Returns the inspection result of a simulated machine; the same for the same address and seed. */
export function inventoryOf(host: HostIdentity, seed: number): HardwareDetails {
  const bytes = digestOf(host, seed);
  const mac = host.bootMACAddress?.toLowerCase() ?? ["02", ...pairs(bytes, 5)].join(":");
  return {
    systemVendor: { manufacturer: "Capstan", productName: "memory", serialNumber: bytes.toString("hex", 0, 6) },
    firmware: { bios: { vendor: "Capstan", version: "1.0", date: "01/01/2026" } },
    ramMebibytes: 65_536,
    cpu: {
      arch: host.address.includes("arm64") ? "aarch64" : "x86_64",
      model: "memory",
      clockMegahertz: 3000,
      count: 16,
    },
    nics: [
      { name: "eth0", mac, ip: addressOf(host, seed), speedGbps: 10, pxe: true },
      { name: "eth1", mac: ["02", ...pairs(bytes.subarray(8), 5)].join(":"), speedGbps: 10 },
    ],
    storage: [{ name: "/dev/sda", type: "SSD", rotational: false, sizeBytes: 480_103_981_056, model: "memory" }],
    hostname: host.name,
  };
}

/** Returns the IP address of a simulated machine. */
export function addressOf(host: HostIdentity, seed: number): string {
  const bytes = digestOf(host, seed);
  return `10.${bytes[16]}.${bytes[17]}.${bytes[18]}`;
}

function digestOf(host: HostIdentity, seed: number): Buffer {
  return createHash("sha256").update(`${seed}/${host.address}`).digest();
}

function pairs(bytes: Buffer, count: number): string[] {
  return [...bytes.subarray(0, count)].map((byte) => byte.toString(16).padStart(2, "0"));
}
