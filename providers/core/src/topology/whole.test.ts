import { findCondition, type Unstructured } from "@capstan/apimachinery";
import {
  Cluster,
  ClusterClass,
  ClusterResourceSet,
  ClusterResourceSetBinding,
  conditionsOf,
  defineKind,
  GlobalInClusterIPPool,
  GlobalInClusterPrefixPool,
  InClusterIPPool,
  InClusterPrefixPool,
  IPAddress,
  IPAddressClaim,
  KubeadmControlPlane,
  Machine,
  MachineDeployment,
  MachineDrainRule,
  MachineHealthCheck,
  MachinePool,
  MachineSet,
  object,
  openObject,
  optional,
  WorkerPool,
} from "@capstan/capi";
import { afterEach, expect, test } from "vitest";
import { addCoreIndexes, coreControllers } from "../controllers.ts";
import { addSupportingIndexes, supportingControllers } from "../supporting-controllers.ts";
import { templates } from "../testing/core-plane.ts";
import { NAMESPACE } from "../testing/objects.ts";
import { Plane } from "../testing/plane.ts";
import { TEST_KINDS, testProvider } from "../testing/test-infrastructure.ts";

const kind = (group: string, name: string) =>
  defineKind({
    group: `${group}.cluster.x-k8s.io`,
    version: "v1beta2",
    kind: name,
    plural: `${name.toLowerCase()}s`,
    doc: "A kind of tests.",
    contracts: { v1beta2: "v1beta2" },
    schema: object({ spec: optional(openObject()), status: optional(openObject()) }),
  });
const Infra = kind("infrastructure", "WholeCluster");
const InfraTemplate = kind("infrastructure", "WholeClusterTemplate");
const ControlPlane = kind("controlplane", "WholeControlPlane");
const ControlPlaneTemplate = kind("controlplane", "WholeControlPlaneTemplate");

let plane: Plane | undefined;
afterEach(() => plane?.close());

const named = (apiVersion: string, of: string, name: string, spec: object): Unstructured => ({
  apiVersion,
  kind: of,
  metadata: { namespace: NAMESPACE, name },
  spec,
});
const reference = (apiVersion: string, of: string) => ({ templateRef: { apiVersion, kind: of, name: "t" } });

async function start(): Promise<Plane> {
  const kinds = [
    Cluster,
    ClusterClass,
    Machine,
    MachineSet,
    MachineDeployment,
    MachinePool,
    WorkerPool,
    MachineHealthCheck,
    MachineDrainRule,
    ClusterResourceSet,
    ClusterResourceSetBinding,
    IPAddress,
    IPAddressClaim,
    InClusterIPPool,
    GlobalInClusterIPPool,
    InClusterPrefixPool,
    GlobalInClusterPrefixPool,
    KubeadmControlPlane,
    Infra,
    InfraTemplate,
    ControlPlane,
    ControlPlaneTemplate,
    ...TEST_KINDS,
  ];
  return await Plane.start({
    crds: kinds.map((one) => one.crd()),
    indexes: (cache) => {
      addCoreIndexes(cache);
      addSupportingIndexes(cache);
    },
    controllers: (deps) => [...coreControllers(deps), ...supportingControllers(deps), ...testProvider(deps.workload)],
  });
}

test("a cluster from a class, with all core controllers at work: built, upgraded, at rest, deleted", {
  timeout: 60_000,
}, async () => {
  plane = await start();
  const { user } = plane;
  for (const one of templates("t")) await user.create(one);
  await user.create(named(InfraTemplate.apiVersion, InfraTemplate.kind, "t", { template: { spec: {} } }));
  await user.create(named(ControlPlaneTemplate.apiVersion, ControlPlaneTemplate.kind, "t", { template: { spec: {} } }));
  await user.create(
    named(ClusterClass.apiVersion, ClusterClass.kind, "class", {
      infrastructure: reference(InfraTemplate.apiVersion, InfraTemplate.kind),
      controlPlane: reference(ControlPlaneTemplate.apiVersion, ControlPlaneTemplate.kind),
      workers: {
        machineDeployments: [
          {
            class: "w",
            bootstrap: reference("bootstrap.cluster.x-k8s.io/v1beta2", "TestConfigTemplate"),
            infrastructure: reference("infrastructure.cluster.x-k8s.io/v1beta2", "TestMachineTemplate"),
            healthCheck: { checks: { nodeStartupTimeoutSeconds: 600 } },
          },
        ],
      },
    }),
  );
  const cluster = named(Cluster.apiVersion, Cluster.kind, "c", {
    topology: {
      classRef: { name: "class" },
      version: "v1.33.0",
      workers: { machineDeployments: [{ class: "w", name: "a", replicas: 2 }] },
    },
  });
  await user.create(cluster);
  await plane.settle(200);
  await plane.addWorkload(NAMESPACE, "c");
  const [infra] = (await user.list(Infra as never)).items as Unstructured[];
  const [controlPlane] = (await user.list(ControlPlane as never)).items as Unstructured[];
  if (infra === undefined || controlPlane === undefined) throw new Error("the topology made no objects");
  await user.patch(infra, { spec: { controlPlaneEndpoint: { host: "h", port: 6443 } } });
  await user.patchStatus(infra, { status: { initialization: { provisioned: true } } });
  const settle = (version: string): Promise<unknown> =>
    user.patchStatus(controlPlane, {
      status: { version, externalManagedControlPlane: true, initialization: { controlPlaneInitialized: true } },
    });
  await settle("v1.33.0");
  await plane.clock.advance(60_000);
  const condition = async (type: string) =>
    findCondition(conditionsOf((await user.get(Cluster, { namespace: NAMESPACE, name: "c" })) ?? {}), type);
  const machines = async () => (await user.list(Machine)).items;
  expect((await machines()).map(({ spec }) => spec.version)).toEqual(["v1.33.0", "v1.33.0"]);
  expect(await condition("TopologyReconciled")).toMatchObject({ status: "True" });
  expect(await condition("Available")).toMatchObject({ status: "True" });

  await user.patch(cluster, { spec: { topology: { version: "v1.34.0" } } });
  await plane.clock.advance(5000);
  expect((await machines()).map(({ spec }) => spec.version)).toEqual(["v1.33.0", "v1.33.0"]);
  await settle("v1.34.0");
  await plane.clock.advance(120_000);
  expect((await machines()).map(({ spec }) => spec.version)).toEqual(["v1.34.0", "v1.34.0"]);
  expect(await condition("TopologyReconciled")).toMatchObject({ status: "True" });
  expect(await condition("Available")).toMatchObject({ status: "True" });
  const { writes } = plane;
  await plane.clock.advance(600_000);
  expect(plane.writes).toBe(writes);

  await user.delete(cluster);
  await plane.clock.advance(120_000);
  for (const of of [Cluster, MachineDeployment, MachineSet, Machine, MachineHealthCheck])
    expect((await user.list(of as never)).items).toEqual([]);
  for (const of of [Infra, ControlPlane]) expect((await user.list(of as never)).items).toEqual([]);
});
