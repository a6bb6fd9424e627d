import { type JsonObject, toGoYaml, type Unstructured } from "@capstan/apimachinery";
import { field } from "@capstan/capi";
import {
  type ClusterNetwork,
  clusterInfoKubeconfig,
  clusterNetwork,
  configMap,
  coreDNS,
  joinRbac,
  kubeletConfig,
  kubeProxy,
} from "@capstan/controlplane";
import { EMBEDDED_OBJECTS, shared } from "../../embedded/objects.ts";
import type { InitPlan } from "../join-plan.ts";

const IMAGES = "registry.k8s.io";

/** Everything that `kubeadm init` leaves in the API, apart from the Node and its static pods. */
export function initObjects(plan: InitPlan): Unstructured[] {
  const { configuration, authority, skipPhases } = plan;
  const endpoint = endpointOf(configuration);
  const input = {
    clusterName: textOf(field(configuration, "clusterName")) ?? "kubernetes",
    version: textOf(field(configuration, "kubernetesVersion")) ?? "",
    endpoint: hostAndPort(endpoint),
    network: networkOf(configuration),
    imageRepository: textOf(field(configuration, "imageRepository")) ?? IMAGES,
  };
  const runs = (phase: string): boolean => !skipPhases.includes("addon") && !skipPhases.includes(`addon/${phase}`);
  const alike = [
    kubeletConfig(input),
    ...joinRbac(),
    ...(runs("kube-proxy") ? kubeProxy(input, undefined) : []),
    ...(runs("coredns") ? coreDNS(input) : []),
  ];
  return [
    ...EMBEDDED_OBJECTS,
    ...alike.map(shared),
    configMap("kubeadm-config", { ClusterConfiguration: toGoYaml(uploaded(configuration, input)) }),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "cluster-info", namespace: "kube-public" },
      data: { kubeconfig: clusterInfoKubeconfig(`https://${endpoint}`, authority.certPem) },
    },
  ];
}

/** `host:port` of the API, as the ClusterConfiguration has it. */
export function endpointOf(configuration: JsonObject): string {
  const endpoint = textOf(field(configuration, "controlPlaneEndpoint"));
  if (endpoint === undefined || !/^[^/?#@\\\s]+:\d{1,5}$/.test(endpoint))
    throw new Error("controlPlaneEndpoint of the ClusterConfiguration is not an address like 10.0.0.1:6443");
  return endpoint;
}

function hostAndPort(endpoint: string): { host: string; port: number } {
  const colon = endpoint.lastIndexOf(":");
  return { host: endpoint.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(endpoint.slice(colon + 1)) };
}

function networkOf(configuration: JsonObject): ClusterNetwork {
  const cidrs = (name: string): { cidrBlocks: string[] } => ({
    cidrBlocks: (textOf(field(configuration, "networking", name)) ?? "").split(",").filter((cidr) => cidr !== ""),
  });
  const domain = textOf(field(configuration, "networking", "dnsDomain"));
  const blocks = { services: cidrs("serviceSubnet"), pods: cidrs("podSubnet") };
  return clusterNetwork(domain === undefined ? blocks : { ...blocks, serviceDomain: domain });
}

/** kubeadm uploads the configuration with its defaults. */
function uploaded(
  given: JsonObject,
  { version, imageRepository, network }: { version: string; imageRepository: string; network: ClusterNetwork },
): JsonObject {
  const etcd = given["etcd"] as JsonObject | undefined;
  return {
    ...given,
    etcd:
      etcd?.["external"] === undefined
        ? { ...etcd, local: { dataDir: "/var/lib/etcd", ...(etcd?.["local"] as JsonObject | undefined) } }
        : etcd,
    certificatesDir: given["certificatesDir"] ?? "/etc/kubernetes/pki",
    imageRepository,
    kubernetesVersion: version,
    networking: {
      dnsDomain: network.serviceDomain,
      serviceSubnet: network.serviceCidrs.join(","),
      ...(given["networking"] as JsonObject | undefined),
    },
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
