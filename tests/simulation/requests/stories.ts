import { readFileSync } from "node:fs";
import { Cluster, IPAddressClaim, Machine, MachineDeployment, WorkerPool } from "@capstan/capi";
import { HostedControlPlane } from "@capstan/controlplane-hosted";
import { MemoryMachine } from "@capstan/infra-memory";
import { simulatedHosts } from "@capstan/manager";
import type { Kind } from "@capstan/runtime";
import { cluster, clusterKind, infraCluster, metaCluster, templates, workers } from "../manifests.ts";
import type { Plane } from "../plane.ts";

/** What happens to clusters, step by step; `step` names what follows. */
export interface Story {
  readonly name: string;
  readonly hosts: { own: number; metal: number };
  run(plane: Plane, step: (name: string) => void): Promise<void>;
}

/** So that writes that follow a step by themselves still belong to it. */
const CALM_MS = 5_000;

const ADDONS = `
---
apiVersion: addons.cluster.x-k8s.io/v1beta2
kind: ClusterResourceSet
metadata: { name: addons, namespace: default }
spec:
  strategy: Reconcile
  clusterSelector: { matchLabels: { addons: settings } }
  resources: [{ kind: ConfigMap, name: addons }]
---
apiVersion: v1
kind: ConfigMap
metadata: { name: addons, namespace: default }
data:
  settings.yaml: |
    apiVersion: v1
    kind: ConfigMap
    metadata: { name: settings, namespace: kube-system }
    data: { level: info }
`;

const ADDRESSES = `
---
apiVersion: ipam.cluster.x-k8s.io/v1alpha2
kind: InClusterIPPool
metadata: { name: addresses, namespace: default }
spec: { addresses: [10.0.0.10-10.0.0.12], prefix: 24, gateway: 10.0.0.1 }
---
apiVersion: ipam.cluster.x-k8s.io/v1beta2
kind: IPAddressClaim
metadata: { name: one, namespace: default }
spec: { poolRef: { apiGroup: ipam.cluster.x-k8s.io, kind: InClusterIPPool, name: addresses } }
`;

const healthCheck = (name: string): string => `
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: { name: ${name}, namespace: default }
spec:
  clusterName: ${name}
  selector: { matchLabels: { cluster.x-k8s.io/cluster-name: ${name} } }
  checks:
    nodeStartupTimeoutSeconds: 60
    unhealthyNodeConditions:
    - { type: Ready, status: Unknown, timeoutSeconds: 30 }
    - { type: Ready, status: "False", timeoutSeconds: 30 }
`;

/** A fault of a MemoryMachine, as its annotation names it. */
const FAULT = { "memory.infrastructure.cluster.x-k8s.io/fault": "NodeDies" };

const memory: Story = {
  name: "memory",
  hosts: { own: 0, metal: 0 },
  async run(plane, step) {
    step("create");
    await plane.apply(
      cluster("c1", "MemoryCluster").replace(
        "namespace: default }",
        "namespace: default, labels: { addons: settings } }",
      ) +
        infraCluster("memory", "c1") +
        workers("c1", "memory", 2) +
        healthCheck("c1") +
        ADDONS +
        ADDRESSES,
    );
    await plane.available("c1", 2);
    await plane.pass(CALM_MS);

    step("scale up");
    await change(plane, MachineDeployment, "c1-memory", { spec: { replicas: 4 } });
    await plane.available("c1", 4);
    await plane.pass(CALM_MS);

    step("scale down");
    await change(plane, MachineDeployment, "c1-memory", { spec: { replicas: 2 } });
    await machines(plane, 2);
    await plane.pass(CALM_MS);

    step("upgrade");
    await change(plane, HostedControlPlane, "c1", { spec: { version: "v1.35.4" } });
    await plane.until("control plane", async () => {
      return (await plane.get(HostedControlPlane, "c1")).status?.version === "v1.35.4";
    });
    await change(plane, MachineDeployment, "c1-memory", { spec: { template: { spec: { version: "v1.35.4" } } } });
    await plane.until("rollout", async () => {
      const all = await plane.list(Machine);
      return all.length === 2 && all.every(({ status }) => status?.nodeInfo?.kubeletVersion === "v1.35.4");
    });
    await plane.available("c1", 2);
    await plane.pass(CALM_MS);

    step("remediate");
    const [dying] = await plane.list(MemoryMachine);
    await change(plane, MemoryMachine, dying?.metadata.name ?? "", { metadata: { annotations: FAULT } });
    await plane.until("replaced", async () => {
      return (await plane.list(MemoryMachine)).every(({ metadata }) => metadata.name !== dying?.metadata.name);
    });
    await plane.available("c1", 2);
    await plane.pass(CALM_MS);

    step("delete");
    await plane.client.delete({ kind: IPAddressClaim, namespace: "default", name: "one" });
    await remove(plane, "c1");
  },
};

const METAL_DATA = `
---
apiVersion: ipam.metal3.io/v1alpha1
kind: IPPool
metadata: { name: provisioning, namespace: default }
spec:
  clusterName: c1
  namePrefix: provisioning
  pools: [{ start: 192.168.10.100, end: 192.168.10.150 }]
  prefix: 24
  gateway: 192.168.10.1
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: Metal3DataTemplate
metadata: { name: metal, namespace: default }
spec:
  clusterName: c1
  metaData:
    objectNames:
    - { key: name, object: machine }
    - { key: local-hostname, object: machine }
    ipAddressesFromPool: [{ key: provisioningIP, name: provisioning }]
  networkData:
    links: { ethernets: [{ type: phy, id: eth0, macAddress: { fromHostInterface: eth0 } }] }
    networks:
      ipv4:
      - id: provisioning
        link: eth0
        ipAddressFromIPPool: provisioning
        routes: [{ network: 0.0.0.0, gateway: { fromIPPool: provisioning } }]
`;
const METAL =
  "{ image: { url: http://images.example/node-v1.34.4.iso, diskFormat: live-iso }, dataTemplate: { name: metal } }";

const mixed: Story = {
  name: "mixed",
  hosts: { own: 2, metal: 2 },
  async run(plane, step) {
    step("create");
    await plane.apply(
      cluster("c1", "MetaCluster") +
        metaCluster("c1", (["byoh", "metal3"] as const).map(clusterKind)) +
        infraCluster("byoh", "c1") +
        infraCluster("metal3", "c1") +
        METAL_DATA +
        workers("c1", "byoh", 1) +
        workers("c1", "metal3", 1, METAL),
    );
    await plane.available("c1", 2);
    await plane.pass(CALM_MS);

    step("replace");
    for (const { metadata } of await plane.list(Machine))
      await plane.client.delete({ kind: Machine, namespace: "default", name: metadata.name ?? "" });
    await plane.pass(1_000);
    await plane.available("c1", 2);
    await plane.pass(CALM_MS);

    step("restart");
    await plane.restartManager();
    await plane.pass(CALM_MS);

    step("delete");
    await remove(plane, "c1");
  },
};

const member = (name: string, kind: string): string => `
  - name: ${name}
    infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: ${kind}, name: ${name} }
    bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: ${name} } }`;

const POOL = `
---
apiVersion: capstan.dev/v1alpha1
kind: WorkerPool
metadata: { name: general, namespace: default }
spec:
  clusterName: c1
  replicas: 3
  strategy: Ordered
  template: { spec: { version: v1.34.4 } }
  overflow: { afterSeconds: 120, returnAfterSeconds: 300, maxUnavailable: 1 }
  members:${member("metal", "Metal3MachineTemplate")}${member("own", "ByoMachineTemplate")}
`;

const pool: Story = {
  name: "pool",
  hosts: { own: 2, metal: 2 },
  async run(plane, step) {
    step("overflow");
    await plane.apply(
      cluster("c1", "ByoCluster") +
        infraCluster("byoh", "c1") +
        infraCluster("metal3", "c1") +
        templates("metal3", "metal") +
        templates("byoh", "own") +
        POOL,
    );
    await plane.available("c1", 3);
    await plane.pass(CALM_MS);

    step("return");
    for (const object of simulatedHosts("default", { metal3: 3 }).slice(-2)) await plane.client.create(object);
    await plane.until("return", async () => {
      const all = await plane.list(Machine);
      return all.length === 3 && all.every(({ spec }) => spec.providerID?.startsWith("metal3://"));
    });
    await plane.pass(CALM_MS);

    step("delete");
    await remove(plane, "c1");
    await plane.until("pool", async () => (await plane.list(WorkerPool)).length === 0);
  },
};

const CLASS = readFileSync(
  new URL("../../../packages/manager/testdata/quick-start/class-v1beta2.yaml", import.meta.url),
  "utf8",
);

const topology: Story = {
  name: "topology",
  hosts: { own: 0, metal: 0 },
  async run(plane, step) {
    step("create");
    await plane.apply(CLASS);
    await plane.available("quick", 2);
    await plane.pass(CALM_MS);

    step("scale and label");
    const deployments = [
      { class: "default-worker", name: "md-0", replicas: 3, metadata: { labels: { tier: "front" } } },
    ];
    await change(plane, Cluster, "quick", { spec: { topology: { workers: { machineDeployments: deployments } } } });
    await plane.available("quick", 3);
    await plane.pass(CALM_MS);

    step("upgrade");
    await change(plane, Cluster, "quick", { spec: { topology: { version: "v1.35.4" } } });
    await plane.until("upgrade", async () => {
      const all = await plane.list(Machine);
      return all.length === 3 && all.every(({ status }) => status?.nodeInfo?.kubeletVersion === "v1.35.4");
    });
    await plane.available("quick", 3);
    await plane.pass(CALM_MS);

    step("delete");
    await remove(plane, "quick");
  },
};

/** Stories over every provider. */
export const STORIES: readonly Story[] = [memory, mixed, pool, topology];

async function change(plane: Plane, kind: Kind, name: string, patch: object): Promise<void> {
  await plane.client.patch({ kind, namespace: "default", name }, patch as Record<string, unknown>);
}

async function machines(plane: Plane, count: number): Promise<void> {
  await plane.until(`${count} machines`, async () => (await plane.list(Machine)).length === count);
}

async function remove(plane: Plane, name: string): Promise<void> {
  await plane.client.delete({ kind: Cluster, namespace: "default", name });
  await plane.gone(name);
  await plane.pass(CALM_MS);
}
