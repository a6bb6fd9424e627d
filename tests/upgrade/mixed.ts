import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Machine } from "@capstan/capi";
import { cluster, infraCluster, metaCluster, templates } from "../simulation/manifests.ts";
import type { World } from "./world.ts";

/** `record.mjs` copies this file into the tree of an earlier commit: it uses only what both have. */

/** Port of the embedded control plane: below those that Linux gives to clients, so that it is free when the test runs. */
const PORT = 23_443;

const member = (name: string, kind: string): string => `
  - name: ${name}
    infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: ${kind}, name: ${name} }
    bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: ${name} } }`;

const metal = (number: number): string => `
---
apiVersion: v1
kind: Secret
metadata: { name: metal-${number}-bmc, namespace: default }
type: Opaque
data: { username: ${btoa("admin")}, password: ${btoa("simulated")} }
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: { name: metal-${number}, namespace: default }
spec:
  online: false
  bmc: { address: "memory://metal-${number}", credentialsName: metal-${number}-bmc }
  bootMACAddress: "02:00:00:00:00:0${number}"
`;

/** Simulated hosts: one of your own, and two of bare metal. */
const HOSTS = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: ByoHost
metadata: { name: own-1, namespace: default, annotations: { memory.capstan.dev/agent: "" } }
spec: {}
${metal(1)}${metal(2)}`;

/** A mixed cluster: an embedded control plane, and a WorkerPool over bare metal and own hosts. */
const WORLD = `${
  cluster("c1", "MetaCluster") +
  metaCluster("c1", ["ByoCluster", "Metal3Cluster"]) +
  infraCluster("byoh", "c1") +
  infraCluster("metal3", "c1") +
  templates("metal3", "metal") +
  templates("byoh", "own")
}
---
apiVersion: capstan.dev/v1alpha1
kind: WorkerPool
metadata: { name: general, namespace: default }
spec:
  clusterName: c1
  replicas: 3
  strategy: Ordered
  template: { spec: { version: v1.34.4 } }
  members:${member("metal", "Metal3MachineTemplate")}${member("own", "ByoMachineTemplate")}
`;

/** Creates the recorded objects, and waits until all machines run and nothing is in progress any more. */
export async function buildMixed(world: World): Promise<void> {
  const listener = join(world.dataDir, "embedded/shared/listener");
  await mkdir(listener, { recursive: true });
  await writeFile(join(listener, "ports.json"), JSON.stringify({ api: PORT }));
  await world.startManager();
  await world.apply(HOSTS);
  await world.apply(WORLD);
  await world.until(async () => {
    const machines = await world.list(Machine);
    return machines.length === 3 && machines.every(({ status }) => status?.phase === "Running");
  });
  await world.pass(60_000);
}
