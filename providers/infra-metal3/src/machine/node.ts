import type { MachineAddress, Node, NodeView } from "@capstan/capi";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import type { Metal3Machine } from "../kinds/metal3-machine.ts";
import { NODE_UUID_LABEL } from "./names.ts";

const PREFIX = "metal3://";

/** Returns the provider ID that this provider sets on Nodes: `metal3://NAMESPACE/HOST/MACHINE`. */
export function providerIdOf(machine: Metal3Machine, host: BareMetalHost): string {
  return `${PREFIX}${machine.metadata.namespace}/${host.metadata.name}/${machine.metadata.name}`;
}

/** Returns the index keys by which the Node of a machine can be found. */
export function marksOf(machine: Metal3Machine, host: BareMetalHost, names: readonly string[]): string[] {
  return [providerIdOf(machine, host), oldProviderIdOf(host), uuidMark(host.metadata.uid), ...names.map(nameMark)];
}

/** Returns the index keys of a Node. */
export function nodeMarks({ metadata, spec }: Node): string[] {
  const uuid = metadata.labels?.[NODE_UUID_LABEL];
  return [...(spec?.providerID ? [spec.providerID] : []), ...(uuid ? [uuidMark(uuid)] : []), nameMark(metadata.name)];
}

/** The form of earlier releases, by the UID of the host; still taken when a Node has it. */
function oldProviderIdOf(host: BareMetalHost): string {
  return `${PREFIX}${host.metadata.uid}`;
}

const uuidMark = (uid: string | undefined): string => `uuid/${uid}`;
const nameMark = (name: string | undefined): string => `name/${name}`;

/** The Node of a machine, or why it cannot be determined. */
export type FoundNode = { node: Node; providerID: string; mustSet: boolean } | { missing: true } | { problem: string };

/**
 * Finds the Node of a machine by provider ID (in either form), by the label with the host's UID, or by name. A Node without a provider ID
 * gets one; an existing ID is never changed.
 */
export function findNode(
  nodes: NodeView,
  machine: Metal3Machine,
  host: BareMetalHost,
  names: readonly string[],
): FoundNode {
  const known = machine.spec?.providerID;
  const wanted = providerIdOf(machine, host);
  for (const id of [known, wanted, oldProviderIdOf(host)]) {
    const node = id === undefined ? undefined : nodes.byProviderID(id);
    if (node !== undefined && id !== undefined) return { node, providerID: id, mustSet: false };
  }
  const labelled = nodes.list().filter(({ metadata }) => metadata.labels?.[NODE_UUID_LABEL] === host.metadata.uid);
  if (labelled.length > 1)
    return {
      problem: `Nodes ${labelled.map(({ metadata }) => metadata.name).join(" and ")} all have the label ${NODE_UUID_LABEL}=${host.metadata.uid}: delete those that are left from earlier machines`,
    };
  const node = labelled[0] ?? names.map((name) => nodes.get(name)).find((named) => named !== undefined);
  if (node === undefined) return { missing: true };
  const other = node.spec?.providerID ?? "";
  if (other === "") return { node, providerID: known ?? wanted, mustSet: true };
  return {
    problem: `Node ${node.metadata.name} is ${other}, not ${known ?? wanted}: delete that Node and restart its kubelet`,
  };
}

/** Returns the addresses of a host that inspection found. */
export function addressesOf({ status }: BareMetalHost): MachineAddress[] {
  const { nics = [], hostname = "" } = status?.hardware ?? {};
  const addresses = [...new Set(nics.flatMap(({ ip }) => (ip === undefined || ip === "" ? [] : [ip])))];
  return [
    ...addresses.map((address) => ({ type: "InternalIP" as const, address })),
    ...(hostname === ""
      ? []
      : [
          { type: "Hostname" as const, address: hostname },
          { type: "InternalDNS" as const, address: hostname },
        ]),
  ];
}

/** Returns the labels to set on or remove from a Node so that it matches its host, for the prefixes that the cluster names. */
export function labelChanges(
  node: Node,
  host: BareMetalHost,
  prefixes: readonly string[],
): Record<string, string | null> | undefined {
  const synced = (key: string): boolean => prefixes.some((prefix) => key.startsWith(`${prefix}/`));
  const changes: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(host.metadata.labels ?? {}))
    if (synced(key) && node.metadata.labels?.[key] !== value) changes[key] = value;
  for (const key of Object.keys(node.metadata.labels ?? {}))
    if (synced(key) && host.metadata.labels?.[key] === undefined) changes[key] = null;
  return Object.keys(changes).length === 0 ? undefined : changes;
}
