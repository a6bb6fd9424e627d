import { workers } from "./manifests.ts";

const INFRA = "apiGroup: infrastructure.cluster.x-k8s.io";

/** What differs between the kubeadm control planes of the tests. */
export interface PlaneSettings {
  readonly replicas?: number;
  readonly version?: string;
  readonly workers?: number;
  /** Adds a MachineHealthCheck for the control plane Machines. */
  readonly healthCheck?: boolean;
  readonly maxSurge?: number;
}

/** A Cluster whose control plane runs on machines in memory. */
export function kubeadmCluster(name: string, settings: PlaneSettings = {}): string {
  const { replicas = 1, version = "v1.34.4", workers: count = 0, maxSurge = 1, healthCheck = false } = settings;
  return `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: ${name}, namespace: default }
spec:
  controlPlaneRef: { apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: ${name} }
  infrastructureRef: { ${INFRA}, kind: MemoryCluster, name: ${name} }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryCluster
metadata: { name: ${name}, namespace: default }
spec: {}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryMachineTemplate
metadata: { name: ${name}-plane, namespace: default }
spec: { template: { spec: { bootSeconds: 5 } } }
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: { name: ${name}, namespace: default }
spec:
  replicas: ${replicas}
  version: ${version}
  rollout: { strategy: { type: RollingUpdate, rollingUpdate: { maxSurge: ${maxSurge} } } }
  kubeadmConfigSpec:
    clusterConfiguration: { encryptionAlgorithm: ECDSA-P256 }
    format: cloud-config
  machineTemplate:
    spec:
      infrastructureRef: { ${INFRA}, kind: MemoryMachineTemplate, name: ${name}-plane }
${healthCheck ? checks(name) : ""}${count === 0 ? "" : workers(name, "memory", count)}`;
}

const checks = (name: string): string => `---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: { name: ${name}-plane, namespace: default }
spec:
  clusterName: ${name}
  selector: { matchLabels: { cluster.x-k8s.io/control-plane: "" } }
  checks:
    nodeStartupTimeoutSeconds: 120
    unhealthyNodeConditions:
      - { type: Ready, status: Unknown, timeoutSeconds: 30 }
      - { type: Ready, status: "False", timeoutSeconds: 30 }
`;
