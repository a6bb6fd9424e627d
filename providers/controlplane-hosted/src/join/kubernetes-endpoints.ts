import type { Unstructured } from "@capstan/apimachinery";
import { isIPAddress } from "@capstan/controlplane";

/**
 * Returns the endpoints of `kubernetes.default`. kube-apiserver's own endpoint reconciler is disabled, because it supports neither a
 * different port nor an address behind a load balancer.
 */
export function kubernetesEndpoints(addresses: readonly string[], port: number): Unstructured[] {
  // An API server rejects loopback addresses here, because no pod could reach them.
  const ips = addresses.filter((address) => isIPAddress(address) && !isLoopback(address));
  if (ips.length === 0) return [];
  const v4 = ips.filter((ip) => !ip.includes(":"));
  const v6 = ips.filter((ip) => ip.includes(":"));
  const ports = [{ name: "https", port, protocol: "TCP" }];
  const slice = (name: string, addressType: string, of: string[]): Unstructured => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace: "default", labels: { "kubernetes.io/service-name": "kubernetes" } },
    addressType,
    endpoints: [{ addresses: of, conditions: { ready: true } }],
    ports,
  });
  return [
    {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: {
        name: "kubernetes",
        namespace: "default",
        labels: { "endpointslice.kubernetes.io/skip-mirror": "true" },
      },
      subsets: [{ addresses: ips.map((ip) => ({ ip })), ports }],
    },
    ...(v4.length > 0 ? [slice("kubernetes", "IPv4", v4)] : []),
    ...(v6.length > 0 ? [slice("kubernetes-ipv6", "IPv6", v6)] : []),
  ];
}

function isLoopback(ip: string): boolean {
  return ip.startsWith("127.") || ip === "::1";
}
