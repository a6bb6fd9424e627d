import { CLUSTER_NAME_LABEL, CONTROL_PLANE_LABEL } from "@capstan/capi";
import { isIPAddress } from "@capstan/controlplane";
import type { Service } from "@capstan/workloads";
import { type KubernetesCluster, serviceType } from "../kinds/kubernetes-cluster.ts";
import { type Key, ownerOf, ownMetadata } from "../names.ts";
import { API_PORT_NAME } from "../pod/render.ts";

/** Port of the Service unless the spec or the endpoint has one. */
const DEFAULT_PORT = 6443;

/** A host and a port. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Returns the endpoint that a spec has. */
export function endpointOf({ spec }: KubernetesCluster): Endpoint | undefined {
  const { host, port } = spec?.controlPlaneEndpoint ?? {};
  return host === undefined || host === "" || port === undefined || port === 0 ? undefined : { host, port };
}

/** Returns the name of the Service in front of a cluster's API servers. */
export function serviceName(cluster: string): string {
  return `${cluster}-api-server`;
}

/**
 * Returns the Service in front of the API servers. Until one of them is ready it sends to all, because kubeadm calls the API through it
 * before the machine is bootstrapped. A Service that is created again requests the address that the endpoint has.
 */
export function apiService(
  object: KubernetesCluster,
  cluster: Key,
  { anyReady, live }: { readonly anyReady: boolean; readonly live: Service | undefined },
): Service {
  const { spec, metadata } = object;
  const owner = ownerOf("kubernetescluster", { namespace: metadata.namespace ?? "", name: metadata.name ?? "" });
  const type = serviceType(object);
  const settings = spec?.controlPlaneService;
  const endpoint = endpointOf(object);
  const ip = endpoint !== undefined && isIPAddress(endpoint.host) ? endpoint.host : undefined;
  const port =
    type === "NodePort" ? (settings?.port ?? DEFAULT_PORT) : (endpoint?.port ?? settings?.port ?? DEFAULT_PORT);
  const isBalanced = type === "LoadBalancer";
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: ownMetadata(owner, serviceName(cluster.name), {
      ...settings?.metadata,
      labels: { ...settings?.metadata?.labels, [CLUSTER_NAME_LABEL]: cluster.name },
    }),
    spec: {
      type,
      // The address of a Service cannot change, whatever the endpoint says.
      ...(type === "ClusterIP" && ip !== undefined && (live === undefined || live.spec?.clusterIP === ip)
        ? { clusterIP: ip }
        : {}),
      ...(isBalanced && ip !== undefined ? { loadBalancerIP: ip } : {}),
      ...(isBalanced && settings?.loadBalancerClass !== undefined
        ? { loadBalancerClass: settings.loadBalancerClass }
        : {}),
      ...(isBalanced && settings?.loadBalancerSourceRanges !== undefined
        ? { loadBalancerSourceRanges: settings.loadBalancerSourceRanges }
        : {}),
      ...(type !== "ClusterIP" && settings?.externalTrafficPolicy !== undefined
        ? { externalTrafficPolicy: settings.externalTrafficPolicy }
        : {}),
      publishNotReadyAddresses: !anyReady,
      selector: { [CLUSTER_NAME_LABEL]: cluster.name, [CONTROL_PLANE_LABEL]: "" },
      ports: [
        {
          name: "https",
          protocol: "TCP",
          port,
          targetPort: API_PORT_NAME,
          ...(type === "NodePort" && endpoint !== undefined ? { nodePort: endpoint.port } : {}),
        },
      ],
    },
  };
  return service as unknown as Service;
}

/** Returns the endpoint that a Service has got; undefined while it has none. */
export function serviceEndpoint(
  object: KubernetesCluster,
  service: Service,
  nodeAddress: string | undefined,
): Endpoint | undefined {
  const [port] = service.spec?.ports ?? [];
  const endpoint = (host: string | undefined, at = port?.port): Endpoint | undefined =>
    host === undefined || host === "" || host === "None" || at === undefined ? undefined : { host, port: at };
  switch (serviceType(object)) {
    case "LoadBalancer": {
      // A name stays when the addresses behind it change.
      const ingress = service.status?.loadBalancer?.ingress ?? [];
      return endpoint(
        ingress.find(({ hostname }) => (hostname ?? "") !== "")?.hostname ??
          ingress.find(({ ip }) => (ip ?? "") !== "")?.ip,
      );
    }
    case "NodePort":
      return endpoint(nodeAddress, port?.nodePort);
    default:
      return endpoint(service.spec?.clusterIP);
  }
}
