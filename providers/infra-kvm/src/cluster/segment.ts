import { createHash } from "node:crypto";
import { DEFAULT_SEGMENT } from "../kinds/kvm-cluster.ts";
import type { Key } from "../names.ts";

/** The network between the machines of one cluster on one host. */
export interface Segment {
  /** With the length of its prefix. */
  readonly address: string;
  readonly group: string;
  readonly port: number;
}

const FIRST_PORT = 20_000;
const PORTS = 20_000;

/** Returns a machine's place in the segment of its cluster; undefined when its number has no address there. */
export function segmentOf(cluster: Key, cidr: string = DEFAULT_SEGMENT, index: number): Segment | undefined {
  const [network = "", length = ""] = cidr.split("/");
  const bytes = network.split(".").map(Number);
  const bits = 32 - Number(length);
  if (bytes.length !== 4 || bytes.some((byte) => !(byte <= 255)) || !(bits >= 2 && bits <= 16)) return undefined;
  // The first address is that of the network, the last one the broadcast address.
  if (index < 1 || index > 2 ** bits - 2) return undefined;
  const base = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const address = base - (base % 2 ** bits) + index;
  const text = [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
  // Of the organisation-local multicast addresses; QEMU sends them on the loopback interface only.
  const hash = createHash("sha256").update(`${cluster.namespace}/${cluster.name}`).digest();
  const group = `239.${hash.readUInt8(0)}.${hash.readUInt8(1)}.${hash.readUInt8(2)}`;
  return { address: `${text}/${length}`, group, port: FIRST_PORT + (hash.readUInt32BE(4) % PORTS) };
}
