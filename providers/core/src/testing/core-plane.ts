import { findCondition, type KubeObject, type Unstructured } from "@capstan/apimachinery";
import {
  Cluster,
  conditionsOf,
  Machine,
  MachineDeployment,
  MachineDrainRule,
  MachinePool,
  MachineSet,
  type ObjectOf,
  WorkerPool,
} from "@capstan/capi";
import type { Client, Kind } from "@capstan/runtime";
import { addCoreIndexes, coreControllers } from "../controllers.ts";
import { NAMESPACE } from "./objects.ts";
import { Plane } from "./plane.ts";
import { TEST_KINDS, TestControlPlane, testProvider } from "./test-infrastructure.ts";

const KINDS = [
  Cluster,
  Machine,
  MachineSet,
  MachineDeployment,
  MachinePool,
  WorkerPool,
  MachineDrainRule,
  ...TEST_KINDS,
];

/** A plane with the core controllers and a provider whose machines join at once. */
export async function corePlane(): Promise<Plane> {
  return await Plane.start({
    crds: KINDS.map((kind) => kind.crd()),
    indexes: addCoreIndexes,
    controllers: (deps) => [...coreControllers(deps), ...testProvider(deps.workload)],
  });
}

/** A cluster with a control plane that has neither Machines nor Nodes. */
export async function addCluster(plane: Plane, name = "c1", namespace = NAMESPACE): Promise<Client> {
  await addClusterObjects(plane, name, namespace);
  return await plane.addWorkload(namespace, name);
}

/** The objects of such a cluster, without its API. */
export async function addClusterObjects(plane: Plane, name = "c1", namespace = NAMESPACE): Promise<void> {
  const controlPlane = {
    apiVersion: TestControlPlane.apiVersion,
    kind: TestControlPlane.kind,
    metadata: { namespace, name },
  };
  await plane.user.create({ ...controlPlane, spec: { version: "v1.34.4" } } as Unstructured);
  await plane.user.patchStatus(
    { kind: TestControlPlane, namespace, name },
    {
      status: {
        initialization: { controlPlaneInitialized: true },
        externalManagedControlPlane: true,
        version: "v1.34.4",
      },
    },
  );
  await plane.user.create({
    apiVersion: Cluster.apiVersion,
    kind: Cluster.kind,
    metadata: { namespace, name },
    spec: {
      controlPlaneEndpoint: { host: "h", port: 6443 },
      controlPlaneRef: { apiGroup: TestControlPlane.group, kind: TestControlPlane.kind, name },
    },
  } as Unstructured);
}

/** Templates of machines and their bootstrap data. */
export function templates(name: string, spec: object = {}, namespace = NAMESPACE): Unstructured[] {
  return [
    {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "TestMachineTemplate",
      metadata: { namespace, name },
      spec: { template: { spec } },
    } as Unstructured,
    {
      apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
      kind: "TestConfigTemplate",
      metadata: { namespace, name },
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

/** All objects of a kind in the test's namespace. */
export async function listed<T extends KubeObject>(plane: Plane, kind: Kind<T>, namespace = NAMESPACE): Promise<T[]> {
  return (await plane.user.list(kind, { namespace })).items;
}

/** An object that must exist. */
export async function existing<T extends KubeObject>(plane: Plane, kind: Kind<T>, name: string): Promise<T> {
  const found = await plane.user.get(kind, { namespace: NAMESPACE, name });
  if (found === undefined) throw new Error(`${kind.kind} ${name} does not exist`);
  return found;
}

/** One condition of an object as `status/reason`, with its message. */
export function conditionText(object: { status?: unknown }, type: string): string {
  const condition = findCondition(conditionsOf(object), type);
  if (condition === undefined) return "none";
  const { status, reason, message } = condition;
  return message === "" ? `${status}/${reason}` : `${status}/${reason}: ${message}`;
}
