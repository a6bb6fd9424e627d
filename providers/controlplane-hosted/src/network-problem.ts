import { isDns1123Subdomain } from "@capstan/apimachinery";
import { type ClusterNetwork, cidrsOverlap, isIPAddress, parseCidr } from "@capstan/controlplane";
import type { HostedControlPlaneSpec } from "./kinds/hosted-control-plane.ts";

/** kube-apiserver rejects Service ranges with more than two to the power of this many addresses. */
const SERVICE_BITS = 20;
/** Cluster DNS is the tenth address. */
const SERVICE_ADDRESSES = 10n;
/** Each node's part of the pods' addresses, unless a flag of kube-controller-manager changes it. */
const NODE_MASK = { 4: 24, 6: 64 } as const;
/** kube-controller-manager keeps a bitmap of node ranges, and rejects masks that differ by more than this many bits. */
const NODE_BITS = 16;

const FIELD = "the Cluster's spec.clusterNetwork";

/** Returns what is invalid in a Cluster's address ranges, before components start and exit because of it. */
export function rangesProblem(network: ClusterNetwork, spec: HostedControlPlaneSpec): string | undefined {
  const ranges = { services: network.serviceCidrs, pods: network.podCidrs };
  for (const [name, cidrs] of Object.entries(ranges)) {
    const bad = cidrs.find((cidr) => parseCidr(cidr) === undefined);
    if (bad !== undefined) return `${FIELD}.${name}: ${bad} is not a CIDR like 10.96.0.0/16; correct it`;
    const families = cidrs.map((cidr) => parseCidr(cidr)?.family);
    if (new Set(families).size < families.length)
      return `${FIELD}.${name}: ${cidrs.join(" and ")} belong to one IP family; specify one range, or one of IPv4 and one of IPv6`;
  }
  if (isDns1123Subdomain(network.serviceDomain).length > 0)
    return `${FIELD}.serviceDomain: ${JSON.stringify(network.serviceDomain)} is not a domain like cluster.local; correct it`;
  for (const cidr of network.serviceCidrs) {
    const problem = serviceSizeProblem(cidr);
    if (problem !== undefined) return `${FIELD}.services: ${problem}`;
  }
  for (const cidr of network.podCidrs) {
    const problem = podSizeProblem(cidr, spec);
    if (problem !== undefined) return `${FIELD}.pods: ${problem}`;
  }
  for (const service of network.serviceCidrs)
    for (const pod of network.podCidrs)
      if (cidrsOverlap(service, pod))
        return `${FIELD}: services ${service} and pods ${pod} overlap; use separate ranges`;
  return endpointProblem(network, spec.controlPlaneEndpoint?.host ?? "");
}

function serviceSizeProblem(cidr: string): string | undefined {
  const { family, prefix } = parseCidr(cidr) ?? { family: 4, prefix: 0 };
  const bits = (family === 4 ? 32 : 128) - prefix;
  const largest = (family === 4 ? 32 : 128) - SERVICE_BITS;
  if (bits > SERVICE_BITS) return `${cidr} is larger than kube-apiserver accepts; use a mask of /${largest} or longer`;
  if (2n ** BigInt(bits) < SERVICE_ADDRESSES)
    return `${cidr} has fewer than ${SERVICE_ADDRESSES} addresses, and cluster DNS uses the tenth; use a shorter mask`;
  return undefined;
}

function podSizeProblem(cidr: string, spec: HostedControlPlaneSpec): string | undefined {
  const { family, prefix } = parseCidr(cidr) ?? { family: 4, prefix: 0 };
  const told = (name: string): string | undefined =>
    spec.controllerManager?.extraArgs?.find((argument) => argument.name === name)?.value;
  if (told("allocate-node-cidrs") === "false") return undefined;
  const mask = Number(told(`node-cidr-mask-size-ipv${family}`) ?? told("node-cidr-mask-size") ?? NODE_MASK[family]);
  const flag = `--node-cidr-mask-size-ipv${family} in spec.controllerManager.extraArgs`;
  if (prefix > mask)
    return `${cidr} is smaller than the /${mask} that each node gets; use a range of /${mask} or larger, or set ${flag}`;
  if (mask - prefix > NODE_BITS)
    return `${cidr} has room for more node ranges of /${mask} than kube-controller-manager supports; use a range of /${mask - NODE_BITS} or smaller, or set ${flag}`;
  return undefined;
}

/** Nodes would route traffic for the API to the pod network. */
function endpointProblem({ podCidrs }: ClusterNetwork, host: string): string | undefined {
  const own = isIPAddress(host)
    ? podCidrs.find((cidr) => cidrsOverlap(cidr, `${host}/${host.includes(":") ? 128 : 32}`))
    : undefined;
  return own === undefined
    ? undefined
    : `${FIELD}.pods: ${own} contains the endpoint ${host}, which nodes could not reach; use another range for pods`;
}

/** Returns what is invalid in the names and addresses under which the API is exposed. */
export function exposeProblem({ expose, controlPlaneEndpoint }: HostedControlPlaneSpec): string | undefined {
  const host = controlPlaneEndpoint?.host ?? "";
  if (host !== "" && !isHost(host))
    return `spec.controlPlaneEndpoint.host: ${JSON.stringify(host)} is neither an IP address nor a DNS name; create a new control plane with one`;
  const bind = expose?.bindAddress ?? "";
  if (bind !== "" && !isIPAddress(bind))
    return `spec.expose.bindAddress: ${JSON.stringify(bind)} is not an IP address; use an address of this machine, or 0.0.0.0 for all`;
  const bad = expose?.certSANs?.find((name) => !isHost(name.replace(/^\*\./, "")));
  if (bad !== undefined)
    return `spec.expose.certSANs: ${JSON.stringify(bad)} is neither an IP address nor a DNS name like api.example.org; correct it`;
  return undefined;
}

function isHost(text: string): boolean {
  return isIPAddress(text) || isDns1123Subdomain(text.toLowerCase()).length === 0;
}
