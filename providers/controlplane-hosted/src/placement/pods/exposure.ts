import { isIPAddress } from "@capstan/controlplane";
import { type HostNode, readyNodeAddress, type Service } from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import type { Reservation } from "../placement.ts";
import { nameOf, ownMetadata, type PodNames, selectorLabels } from "./names.ts";

/** Port of kube-apiserver in its pod, and of its Service unless the endpoint has another one. */
export const API_PORT = 6443;
/** Port of the konnectivity server for agents. */
export const KONNECTIVITY_PORT = 8132;

interface Endpoint {
  host: string;
  port: number;
}

/** Returns the type of the API's Service. */
export function exposeType(spec: HostedControlPlaneSpec): "LoadBalancer" | "NodePort" | "ClusterIP" {
  return spec.expose?.type ?? "LoadBalancer";
}

/** Returns the Service of kube-apiserver. A recreated Service requests the address and port that the endpoint already has. */
export function apiService(
  names: PodNames,
  spec: HostedControlPlaneSpec,
  endpoint: Endpoint | undefined,
  live: Service | undefined,
): Service {
  const type = exposeType(spec);
  const nodePort = type === "NodePort" && endpoint !== undefined ? { nodePort: endpoint.port } : {};
  const ip = endpoint !== undefined && isIPAddress(endpoint.host) ? endpoint.host : undefined;
  const keepsAddress = live === undefined || live.spec?.clusterIP === ip;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: ownMetadata(names, nameOf(names, "kube-apiserver"), "kube-apiserver"),
    spec: {
      type,
      ...(type === "ClusterIP" && ip !== undefined && keepsAddress ? { clusterIP: ip } : {}),
      ...(type === "LoadBalancer" && ip !== undefined ? { loadBalancerIP: ip } : {}),
      selector: selectorLabels(names, "kube-apiserver"),
      ports: [
        {
          name: "https",
          port: servicePort(spec, endpoint),
          protocol: "TCP",
          targetPort: API_PORT,
          ...nodePort,
        },
        ...(konnectivityOn(spec)
          ? [{ name: "konnectivity", port: KONNECTIVITY_PORT, protocol: "TCP", targetPort: KONNECTIVITY_PORT }]
          : []),
      ],
    },
  };
}

/** Reports whether konnectivity is enabled. It is by default, because pods can rarely reach the nodes of another cluster directly. */
export function konnectivityOn(spec: HostedControlPlaneSpec): boolean {
  return (spec.addons?.konnectivity?.mode ?? "Auto") !== "Off";
}

/** Returns the port of the Service: that of the endpoint, except for NodePort, where the endpoint has the node port. */
export function servicePort(spec: HostedControlPlaneSpec, endpoint: Endpoint | undefined): number {
  return exposeType(spec) === "NodePort" ? API_PORT : (endpoint?.port ?? API_PORT);
}

/** Returns the endpoint that a Service provides, or what it is waiting for. */
export function endpointOf(service: Service, spec: HostedControlPlaneSpec, nodes: readonly HostNode[]): Reservation {
  const name = `${service.metadata.namespace}/${service.metadata.name}`;
  const waiting = (reason: string, message: string): Reservation => ({ type: "wait", reason, message });
  switch (exposeType(spec)) {
    case "ClusterIP": {
      const host = service.spec?.clusterIP;
      if (host === undefined || host === "" || host === "None")
        return waiting("WaitingForAddress", `Service ${name} has no cluster IP yet`);
      return { type: "reserved", endpoint: { host, port: servicePort(spec, undefined) } };
    }
    case "NodePort": {
      const port = nodePortOf(service, "https");
      if (port === undefined) return waiting("WaitingForAddress", `Service ${name} has no node port yet`);
      const host = readyNodeAddress(nodes);
      if (host === undefined)
        return waiting(
          "WaitingForNode",
          "The host cluster has no Ready node whose address could be the endpoint; add one, or set spec.controlPlaneEndpoint to an address that is routed to its nodes",
        );
      return { type: "reserved", endpoint: { host, port } };
    }
    case "LoadBalancer": {
      const ingress = service.status?.loadBalancer?.ingress?.find((each) => (each.ip ?? each.hostname) !== undefined);
      const host = ingress?.ip ?? ingress?.hostname;
      if (host === undefined)
        return waiting(
          "WaitingForLoadBalancer",
          `Service ${name} has no address yet: the host cluster needs an implementation of type LoadBalancer (a cloud controller manager, MetalLB); without it set spec.expose.type to NodePort`,
        );
      return { type: "reserved", endpoint: { host, port: servicePort(spec, undefined) } };
    }
  }
}

/** Returns the address where konnectivity agents reach their servers. */
export function konnectivityEndpoint(
  service: Service,
  spec: HostedControlPlaneSpec,
  endpoint: Endpoint,
): Endpoint | undefined {
  if (!konnectivityOn(spec)) return undefined;
  const port = exposeType(spec) === "NodePort" ? nodePortOf(service, "konnectivity") : KONNECTIVITY_PORT;
  return port === undefined ? undefined : { host: endpoint.host, port };
}

/** Returns all addresses of the API for its certificate. */
export function serviceAddresses(service: Service): string[] {
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const addresses = [service.spec?.clusterIP, ...ingress.flatMap((each) => [each.ip, each.hostname])];
  return addresses.filter(
    (address): address is string => address !== undefined && address !== "" && address !== "None",
  );
}

function nodePortOf(service: Service, name: string): number | undefined {
  return service.spec?.ports?.find((port) => port.name === name)?.nodePort;
}
