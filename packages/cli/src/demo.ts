import { parseYamlDocuments, sleep, systemClock, type Unstructured } from "@capstan/apimachinery";
import { stateOf } from "@capstan/capi";
import { PROVIDERS, simulatedHosts } from "@capstan/manager";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import type { CommandIo } from "./command.ts";
import { LiveText } from "./output/live-text.ts";
import { treeColors } from "./output/paint.ts";
import { readClusterTree } from "./tree/cluster-tree.ts";
import { DESCRIBE_HEADERS, describeTree } from "./tree/describe-tree.ts";
import { renderTree } from "./tree/tree.ts";

/** One more of each than the cluster uses, so that it can be scaled and repaired. */
const HOSTS = { byoh: 3, metal3: 3 };

/** Bring-your-own hosts and bare metal behind one replica count, and a control plane that needs no machine. */
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
  - { apiGroup: infrastructure.cluster.x-k8s.io, kind: ByoCluster, name: demo }
  - { apiGroup: infrastructure.cluster.x-k8s.io, kind: Metal3Cluster, name: demo }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: ByoCluster
metadata: { name: demo, namespace: default }
spec: {}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: Metal3Cluster
metadata: { name: demo, namespace: default }
spec: {}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: HostedControlPlane
metadata: { name: demo, namespace: default }
spec: { version: v1.36.3, placement: { type: Embedded } }
---
apiVersion: capstan.dev/v1alpha1
kind: WorkerPool
metadata: { name: general, namespace: default }
spec:
  clusterName: demo
  replicas: 4
  strategy: Cheapest
  template: { metadata: { labels: { pool: general } }, spec: { version: v1.36.3 } }
  members:
  - name: own
    max: 2
    cost: "0.10"
    infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: ByoMachineTemplate, name: own }
    bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: own } }
  - name: metal
    cost: "0.50"
    infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: Metal3MachineTemplate, name: metal }
    bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: metal } }
---
# Machines whose Nodes are deleted are replaced. A host that only stopped reporting is left to its administrator.
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: { name: demo, namespace: default }
spec:
  clusterName: demo
  selector: { matchLabels: { cluster.x-k8s.io/cluster-name: demo } }
  checks: { nodeStartupTimeoutSeconds: 0 }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: ByoMachineTemplate
metadata: { name: own, namespace: default }
spec:
  template:
    spec:
      installerRef:
        apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
        kind: K8sInstallerConfigTemplate
        name: own
---
# Installs the Machine's version on the host, so that an upgrade brings a new kubelet.
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: K8sInstallerConfigTemplate
metadata: { name: own, namespace: default }
spec: { template: { spec: { bundleRepo: /opt/kubernetes } } }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: { name: own, namespace: default }
spec: { template: { spec: { format: cloud-config } } }
---
# A simulated host that boots an image without a version in its name runs the Machine's version.
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: Metal3MachineTemplate
metadata: { name: metal, namespace: default }
spec: { template: { spec: { image: { url: http://images.example/node.iso, diskFormat: live-iso } } } }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: { name: metal, namespace: default }
spec:
  template:
    spec:
      joinConfiguration:
        nodeRegistration:
          name: "{{ ds.meta_data.name }}"
          kubeletExtraArgs: [{ name: node-labels, value: "metal3.io/uuid={{ ds.meta_data.uuid }}" }]
`;

const LOOK_MS = 500;
const GIVE_UP_MS = 180_000;

/** Creates the demo cluster and shows its progress; objects that already exist are left unchanged. */
export async function runDemo(kubeconfig: string, io: CommandIo, dataFlag: string): Promise<void> {
  const transport = httpTransport(await loadKubeconfig({ clock: systemClock, path: kubeconfig }), {
    clock: systemClock,
  });
  try {
    const client = new Client(transport, { fieldManager: "capstan-demo", clock: systemClock });
    io.err("\nBuilding a mixed cluster from hosts in memory: two of your own, two of bare metal …\n\n");
    await applyDemo(client);
    const live = new LiveText(io);
    const until = systemClock.monotonic() + GIVE_UP_MS;
    for (;;) {
      const nowMs = systemClock.now();
      const tree = await readClusterTree(client, "default", "demo", { nowMs, providers: PROVIDERS });
      const ready = tree !== undefined && stateOf(tree, { nowMs, providers: PROVIDERS }).state === "Healthy";
      const picture = (colors: boolean): string =>
        tree === undefined
          ? ""
          : renderTree(DESCRIBE_HEADERS, [describeTree(tree, systemClock.now())], treeColors(colors));
      if (ready || systemClock.monotonic() > until) {
        live.clear();
        io.out(`${picture(io.terminal?.outColors === true)}\n`);
        break;
      }
      live.draw(picture(false));
      await sleep(systemClock, LOOK_MS);
    }
    io.out(nextSteps(io, dataFlag));
  } finally {
    await transport.close();
  }
}

/** Returns how to call the command from here: `npx capstan` when it was started with `npm start`, else `capstan`. */
export function commandName({ env }: Pick<CommandIo, "env">): string {
  return env["npm_lifecycle_event"] === "start" ? "npx capstan" : "capstan";
}

const STEPS: readonly [command: string, does: string][] = [
  ["scale workerpool general --replicas 5", "grow it: the next host is bare metal"],
  ["demo break own-1", "a host dies"],
  ["why demo", "see why the cluster is degraded, and what to do"],
  ["demo repair own-1", "and bring it back"],
];

function nextSteps(io: CommandIo, dataFlag: string): string {
  const steps = STEPS.map(([words, does]) => [`${commandName(io)} ${words}${dataFlag}`, does] as const);
  const width = Math.max(...steps.map(([command]) => command.length)) + 2;
  const lines = steps.map(([command, does]) => `  ${command.padEnd(width)}${does}\n`);
  return `\nTry, in a second terminal:\n${lines.join("")}`;
}

/** Returns the objects of the demo: simulated hosts, and the cluster that is built from them. */
export function demoObjects(): Unstructured[] {
  return [...simulatedHosts("default", HOSTS), ...(parseYamlDocuments(DEMO) as Unstructured[])];
}

/** Objects that a person changed since are left as they are. */
async function applyDemo(client: Client): Promise<void> {
  for (const object of demoObjects()) {
    const kind = await client.kindOf(object);
    const { namespace, name = "" } = object.metadata;
    if ((await client.get(kind, { namespace, name })) === undefined) await client.create(object);
  }
}
