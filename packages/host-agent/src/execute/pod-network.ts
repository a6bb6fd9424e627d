import { readdir } from "node:fs/promises";
import type { Clock } from "@capstan/apimachinery";
import type { RunCommand } from "./run-command.ts";

/** The parts of a host's network configuration that pod networks add to. */
export interface NetworkBefore {
  interfaces: string[];
  /** Packet filter tables as nft names them: family and name. */
  tables: string[];
  /** Routes as `ip` prints them. */
  routes: string[];
  /** Addresses of a single host, as `ADDRESS dev INTERFACE`; missing in what earlier agents wrote. */
  addresses?: string[];
}

/** Interfaces that pod networks make. */
const POD_INTERFACE = /^(cni|veth|flannel|cali|cilium|lxc|vxlan|tunl|kube-|nodelocaldns|weave|geneve|antrea|cbr)/;
/** Tables that pod networks make. */
const POD_TABLE = /kube|cni|flannel|cali|cilium|antrea/i;
/** Pod networks mark their routes with a number of their own; the kernel, DHCP clients and routing daemons have names. */
const NUMBERED_ROUTE = /^(\S+) .*\bproto (\d+)\b/;

/** What keepalived, kube-vip and their like add for a control plane's endpoint; leases of DHCP clients are dynamic and have a network. */
const VIRTUAL_ADDRESS = /^\d+: (\S+)\s+inet6? (\S+\/(?:32|128)) (?!.*\bdynamic\b)/;

const TIMEOUT_MS = 60_000;
const FAMILIES = ["-4", "-6"];

/** Reads the current network configuration of the host. */
export async function lookAtNetwork(root: string, run: RunCommand, clock: Clock): Promise<NetworkBefore> {
  const linesOf = async (program: string, options: string): Promise<string[]> => {
    const command = `if command -v ${program} >/dev/null; then ${program} ${options} 2>/dev/null || true; fi`;
    const { output } = await run(command, { clock, timeoutMs: TIMEOUT_MS });
    return output.split("\n").map((line) => line.trim());
  };
  const tables = (await linesOf("nft", "list tables")).filter((line) => line.startsWith("table "));
  const routes: string[] = [];
  for (const family of FAMILIES)
    routes.push(...(await linesOf("ip", `-o ${family} route show`)).filter((line) => line !== ""));
  const addresses = (await linesOf("ip", "-o addr show scope global"))
    .map((line) => VIRTUAL_ADDRESS.exec(line))
    .flatMap((match) => (match === null ? [] : [`${match[2]} dev ${match[1]}`]));
  return {
    interfaces: await readdir(`${root}/sys/class/net`).catch(() => []),
    tables: tables.map((line) => line.slice("table ".length)),
    routes,
    addresses,
  };
}

/**
 * Removes what pod networks added to the host. Routes stay when the earlier configuration is unknown, because their owner is unknown too.
 */
export async function removePodNetwork(
  before: NetworkBefore | undefined,
  root: string,
  run: RunCommand,
  clock: Clock,
): Promise<void> {
  const now = await lookAtNetwork(root, run, clock);
  const remove = (...command: string[]) => run(command, { clock, timeoutMs: TIMEOUT_MS });
  for (const name of now.interfaces)
    if (POD_INTERFACE.test(name) && !before?.interfaces.includes(name)) await remove("ip", "link", "delete", name);
  for (const table of now.tables)
    if (POD_TABLE.test(table) && !before?.tables.includes(table))
      await remove("nft", "delete", "table", ...table.split(" "));
  if (before === undefined) return;
  const { addresses } = before;
  for (const address of addresses === undefined ? [] : (now.addresses ?? []))
    if (!addresses?.includes(address)) await remove("ip", "address", "delete", ...address.split(" "));
  // Routes over an interface went with it.
  for (const route of now.routes.filter((line) => !before.routes.includes(line))) {
    const [, destination, proto] = NUMBERED_ROUTE.exec(route) ?? [];
    if (destination !== undefined && proto !== undefined)
      await remove("ip", destination.includes(":") ? "-6" : "-4", "route", "delete", destination, "proto", proto);
  }
}
