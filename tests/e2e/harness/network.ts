import { mustRun, runCommand } from "../../real-kubernetes/index.ts";

/** A bridge with its own /24 that nodes plug into; the machine has the first address. */
export interface Network {
  readonly bridge: string;
  /** The machine's address on the bridge: where hosted control planes listen. */
  readonly gateway: string;
  /** Third byte of 10.89.N.0/24. */
  readonly number: number;
}

interface Link {
  readonly ifname: string;
  readonly ifalias?: string;
}

/**
 * Makes a bridge with the first 10.89.N.0/24 that nobody on the machine uses. The bridge's name contains N, so that two runs that
 * choose at the same moment cannot both win.
 */
export async function createNetwork(owner: string): Promise<Network> {
  const used = await usedNumbers();
  for (let number = 0; number < 256; number++) {
    if (used.has(number)) continue;
    const bridge = `cap-br${number}`;
    const added = await runCommand("ip", ["link", "add", bridge, "type", "bridge"]);
    if (added.code !== 0) {
      if (added.stderr.includes("File exists")) continue;
      throw new Error(`ip link add ${bridge}: ${added.stderr.trim()}`);
    }
    // The kernel ignores an alias given at creation.
    await mustRun("ip", ["link", "set", bridge, "alias", owner]);
    const gateway = `10.89.${number}.1`;
    await mustRun("ip", ["addr", "add", `${gateway}/24`, "dev", bridge]);
    await mustRun("ip", ["link", "set", bridge, "up"]);
    return { bridge, gateway, number };
  }
  throw new Error("all networks 10.89.0.0/24 to 10.89.255.0/24 are in use on this machine");
}

/** The links that carry a run's alias: what it has made in the machine's own network namespace. */
export async function linksOf(owner: string): Promise<string[]> {
  const links: Link[] = JSON.parse(await mustRun("ip", ["-j", "link", "show"]));
  return links.filter((link) => link.ifalias === owner).map((link) => link.ifname);
}

/** The network namespaces whose names start with a prefix. */
export async function namespacesOf(prefix: string): Promise<string[]> {
  const text = await mustRun("ip", ["-j", "netns", "list"]);
  const namespaces: { name: string }[] = text.trim() === "" ? [] : JSON.parse(text);
  return namespaces.map(({ name }) => name).filter((name) => name.startsWith(prefix));
}

/** Plugs a new network namespace into the bridge, with an address and the machine as its default route. */
export async function plugIn(
  network: Network,
  o: { readonly namespace: string; readonly cable: string; readonly address: string; readonly owner: string },
): Promise<void> {
  const inside = (...args: string[]): Promise<string> => mustRun("ip", ["-n", o.namespace, ...args]);
  await mustRun("ip", ["netns", "add", o.namespace]);
  await mustRun("ip", ["link", "add", o.cable, "type", "veth", "peer", "eth0", "netns", o.namespace]);
  await mustRun("ip", ["link", "set", o.cable, "alias", o.owner, "master", network.bridge, "up"]);
  await inside("link", "set", "lo", "up");
  await inside("addr", "add", `${o.address}/24`, "dev", "eth0");
  await inside("link", "set", "eth0", "up");
  await inside("route", "add", "default", "via", network.gateway);
  await mustRun("ip", ["netns", "exec", o.namespace, "sysctl", "-qw", "net.ipv4.ip_forward=1"]);
}

/** Removes a node's namespace and cable; both may be gone already. */
export async function unplug(namespace: string, cable: string): Promise<void> {
  await runCommand("ip", ["netns", "del", namespace]);
  await runCommand("ip", ["link", "del", cable]);
}

async function usedNumbers(): Promise<Set<number>> {
  const text = (await mustRun("ip", ["-4", "addr"])) + (await mustRun("ip", ["-4", "route", "show", "table", "all"]));
  return new Set([...text.matchAll(/\b10\.89\.(\d+)\./g)].map((match) => Number(match[1])));
}
