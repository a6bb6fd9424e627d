import { isTrue } from "@capstan/apimachinery";
import { type Outcome, trouble } from "@capstan/capi";
import type { HostNode } from "@capstan/workloads";
import type { KubernetesCluster } from "../kinds/kubernetes-cluster.ts";
import type { Endpoint } from "./service.ts";

/** Outer nodes announce nothing to a cluster. */
export const NODE_CHECK_MS = 60_000;
const CURE =
  "start it again or give its address to another outer node, because certificates and nodes have it; clusters that survive an outer node have type LoadBalancer, or an address of your own in front of the outer nodes";

/** The outer node that a NodePort endpoint leads to. */
export interface EndpointNode {
  /** Its name, to be remembered; undefined for an address in front of the outer nodes. */
  readonly name: string | undefined;
  readonly problem: Outcome | undefined;
}

/** Finds the outer node whose address is the endpoint, and reports one that no longer answers there. */
export function endpointNode(object: KubernetesCluster, { host }: Endpoint, nodes: readonly HostNode[]): EndpointNode {
  const node = nodes.find(({ status }) => status?.addresses?.some(({ address }) => address === host) === true);
  const name = node?.metadata.name ?? object.status?.endpointNode;
  // Without permission to read nodes there are none.
  if (name === undefined || nodes.length === 0) return { name, problem: undefined };
  if (node !== undefined && isTrue((node.status?.conditions ?? []) as never, "Ready"))
    return { name, problem: undefined };
  const how = node === undefined ? "no longer exists or has another address" : "is not Ready";
  const message = `The endpoint ${host} is the address of outer node ${name}, which ${how}: ${CURE}`;
  return { name, problem: trouble("EndpointNodeLost", message, NODE_CHECK_MS) };
}
