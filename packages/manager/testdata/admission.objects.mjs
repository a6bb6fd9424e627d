/** Objects that the cases of admission start from: each is right as it is. */
const CAPI = "cluster.x-k8s.io/v1beta2";
export const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "FooMachineTemplate", name: "x" };
export const clusterRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "FooCluster", name: "x" };
export const configRef = { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: "x" };
export const machineSpec = { clusterName: "c", version: "v1.34.4", bootstrap: { configRef }, infrastructureRef };

export const object = (kind, spec, metadata = {}, apiVersion = CAPI) => ({
  apiVersion,
  kind,
  metadata: { name: "x", namespace: "default", ...metadata },
  spec,
});
export const cluster = (spec, metadata) => object("Cluster", { infrastructureRef: clusterRef, ...spec }, metadata);
export const machine = (spec, metadata) => object("Machine", { ...machineSpec, ...spec }, metadata);
export const template = (spec = {}, metadata = { labels: { app: "x" } }) => ({
  metadata,
  spec: { ...machineSpec, ...spec },
});
export const selector = { matchLabels: { app: "x" } };
export const set = (spec, metadata) =>
  object("MachineSet", { clusterName: "c", selector, template: template(), ...spec }, metadata);
export const deployment = (spec, metadata) =>
  object("MachineDeployment", { clusterName: "c", selector, template: template(), ...spec }, metadata);
export const pool = (spec, metadata) =>
  object("MachinePool", { clusterName: "c", template: template(), ...spec }, metadata);
export const check = (spec) => object("MachineHealthCheck", { clusterName: "c", selector, ...spec });
export const unhealthy = (seconds) => ({
  checks: { unhealthyNodeConditions: [{ type: "Ready", status: "False", timeoutSeconds: seconds }] },
});
export const controlPlane = (spec, metadata) =>
  object(
    "KubeadmControlPlane",
    {
      replicas: 3,
      version: "v1.34.4",
      machineTemplate: { spec: { infrastructureRef } },
      kubeadmConfigSpec: { clusterConfiguration: { imageRepository: "registry.k8s.io" } },
      ...spec,
    },
    metadata,
    "controlplane.cluster.x-k8s.io/v1beta2",
  );
export const controlPlaneTemplate = (spec, metadata) =>
  object(
    "KubeadmControlPlaneTemplate",
    { template: { metadata, spec: { kubeadmConfigSpec: { format: "cloud-config" }, ...spec } } },
    {},
    "controlplane.cluster.x-k8s.io/v1beta2",
  );
export const configTemplate = (spec, metadata) =>
  object(
    "KubeadmConfigTemplate",
    { template: { metadata, spec: { verbosity: 2, ...spec } } },
    {},
    "bootstrap.cluster.x-k8s.io/v1beta2",
  );
export const config = (spec) => object("KubeadmConfig", spec, {}, "bootstrap.cluster.x-k8s.io/v1beta2");
export const templateRef = (kind) => ({ apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2", kind, name: "x" });
export const clusterClass = (spec, metadata) =>
  object(
    "ClusterClass",
    {
      infrastructure: { templateRef: templateRef("FooClusterTemplate") },
      controlPlane: { templateRef: templateRef("FooControlPlaneTemplate") },
      ...spec,
    },
    metadata,
  );
export const workerClass = (name, more = {}) => ({
  class: name,
  bootstrap: { templateRef: templateRef("FooConfigTemplate") },
  infrastructure: { templateRef: templateRef("FooMachineTemplate") },
  ...more,
});
export const resourceSet = (spec) =>
  object(
    "ClusterResourceSet",
    { clusterSelector: selector, resources: [{ kind: "ConfigMap", name: "x" }], ...spec },
    {},
    "addons.cluster.x-k8s.io/v1beta2",
  );
export const claim = (spec) =>
  object(
    "IPAddressClaim",
    { poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "x" }, ...spec },
    {},
    "ipam.cluster.x-k8s.io/v1beta2",
  );
export const address = (spec) =>
  object(
    "IPAddress",
    {
      address: "10.0.0.1",
      prefix: 24,
      claimRef: { name: "x" },
      poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "x" },
      ...spec,
    },
    {},
    "ipam.cluster.x-k8s.io/v1beta2",
  );
export const drainRule = (spec) => object("MachineDrainRule", { drain: { behavior: "Drain", order: 1 }, ...spec });
