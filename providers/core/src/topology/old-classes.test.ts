import { findCondition, type Unstructured } from "@capstan/apimachinery";
import {
  ALL_KINDS,
  Cluster,
  conditionsOf,
  defineKind,
  KubeadmConfigTemplate,
  KubeadmControlPlane,
  MachineDeployment,
  object,
  openObject,
  optional,
} from "@capstan/capi";
import { afterEach, expect, test } from "vitest";
import { addClusterIndexes } from "../cluster/indexes.ts";
import { addMachineHealthCheckIndexes } from "../machine-health-check/machine-health-check.controller.ts";
import { addMachineIndexes } from "../shared/indexes.ts";
import { NAMESPACE } from "../testing/objects.ts";
import { Plane } from "../testing/plane.ts";
import { addTopologyIndexes } from "./indexes.ts";
import { topologyControllers } from "./topology.controllers.ts";

const infrastructure = (kind: string) =>
  defineKind({
    group: "infrastructure.cluster.x-k8s.io",
    version: "v1beta1",
    kind,
    plural: `${kind.toLowerCase()}s`,
    doc: "A kind of tests that speaks the older contract.",
    contracts: { v1beta1: "v1beta1" },
    schema: object({ spec: optional(openObject()), status: optional(openObject()) }),
  });
const INFRASTRUCTURE = ["OldCluster", "OldClusterTemplate", "OldMachineTemplate"].map(infrastructure);

let plane: Plane | undefined;
afterEach(() => plane?.close());

async function start(): Promise<Plane> {
  return await Plane.start({
    crds: [...ALL_KINDS, ...INFRASTRUCTURE].map((kind) => kind.crd()),
    ruled: ALL_KINDS,
    indexes: (cache) => {
      addClusterIndexes(cache);
      addMachineIndexes(cache);
      addMachineHealthCheckIndexes(cache);
      addTopologyIndexes(cache);
    },
    controllers: () => topologyControllers(),
  });
}

const CONTROL_PLANE = "controlplane.cluster.x-k8s.io/v1beta1";
const BOOTSTRAP = "bootstrap.cluster.x-k8s.io/v1beta1";
const INFRA = "infrastructure.cluster.x-k8s.io/v1beta1";

const named = (apiVersion: string, kind: string, spec: object, name = "t"): Unstructured => ({
  apiVersion,
  kind,
  metadata: { namespace: NAMESPACE, name },
  spec,
});
const ref = (apiVersion: string, kind: string) => ({ ref: { apiVersion, kind, name: "t" } });
const patch = (apiVersion: string, kind: string, matchResources: object, path: string, value: unknown): object => ({
  name: kind.toLowerCase(),
  definitions: [{ selector: { apiVersion, kind, matchResources }, jsonPatches: [{ op: "add", path, value }] }],
});

/** A class as it was written for v1beta1, its patches in the fields of that version. */
const clusterClass = named(
  "cluster.x-k8s.io/v1beta1",
  "ClusterClass",
  {
    infrastructure: ref(INFRA, "OldClusterTemplate"),
    controlPlane: {
      ...ref(CONTROL_PLANE, "KubeadmControlPlaneTemplate"),
      machineInfrastructure: ref(INFRA, "OldMachineTemplate"),
      nodeDrainTimeout: "1m0s",
    },
    workers: {
      machineDeployments: [
        {
          class: "worker",
          template: {
            bootstrap: ref(BOOTSTRAP, "KubeadmConfigTemplate"),
            infrastructure: ref(INFRA, "OldMachineTemplate"),
          },
        },
      ],
    },
    patches: [
      patch(
        CONTROL_PLANE,
        "KubeadmControlPlaneTemplate",
        { controlPlane: true },
        "/spec/template/spec/kubeadmConfigSpec/clusterConfiguration",
        { apiServer: { extraArgs: { profiling: "false" } } },
      ),
      patch(
        BOOTSTRAP,
        "KubeadmConfigTemplate",
        { machineDeploymentClass: { names: ["worker"] } },
        "/spec/template/spec/joinConfiguration",
        { nodeRegistration: { kubeletExtraArgs: { "eviction-hard": "x" } } },
      ),
    ],
  },
  "class",
);

test("a class written for v1beta1 is patched in the fields of that version", async () => {
  plane = await start();
  const { user } = plane;
  await user.create(named(INFRA, "OldClusterTemplate", { template: { spec: {} } }));
  await user.create(named(INFRA, "OldMachineTemplate", { template: { spec: {} } }));
  await user.create(
    named(CONTROL_PLANE, "KubeadmControlPlaneTemplate", { template: { spec: { kubeadmConfigSpec: {} } } }),
  );
  await user.create(named(BOOTSTRAP, "KubeadmConfigTemplate", { template: { spec: {} } }));
  await user.create(clusterClass);
  await plane.settle(100);
  await user.create(
    named(
      "cluster.x-k8s.io/v1beta1",
      "Cluster",
      {
        topology: {
          class: "class",
          version: "v1.33.0",
          controlPlane: { replicas: 1 },
          workers: { machineDeployments: [{ class: "worker", name: "a", replicas: 1 }] },
        },
      },
      "c",
    ),
  );
  await plane.settle(100);
  const rollout = { after: "2020-01-01T00:00:00Z" };
  await user.patch(
    { kind: Cluster, namespace: NAMESPACE, name: "c" },
    { spec: { topology: { controlPlane: { rollout } } } },
  );
  await plane.settle(100);
  const cluster = await user.get(Cluster, { namespace: NAMESPACE, name: "c" });
  expect(findCondition(conditionsOf(cluster ?? {}), "TopologyReconciled")).toMatchObject({ status: "True" });
  const [controlPlane] = (await user.list(KubeadmControlPlane)).items;
  expect(controlPlane?.spec).toMatchObject({
    version: "v1.33.0",
    replicas: 1,
    rollout,
    kubeadmConfigSpec: {
      clusterConfiguration: { apiServer: { extraArgs: [{ name: "profiling", value: "false" }] } },
    },
    machineTemplate: {
      spec: {
        infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OldMachineTemplate" },
        deletion: { nodeDrainTimeoutSeconds: 60 },
      },
    },
  });
  const [deployment] = (await user.list(MachineDeployment)).items;
  const name = deployment?.spec.template.spec.bootstrap.configRef?.name ?? "";
  expect((await user.get(KubeadmConfigTemplate, { namespace: NAMESPACE, name }))?.spec).toMatchObject({
    template: {
      spec: {
        joinConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: "eviction-hard", value: "x" }] } },
      },
    },
  });
  const { writes } = plane;
  await user.patch({ kind: Cluster, namespace: NAMESPACE, name: "c" }, { metadata: { labels: { a: "b" } } });
  await plane.settle(60_000);
  expect(plane.writes).toBe(writes);
  expect((await user.list(KubeadmConfigTemplate)).items).toHaveLength(2);
});
