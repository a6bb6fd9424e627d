import { readdir, readFile } from "node:fs/promises";
import { arch, cpus, hostname, networkInterfaces, platform, release, totalmem } from "node:os";
import type { Clock } from "@capstan/apimachinery";
import { swapsIn } from "../execute/checks.ts";
import { runCommand } from "../execute/run-command.ts";
import type { ByoHostStatus } from "../kinds/byo-host.ts";

const ARCHITECTURES: Record<string, string> = { x64: "amd64", arm64: "arm64" };
const MAX_LISTED = 64;

/** Collects the facts that a ByoHost reports. They are read at every start and periodically, because addresses change. */
export async function hostFacts(
  clock: Clock,
): Promise<Pick<ByoHostStatus, "hostinfo" | "network"> & { machineID?: string }> {
  const osRelease = (await readText("/etc/os-release")) ?? (await readText("/usr/lib/os-release"));
  const machineID = ((await readText("/etc/machine-id")) ?? (await readText("/var/lib/dbus/machine-id")))?.trim();
  const name = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease ?? "")?.[1] ?? "Unknown";
  const kubeletVersion = await kubelet(clock);
  return {
    hostinfo: {
      osname: platform(),
      osimage: name,
      architecture: ARCHITECTURES[arch()] ?? arch(),
      hostname: hostname(),
      kernel: release(),
      cpus: cpus().length,
      memoryMiB: Math.floor(totalmem() / 1024 / 1024),
      disks: await disks(),
      swap: swapsIn((await readText("/proc/swaps")) ?? "").length > 0,
      kubeletVersion,
    },
    network: interfaces(await defaultInterface()),
    ...(machineID === undefined || machineID === "" ? {} : { machineID }),
  };
}

/** Returns the interface of the default route from the kernel's routing table; empty when there is none. */
export async function defaultInterface(): Promise<string> {
  const table = (await readText("/proc/net/route")) ?? "";
  const line = table.split("\n").find((text) => text.split("\t")[1] === "00000000");
  return line?.split("\t")[0] ?? "";
}

function interfaces(byDefault: string): NonNullable<ByoHostStatus["network"]> {
  return Object.entries(networkInterfaces())
    .filter(([name]) => name !== "lo" && !/^(cni|veth|flannel|docker|kube)/.test(name))
    .slice(0, MAX_LISTED)
    .map(([name, addresses]) => ({
      networkInterfaceName: name,
      isDefault: name === byDefault,
      connected: true,
      macAddr: addresses?.[0]?.mac ?? "",
      ipAddrs: (addresses ?? [])
        .filter((a) => !a.address.startsWith("fe80"))
        .slice(0, MAX_LISTED)
        .map((a) => a.cidr ?? a.address),
    }));
}

const SYS_BLOCK = "/sys/block";
const SECTORS_PER_GIB = 2 * 1024 * 1024;

/** Physical disks, without those backed by files, memory or other disks. */
async function disks(): Promise<NonNullable<NonNullable<ByoHostStatus["hostinfo"]>["disks"]>> {
  const names = await readdir(SYS_BLOCK).catch(() => []);
  const real = names.filter((name) => !/^(loop|ram|zram|dm-|md|sr|fd|nbd)/.test(name)).sort();
  return await Promise.all(
    real.slice(0, MAX_LISTED).map(async (name) => {
      const model = (await readText(`${SYS_BLOCK}/${name}/device/model`))?.trim();
      return {
        name,
        sizeGiB: Math.floor(Number((await readText(`${SYS_BLOCK}/${name}/size`)) ?? 0) / SECTORS_PER_GIB),
        rotational: (await readText(`${SYS_BLOCK}/${name}/queue/rotational`))?.trim() === "1",
        ...(model === undefined || model === "" ? {} : { model }),
      };
    }),
  );
}

/** The version of the kubelet on the PATH; read each time, because it may be replaced. */
async function kubelet(clock: Clock): Promise<string | undefined> {
  const { exitCode, output } = await runCommand(["kubelet", "--version"], { clock, timeoutMs: 10_000 });
  return exitCode === 0 ? /v\d+\.\d+\.\d+\S*/.exec(output)?.[0] : undefined;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}
