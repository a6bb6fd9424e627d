import { Machine } from "@capstan/capi";
import type { World } from "./world.ts";

/** `record.mjs` copies this file into the tree of an earlier commit: it uses only what both have. */

const INFRA = "apiGroup: infrastructure.cluster.x-k8s.io";

interface Settings {
  readonly replicas: number;
  readonly version: string;
  /** Annotations of the KubeadmControlPlane. */
  readonly annotations?: string;
  readonly kubeadmConfigSpec: string;
}

const cluster = (name: string, { replicas, version, annotations = "", kubeadmConfigSpec }: Settings): string => `---
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
metadata: { name: ${name}, namespace: default }
spec: { template: { spec: { bootSeconds: 5 } } }
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: { name: ${name}, namespace: default, annotations: { ${annotations} } }
spec:
  replicas: ${replicas}
  version: ${version}
  kubeadmConfigSpec: ${kubeadmConfigSpec}
  machineTemplate: { spec: { infrastructureRef: { ${INFRA}, kind: MemoryMachineTemplate, name: ${name} } } }
`;

/** What the KubeadmConfigs of Machines are compared with, in its whole breadth. */
const RICH = `
    clusterConfiguration:
      encryptionAlgorithm: ECDSA-P256
      certificateValidityPeriodDays: 300
      featureGates: { NodeLocalCRISocket: true }
      apiServer:
        extraArgs: [{ name: audit-log-path, value: "-" }]
        extraEnvs: [{ name: GODEBUG, value: "" }]
      controllerManager: { extraArgs: [{ name: terminated-pod-gc-threshold, value: "100" }] }
      etcd: { local: { extraArgs: [{ name: quota-backend-bytes, value: "8589934592" }] } }
    initConfiguration:
      nodeRegistration:
        kubeletExtraArgs: [{ name: v, value: "2" }, { name: cloud-provider, value: external }]
        taints: []
    joinConfiguration:
      nodeRegistration:
        kubeletExtraArgs: [{ name: v, value: "2" }, { name: cloud-provider, value: external }]
        taints: []
    files: [{ path: /etc/motd, content: hello }]
    preKubeadmCommands: ["true"]
    postKubeadmCommands: ["true"]
    users: [{ name: admin }]
    ntp: { enabled: true, servers: [ntp.example.com] }
    format: cloud-config`;

/** A flag that v1.27 removed. */
const REMOVED = `
    clusterConfiguration: { encryptionAlgorithm: ECDSA-P256 }
    initConfiguration:
      nodeRegistration: { kubeletExtraArgs: [{ name: container-runtime, value: remote }, { name: v, value: "2" }] }
    joinConfiguration:
      nodeRegistration: { kubeletExtraArgs: [{ name: container-runtime, value: remote }, { name: v, value: "2" }] }`;

const PLAIN = "{ clusterConfiguration: { encryptionAlgorithm: ECDSA-P256 } }";

const WORLD =
  cluster("plain", { replicas: 1, version: "v1.34.4", kubeadmConfigSpec: PLAIN }) +
  cluster("rich", { replicas: 3, version: "v1.36.2", kubeadmConfigSpec: RICH }) +
  cluster("dropping", {
    replicas: 3,
    version: "v1.37.1",
    annotations: 'capstan.dev/drop-removed-flags: "true"',
    kubeadmConfigSpec: REMOVED,
  });
const MACHINES = 7;

/** Control planes made by kubeadm init and join; waits until all machines run and nothing is in progress any more. */
export async function buildKubeadm(world: World): Promise<void> {
  await world.startManager();
  await world.apply(WORLD);
  await world.until(async () => {
    const machines = await world.list(Machine);
    return machines.length === MACHINES && machines.every(({ status }) => status?.phase === "Running");
  });
  await world.pass(120_000);
}
