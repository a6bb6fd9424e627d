import type { Machine, MachineScope, Node } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import { MACHINE_ID_ANNOTATION } from "../host/machine-ids.ts";
import type { ByoMachine } from "../kinds/byo-machine.ts";
import { SKEW_MS } from "./choose-host.ts";
import type { Hosts } from "./hosts.ts";

/** The Node of a host, or why the Node of that name cannot belong to it. */
export interface NodeOfHost {
  readonly name: string;
  readonly node?: Node;
  /** Which machine it belongs to instead and what to do; follows `Node NAME ` in messages. */
  readonly foreign?: string;
}

/**
 * Finds a host's Node by host name. The agent reports that name, so a stolen certificate could name another machine: a Node that this host
 * cannot have registered is never touched.
 */
export function nodeOfHost(scope: MachineScope<ByoMachine, Hosts>, host: ByoHost): NodeOfHost {
  const { object, machine, backend, workload } = scope;
  const name = (host.status?.hostinfo?.hostname ?? host.metadata.name ?? "").toLowerCase();
  const node = workload.state === "connected" ? workload.nodes.get(name) : undefined;
  if (node === undefined) return { name };
  const again = `delete that Node and restart the kubelet of host ${host.metadata.name}`;
  const other = node.spec?.providerID;
  // It can be set only once: what an earlier machine left must go before.
  if (other !== undefined && other !== "" && other !== host.spec?.providerID)
    return { name, foreign: `is ${other}, not ${host.spec?.providerID}: ${again}` };
  const owner = backend.machines(machine.metadata.namespace ?? "").find((each) => bindsNode(each, machine, name));
  if (owner !== undefined)
    return {
      name,
      foreign: `belongs to Machine ${owner.metadata.name}: give host ${host.metadata.name} a unique name, and delete Machine ${machine.metadata.name} to replace it`,
    };
  // The cluster's clock may differ a little from ours. A Node of the machine id that the host was claimed with is what an earlier
  // machine on it left.
  const known = host.metadata.annotations?.[MACHINE_ID_ANNOTATION];
  const isOwn = known !== undefined && node.status?.nodeInfo?.["machineID"] === known;
  const isOlder = timeOf(node.metadata.creationTimestamp) < timeOf(object.metadata.creationTimestamp) - SKEW_MS;
  if (isOlder && !isOwn)
    return { name, foreign: `was there before this machine: if no other host is that Node, ${again}` };
  return { name, node };
}

function bindsNode(each: Machine, own: Machine, name: string): boolean {
  return (
    each.status?.nodeRef?.name === name &&
    each.spec.clusterName === own.spec.clusterName &&
    each.metadata.uid !== own.metadata.uid
  );
}

function timeOf(timestamp: string | undefined): number {
  return timestamp === undefined ? Number.NaN : Date.parse(timestamp);
}
