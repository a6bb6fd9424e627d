import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, Machine, MachineDeployment, MachineDrainRule, MachineSet, type ObjectOf } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { addCoreIndexes, coreControllers } from "../controllers.ts";
import { NAMESPACE } from "./objects.ts";
import { Plane } from "./plane.ts";
import { TEST_KINDS, testProvider } from "./test-infrastructure.ts";

const KINDS = [Cluster, Machine, MachineSet, MachineDeployment, MachineDrainRule, ...TEST_KINDS];

/** A plane with the core controllers and a provider whose machines join at once. */
export async function corePlane(): Promise<Plane> {
  return await Plane.start({
    crds: KINDS.map((kind) => kind.crd()),
    indexes: addCoreIndexes,
    controllers: (deps) => [...coreControllers(deps), ...testProvider(deps.workload)],
  });
}

/** A cluster whose control plane is elsewhere: an endpoint, a kubeconfig, and a control plane Machine that keeps it counted. */
export async function addCluster(plane: Plane, name = "c1"): Promise<Client> {
  await plane.user.create({
    apiVersion: Cluster.apiVersion,
    kind: Cluster.kind,
    metadata: { namespace: NAMESPACE, name },
    spec: { controlPlaneEndpoint: { host: "h", port: 6443 } },
  } as Unstructured);
  const workload = await plane.addWorkload(NAMESPACE, name);
  await plane.user.patchStatus(
    { kind: Cluster, namespace: NAMESPACE, name },
    { status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } } },
  );
  return workload;
}

/** Templates of machines and their bootstrap data. */
export function templates(name: string, spec: object = {}): Unstructured[] {
  return [
    {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "TestMachineTemplate",
      metadata: { namespace: NAMESPACE, name },
      spec: { template: { spec } },
    } as Unstructured,
    {
      apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
      kind: "TestConfigTemplate",
      metadata: { namespace: NAMESPACE, name },
      spec: { template: { spec: {} } },
    } as Unstructured,
  ];
}

/** The spec of Machines made from those templates. */
export function machineTemplateSpec(template: string, cluster = "c1"): ObjectOf<typeof Machine>["spec"] {
  return {
    clusterName: cluster,
    version: "v1.34.4",
    bootstrap: {
      configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "TestConfigTemplate", name: template },
    },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "TestMachineTemplate", name: template },
  };
}

/** A MachineDeployment over those templates; `spec` overrides fields. */
export function deployment(name: string, template: string, replicas: number, spec: object = {}): MachineDeployment {
  const labels = { "cluster.x-k8s.io/deployment-name": name };
  return {
    apiVersion: MachineDeployment.apiVersion,
    kind: MachineDeployment.kind,
    metadata: { namespace: NAMESPACE, name },
    spec: {
      clusterName: "c1",
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: machineTemplateSpec(template) },
      ...spec,
    },
  };
}
