import { readFile } from "node:fs/promises";
import { arch, cpus, hostname, networkInterfaces, platform, release, totalmem } from "node:os";
import type { ByoHostStatus } from "../kinds/byo-host.ts";

const ARCHITECTURES: Record<string, string> = { x64: "amd64", arm64: "arm64" };

/** What a host is: read anew at every start and from time to time, because addresses change. */
export async function hostFacts(): Promise<Pick<ByoHostStatus, "hostinfo" | "network"> & { machineID?: string }> {
  const osRelease = await readText("/etc/os-release");
  const machineID = (await readText("/etc/machine-id"))?.trim();
  const name = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease ?? "")?.[1] ?? "Unknown";
  return {
    hostinfo: {
      osname: platform(),
      osimage: name,
      architecture: ARCHITECTURES[arch()] ?? arch(),
      hostname: hostname(),
      kernel: release(),
      cpus: cpus().length,
      memoryMiB: Math.floor(totalmem() / 1024 / 1024),
    },
    network: interfaces(await defaultInterface()),
    ...(machineID === undefined || machineID === "" ? {} : { machineID }),
  };
}

/** The interface of the default route, from the kernel's table; empty when there is none. */
export async function defaultInterface(): Promise<string> {
  const table = (await readText("/proc/net/route")) ?? "";
  const line = table.split("\n").find((text) => text.split("\t")[1] === "00000000");
  return line?.split("\t")[0] ?? "";
}

function interfaces(byDefault: string): NonNullable<ByoHostStatus["network"]> {
  return Object.entries(networkInterfaces())
    .filter(([name]) => name !== "lo" && !/^(cni|veth|flannel|docker|kube)/.test(name))
    .map(([name, addresses]) => ({
      networkInterfaceName: name,
      isDefault: name === byDefault,
      connected: true,
      macAddr: addresses?.[0]?.mac ?? "",
      ipAddrs: (addresses ?? []).filter((a) => !a.address.startsWith("fe80")).map((a) => a.cidr ?? a.address),
    }));
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}
