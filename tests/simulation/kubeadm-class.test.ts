import { Cluster, KubeadmControlPlane, Machine } from "@capstan/capi";
import { afterEach, expect, test } from "vitest";
import { Plane } from "./plane.ts";

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

/** As people wrote classes with kubeadm control planes in v1beta1: references with apiVersion, arguments as maps. */
const CLASS = `
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: { name: machines, namespace: default }
spec:
  controlPlane:
    ref: { apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlaneTemplate, name: machines }
    machineInfrastructure:
      ref: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: MemoryMachineTemplate, name: plane }
  infrastructure:
    ref: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: MemoryClusterTemplate, name: machines }
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlaneTemplate
metadata: { name: machines, namespace: default }
spec:
  template:
    spec:
      kubeadmConfigSpec:
        clusterConfiguration:
          apiServer: { timeoutForControlPlane: 10m, extraArgs: { profiling: "false" } }
          controllerManager: { extraArgs: { profiling: "false" } }
        initConfiguration: { nodeRegistration: { kubeletExtraArgs: { v: "3" } } }
        joinConfiguration: { nodeRegistration: { kubeletExtraArgs: { v: "3" } } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryMachineTemplate
metadata: { name: plane, namespace: default }
spec: { template: { spec: { bootSeconds: 5 } } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: MemoryClusterTemplate
metadata: { name: machines, namespace: default }
spec: { template: { spec: {} } }
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: { name: c1, namespace: default }
spec:
  topology:
    class: machines
    version: v1.34.4
    controlPlane: { replicas: 3 }
`;

async function controlPlane(plane: Plane): Promise<KubeadmControlPlane> {
  const found = (await plane.list(KubeadmControlPlane))[0];
  if (found === undefined) throw new Error("no control plane");
  return found;
}

async function at(plane: Plane, version: string): Promise<void> {
  await plane.until(`three machines of ${version}`, async () => {
    const [found] = await plane.list(KubeadmControlPlane);
    const machines = await plane.list(Machine);
    return (
      found?.status?.upToDateReplicas === 3 &&
      found.status.readyReplicas === 3 &&
      machines.length === 3 &&
      machines.every(({ spec }) => spec.version === version)
    );
  });
}

test("a class of v1beta1 with a kubeadm control plane is created, upgraded and deleted", async () => {
  const plane = await Plane.start({ own: 0, metal: 0 });
  planes.push(plane);
  await plane.apply(CLASS);
  await at(plane, "v1.34.4");
  const { spec } = await controlPlane(plane);
  expect(spec.kubeadmConfigSpec?.clusterConfiguration?.apiServer?.extraArgs).toEqual([
    { name: "profiling", value: "false" },
  ]);
  const before = new Set((await plane.list(Machine)).map(({ metadata }) => metadata.name));
  await plane.client.patch(await plane.get(Cluster, "c1"), { spec: { topology: { version: "v1.35.0" } } });
  await at(plane, "v1.35.0");
  expect((await plane.list(Machine)).filter(({ metadata }) => before.has(metadata.name))).toEqual([]);
  await plane.client.delete(await plane.get(Cluster, "c1"));
  await plane.gone("c1");
}, 120_000);
