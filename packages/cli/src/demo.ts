import { parseYamlDocuments, sleep, systemClock, type Unstructured } from "@capstan/apimachinery";
import { isTroubled } from "@capstan/capi";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { readClusterTree } from "./cluster-tree.ts";
import type { CommandIo } from "./command.ts";
import { DESCRIBE_HEADERS, describeTree } from "./describe-tree.ts";
import { renderTree } from "./tree.ts";

/** A mixed cluster on the memory backends: two kinds of worker behind one replica count, a control plane that costs no machine. */
const DEMO = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: demo, namespace: default }
spec:
  infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: MetaCluster, name: demo }
  controlPlaneRef: { apiGroup: controlplane.cluster.x-k8s.io, kind: HostedControlPlane, name: demo }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MetaCluster
metadata: { name: demo, namespace: default }
spec:
  infrastructureRefs:
  - { apiGroup: infrastructure.cluster.x-k8s.io, kind: MemoryCluster, name: demo }
  - { apiGroup: infrastructure.cluster.x-k8s.io, kind: ByoCluster, name: demo, optional: true }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryCluster
metadata: { name: demo, namespace: default }
spec: {}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: ByoCluster
metadata: { name: demo, namespace: default }
spec: {}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: HostedControlPlane
metadata: { name: demo, namespace: default }
spec: { version: v1.34.4, placement: { type: Embedded } }
---
apiVersion: capstan.dev/v1alpha1
kind: WorkerPool
metadata: { name: general, namespace: default }
spec:
  clusterName: demo
  replicas: 4
  strategy: Cheapest
  template: { metadata: { labels: { pool: general } }, spec: { version: v1.34.4 } }
  members:
  - name: rack
    max: 2
    cost: "0.10"
    infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: MemoryMachineTemplate, name: rack }
    bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: worker } }
  - name: cloud
    cost: "0.50"
    infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: MemoryMachineTemplate, name: cloud }
    bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: worker } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryMachineTemplate
metadata: { name: rack, namespace: default }
spec: { template: { spec: { bootSeconds: 2 } } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryMachineTemplate
metadata: { name: cloud, namespace: default }
spec: { template: { spec: { bootSeconds: 4 } } }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: { name: worker, namespace: default }
spec: { template: { spec: { joinConfiguration: { nodeRegistration: {} } } } }
`;

const LOOK_MS = 500;
const GIVE_UP_MS = 120_000;

/** Builds the demo cluster and shows how it comes up. */
export async function runDemo(kubeconfig: string, io: CommandIo): Promise<void> {
  const transport = httpTransport(await loadKubeconfig({ clock: systemClock, path: kubeconfig }), {
    clock: systemClock,
  });
  try {
    const client = new Client(transport, { fieldManager: "capstan-demo", clock: systemClock });
    io.err("\nBuilding a mixed cluster on the memory backends …\n");
    for (const document of parseYamlDocuments(DEMO)) await client.apply(document as Unstructured);
    const until = systemClock.monotonic() + GIVE_UP_MS;
    for (;;) {
      const tree = await readClusterTree(client, "default", "demo");
      if ((tree !== undefined && tree.conditions.length > 0 && !isTroubled(tree)) || systemClock.monotonic() > until) {
        if (tree !== undefined) io.out(`\n${renderTree(DESCRIBE_HEADERS, [describeTree(tree, systemClock.now())])}\n`);
        break;
      }
      await sleep(systemClock, LOOK_MS);
    }
    io.out(
      "\nTry:\n  kubectl scale workerpool general --replicas=6\n  kubectl delete machine --all && npx capstan describe cluster demo\n",
    );
  } finally {
    await transport.close();
  }
}
