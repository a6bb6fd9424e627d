import { isObject } from "@capstan/apimachinery";
import type { HardwareDetails } from "../../kinds/hardware-details.ts";
import { linkOf, type RedfishClient, type Resource } from "./client.ts";
import { RedfishError } from "./errors.ts";

type Nic = NonNullable<HardwareDetails["nics"]>[number];
type Disk = NonNullable<HardwareDetails["storage"]>[number];

/** Of one kind in the status of a host. */
const MAX_ENTRIES = 512;

/** Reads hardware details from the management controller. What it does not provide is omitted. */
export async function inventory(
  client: RedfishClient,
  system: Resource,
  signal: AbortSignal,
): Promise<HardwareDetails> {
  const part = async (name: string): Promise<Resource[]> => {
    const link = linkOf(system[name]);
    if (link === undefined) return [];
    try {
      return await client.members(link, signal);
    } catch (error) {
      // Some answer 500 for what they do not have. Without NICs a host is of no use, so those must be readable.
      const lacking = error instanceof RedfishError && error.status === 500 && name !== "EthernetInterfaces";
      if (lacking) return [];
      throw error;
    }
  };
  const interfaces = await part("EthernetInterfaces");
  const processors = await part("Processors");
  const memory = memoryOf(system, memorySummary(system) === undefined ? await part("Memory") : []);
  const disks = await disksOf(client, await part("Storage"), signal);
  const storage = disks.length > 0 ? disks : (await part("SimpleStorage")).flatMap(simpleDisks);
  const hostname = textOf(system["HostName"]);
  return {
    systemVendor: compact({
      manufacturer: textOf(system["Manufacturer"]),
      productName: textOf(system["Model"]),
      serialNumber: textOf(system["SerialNumber"]),
    }),
    ...(textOf(system["BiosVersion"]) === undefined
      ? {}
      : { firmware: { bios: compact({ version: textOf(system["BiosVersion"]) }) } }),
    ramMebibytes: memory,
    cpu: cpuOf(system, processors),
    nics: interfaces.flatMap(nicsOf).slice(0, MAX_ENTRIES),
    storage: storage.slice(0, MAX_ENTRIES),
    hostname,
  };
}

function memorySummary(system: Resource): number | undefined {
  const summary = system["MemorySummary"];
  return isObject(summary) ? numberOf(summary["TotalSystemMemoryGiB"]) : undefined;
}

function memoryOf(system: Resource, modules: readonly Resource[]): number | undefined {
  const total = memorySummary(system);
  if (total !== undefined) return Math.round(total * 1024);
  const sizes = modules.map((module) => numberOf(module["CapacityMiB"]) ?? 0);
  return sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0);
}

const ARCHITECTURES: Readonly<Record<string, string>> = { "x86-64": "x86_64", x86: "i386", "ARM-A64": "aarch64" };

function cpuOf(system: Resource, processors: readonly Resource[]): NonNullable<HardwareDetails["cpu"]> {
  const summary = isObject(system["ProcessorSummary"]) ? system["ProcessorSummary"] : {};
  const cpus = processors.filter(
    (processor) => processor["ProcessorType"] === undefined || processor["ProcessorType"] === "CPU",
  );
  const threads = cpus.reduce(
    (sum, cpu) => sum + (numberOf(cpu["TotalThreads"]) ?? numberOf(cpu["TotalCores"]) ?? 0),
    0,
  );
  const count = numberOf(summary["LogicalProcessorCount"]) ?? (threads > 0 ? threads : numberOf(summary["Count"]));
  const arch = textOf(cpus[0]?.["InstructionSet"]);
  return compact({
    arch: arch === undefined ? undefined : (ARCHITECTURES[arch] ?? arch),
    model: textOf(cpus[0]?.["Model"]) ?? textOf(summary["Model"]),
    clockMegahertz: numberOf(cpus[0]?.["MaxSpeedMHz"]),
    count,
  });
}

/** One entry for each address, as upstream lists them. */
function nicsOf(nic: Resource): Nic[] {
  const mac = textOf(nic["MACAddress"]) ?? textOf(nic["PermanentMACAddress"]);
  if (mac === undefined) return [];
  const speed = numberOf(nic["SpeedMbps"]);
  const base: Nic = compact({
    name: textOf(nic["Id"]),
    mac: mac.toLowerCase(),
    speedGbps: speed === undefined || speed === 0 ? undefined : Math.round(speed / 1000),
  });
  const ips = ["IPv4Addresses", "IPv6Addresses"].flatMap((field) => {
    const list = nic[field];
    return Array.isArray(list)
      ? list.flatMap((entry) => (isObject(entry) ? (textOf(entry["Address"]) ?? []) : []))
      : [];
  });
  return ips.length === 0 ? [base] : ips.map((ip) => ({ ...base, ip }));
}

async function disksOf(client: RedfishClient, controllers: readonly Resource[], signal: AbortSignal): Promise<Disk[]> {
  const disks: Disk[] = [];
  for (const controller of controllers) {
    for (const entry of Array.isArray(controller["Drives"]) ? controller["Drives"] : []) {
      const link = linkOf(entry);
      const drive = link === undefined ? undefined : await client.find(link, signal);
      if (drive !== undefined) disks.push(diskOf(drive));
    }
  }
  return disks;
}

function diskOf(drive: Resource): Disk {
  const media = textOf(drive["MediaType"]);
  const nvme = drive["Protocol"] === "NVMe";
  return compact({
    name: textOf(drive["Name"]) ?? textOf(drive["Id"]),
    type: nvme ? "NVME" : media === "SSD" || media === "HDD" ? media : undefined,
    rotational: media === undefined ? undefined : media === "HDD",
    sizeBytes: numberOf(drive["CapacityBytes"]),
    vendor: textOf(drive["Manufacturer"]),
    model: textOf(drive["Model"]),
    serialNumber: textOf(drive["SerialNumber"]),
  });
}

function simpleDisks(controller: Resource): Disk[] {
  const devices = Array.isArray(controller["Devices"]) ? controller["Devices"] : [];
  return devices.filter(isObject).map((device) =>
    compact({
      name: textOf(device["Name"]),
      sizeBytes: numberOf(device["CapacityBytes"]),
      vendor: textOf(device["Manufacturer"]),
      model: textOf(device["Model"]),
    }),
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, 250) : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Leaves out what is not known. */
function compact<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}
