import type { Unstructured } from "@capstan/apimachinery";
import { stringify } from "yaml";
import { configMap, type NodeConfigurationInput } from "../kube-system.ts";
import { hostPort, nthAddress } from "../network.ts";
import { versionFacts } from "../versions.ts";

/** Returns the ConfigMap kube-system/kubeadm-config, which `kubeadm join` requires. */
export function kubeadmConfig(input: NodeConfigurationInput): Unstructured {
  const configuration = {
    apiVersion: `kubeadm.k8s.io/${versionFacts(input.version).kubeadmApi}`,
    kind: "ClusterConfiguration",
    kubernetesVersion: input.version,
    clusterName: input.clusterName,
    controlPlaneEndpoint: hostPort(input.endpoint.host, input.endpoint.port),
    // `kubeadm join` copies it into the kubelet's configuration, so it must be the path on the node.
    certificatesDir: "/etc/kubernetes/pki",
    imageRepository: input.imageRepository,
    networking: {
      dnsDomain: input.network.serviceDomain,
      podSubnet: input.network.podCidrs.join(","),
      serviceSubnet: input.network.serviceCidrs.join(","),
    },
  };
  return configMap("kubeadm-config", { ClusterConfiguration: stringify(configuration) });
}

/** Returns the ConfigMap kube-system/kubelet-config, with the configuration of all kubelets. */
export function kubeletConfig(input: NodeConfigurationInput): Unstructured {
  const configuration = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: "/etc/kubernetes/pki/ca.crt" },
    },
    authorization: { mode: "Webhook" },
    cgroupDriver: "systemd",
    clusterDNS: input.network.serviceCidrs.map((cidr) => nthAddress(cidr, 10)),
    clusterDomain: input.network.serviceDomain,
    // Since 1.35 a kubelet refuses cgroup v1 by default; whether a host may use it is its owner's decision.
    failCgroupV1: false,
    healthzBindAddress: "127.0.0.1",
    healthzPort: 10248,
    rotateCertificates: true,
    staticPodPath: "/etc/kubernetes/manifests",
  };
  return configMap("kubelet-config", { kubelet: stringify(configuration) });
}
