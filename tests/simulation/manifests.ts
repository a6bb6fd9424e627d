const INFRA = "apiGroup: infrastructure.cluster.x-k8s.io";

/** An infrastructure provider of a mixed cluster. */
export type Provider = "memory" | "byoh" | "metal3" | "kubernetes" | "kvm";

const PREFIX = { memory: "Memory", byoh: "Byo", metal3: "Metal3", kubernetes: "Kubernetes", kvm: "KVM" } as const;
const SPEC = {
  memory: "{}",
  byoh: "{}",
  kubernetes: "{}",
  kvm: "{ placement: { type: Simulated } }",
  metal3: "{ image: { url: http://images.example/node-v1.34.4.iso, diskFormat: live-iso } }",
} as const;

/** Nodes say which host they run on: Metal3 finds them by it. Only hosts that run cloud-init can be configured so. */
const KUBEADM_CONFIG = {
  memory: "format: cloud-config",
  byoh: "format: cloud-config",
  kubernetes: "format: cloud-config",
  kvm: "format: cloud-config",
  metal3: `joinConfiguration: { nodeRegistration: { name: "{{ ds.meta_data.name }}", kubeletExtraArgs: [{ name: node-labels, value: "metal3.io/uuid={{ ds.meta_data.uuid }}" }] } }`,
} as const;

/** The kind of a provider's infrastructure cluster. */
export function clusterKind(provider: Provider): string {
  return `${PREFIX[provider]}Cluster`;
}

/** A Cluster with a control plane that costs no machine. */
export function cluster(name: string, infrastructure: string): string {
  return `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: ${name}, namespace: default }
spec:
  controlPlaneRef: { apiGroup: controlplane.cluster.x-k8s.io, kind: HostedControlPlane, name: ${name} }
  infrastructureRef: { ${INFRA}, kind: ${infrastructure}, name: ${name} }
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: HostedControlPlane
metadata: { name: ${name}, namespace: default }
spec: { version: v1.34.4, placement: { type: Embedded } }
`;
}

/** An infrastructure cluster of a provider. */
export function infraCluster(provider: Provider, name: string, spec = "{}"): string {
  return `
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: ${clusterKind(provider)}
metadata: { name: ${name}, namespace: default }
spec: ${spec}
`;
}

/** Several infrastructure clusters under one. */
export function metaCluster(name: string, children: readonly string[]): string {
  const refs = children.map((kind) => `  - { ${INFRA}, kind: ${kind}, name: ${name} }`).join("\n");
  return `
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MetaCluster
metadata: { name: ${name}, namespace: default }
spec:
  infrastructureRefs:
${refs}
`;
}

/** Templates of a provider's machines: what they are and how they join. */
export function templates(provider: Provider, name: string, spec: string = SPEC[provider]): string {
  return `
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: ${PREFIX[provider]}MachineTemplate
metadata: { name: ${name}, namespace: default }
spec: { template: { spec: ${spec} } }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: { name: ${name}, namespace: default }
spec: { template: { spec: { ${KUBEADM_CONFIG[provider]} } } }
`;
}

/** Workers of a provider. */
export function workers(clusterName: string, provider: Provider, replicas: number, spec?: string): string {
  const name = `${clusterName}-${provider}`;
  return `${templates(provider, name, spec)}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: { name: ${name}, namespace: default }
spec:
  clusterName: ${clusterName}
  replicas: ${replicas}
  selector: { matchLabels: {} }
  template:
    spec:
      clusterName: ${clusterName}
      version: v1.34.4
      bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: ${name} } }
      infrastructureRef: { ${INFRA}, kind: ${PREFIX[provider]}MachineTemplate, name: ${name} }
`;
}
