import type { Unstructured } from "@capstan/apimachinery";

function sample(apiVersion: string, kind: string, name: string, spec: object): Unstructured {
  return { apiVersion, kind, metadata: { name, namespace: "some-space" }, spec };
}

const CORE = "cluster.x-k8s.io";
const foo = (kind: string, version = "v1beta1"): object => ({
  apiVersion: `infrastructure.${CORE}/${version}`,
  kind,
  name: "quick",
});
const config = { apiVersion: `bootstrap.${CORE}/v1beta1`, kind: "KubeadmConfigTemplate", name: "quick" };
const fooRef = { apiGroup: `infrastructure.${CORE}`, kind: "FooMachine", name: "quick" };

/** Manifests as upstream's quick start has them, right and wrong ones. */
export const SAMPLES: readonly Unstructured[] = [
  sample(`${CORE}/v1beta1`, "Cluster", "quick", {
    clusterNetwork: { services: { cidrBlocks: ["10.128.0.0/12"] }, pods: { cidrBlocks: ["192.168.0.0/16"] } },
    infrastructureRef: foo("FooCluster"),
    controlPlaneRef: { apiVersion: `controlplane.${CORE}/v1beta1`, kind: "KubeadmControlPlane", name: "quick" },
  }),
  sample(`${CORE}/v1beta1`, "Cluster", "empty-endpoint", {
    controlPlaneEndpoint: { host: "", port: 0 },
    infrastructureRef: { ...foo("FooCluster"), namespace: "some-space" },
  }),
  sample(`${CORE}/v1beta2`, "Cluster", "bad-cidr", {
    clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/99"] } },
    infrastructureRef: { ...fooRef, kind: "FooCluster" },
  }),
  sample(`${CORE}/v1beta2`, "Cluster", "nothing", { paused: true }),
  sample(`${CORE}/v1beta1`, "MachineDeployment", "quick", {
    clusterName: "quick",
    replicas: 3,
    selector: { matchLabels: null },
    strategy: { rollingUpdate: { maxSurge: "50%", deletePolicy: "Oldest" } },
    minReadySeconds: 5,
    template: {
      spec: {
        clusterName: "quick",
        version: "1.34.4",
        nodeDrainTimeout: "90s",
        bootstrap: { configRef: config },
        infrastructureRef: foo("FooMachineTemplate"),
      },
    },
  }),
  sample(`${CORE}/v1beta1`, "MachineDeployment", "bad-duration", {
    clusterName: "quick",
    selector: {},
    template: {
      spec: {
        clusterName: "quick",
        nodeDrainTimeout: "soon",
        bootstrap: { dataSecretName: "x" },
        infrastructureRef: foo("F"),
      },
    },
  }),
  sample(`${CORE}/v1beta2`, "MachineSet", "no-match", {
    clusterName: "quick",
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "c" } },
      spec: { clusterName: "quick", bootstrap: { dataSecretName: "x" }, infrastructureRef: fooRef },
    },
  }),
  sample(`${CORE}/v1beta1`, "MachineHealthCheck", "quick", {
    clusterName: "quick",
    maxUnhealthy: "40%",
    nodeStartupTimeout: "10m",
    selector: { matchLabels: { pool: "a" } },
    unhealthyConditions: [{ type: "Ready", status: "Unknown", timeout: "300s" }],
  }),
  sample(`controlplane.${CORE}/v1beta1`, "KubeadmControlPlane", "quick", {
    replicas: 3,
    version: "v1.37.1",
    machineTemplate: { infrastructureRef: foo("FooMachineTemplate"), nodeDrainTimeout: "1m" },
    kubeadmConfigSpec: {
      clusterConfiguration: {
        apiServer: { extraArgs: { v: "2", "audit-log-maxage": "1" }, timeoutForControlPlane: "20m" },
        networking: { podSubnet: "10.0.0.0/8" },
      },
      initConfiguration: { nodeRegistration: { kubeletExtraArgs: { "eviction-hard": "nodefs.available<0%" } } },
      joinConfiguration: { discovery: { timeout: "5m" } },
    },
    rolloutStrategy: { rollingUpdate: { maxSurge: 0 } },
    remediationStrategy: { retryPeriod: "1h", maxRetry: 2 },
  }),
  sample(`controlplane.${CORE}/v1beta2`, "KubeadmControlPlane", "even", {
    replicas: 2,
    version: "v1.37.1",
    machineTemplate: { spec: { infrastructureRef: fooRef } },
  }),
  sample(`bootstrap.${CORE}/v1beta1`, "KubeadmConfig", "quick", {
    joinConfiguration: { nodeRegistration: { kubeletExtraArgs: { "node-labels": "a=b" }, taints: [] } },
    files: [{ path: "/etc/a", content: "b", permissions: "0640" }],
    useExperimentalRetryJoin: true,
  }),
  sample(`ipam.${CORE}/v1beta1`, "IPAddressClaim", "quick", {
    poolRef: { apiGroup: `ipam.${CORE}`, kind: "InClusterIPPool", name: "pool" },
  }),
  sample(`ipam.${CORE}/v1alpha1`, "InClusterIPPool", "subnet", { subnet: "10.0.0.0/24", gateway: "10.0.0.1" }),
  sample(`ipam.${CORE}/v1alpha1`, "InClusterIPPool", "bad-subnet", { subnet: "10.0.0.0", prefix: 24 }),
  sample(`ipam.${CORE}/v1alpha2`, "InClusterPrefixPool", "quick", { prefixes: ["fd00::/48"], gateway: "fd00::1" }),
  sample(`ipam.${CORE}/v1alpha2`, "InClusterPrefixPool", "single", {
    prefixes: ["fd00::/64"],
    allocationPrefixLength: 128,
    excludedPrefixes: ["fd00::1"],
  }),
  sample(`ipam.${CORE}/v1alpha2`, "InClusterPrefixPool", "unaligned", { prefixes: ["fd00::1/64"] }),
];
