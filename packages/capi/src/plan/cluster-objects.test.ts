import { PROVIDERS } from "@capstan/manager/providers";
import { expect, test } from "vitest";
import type { ProviderDescription } from "../sdk/description.ts";
import { clusterObjects } from "./cluster-objects.ts";
import type { ClusterPlan } from "./cluster-plan.ts";
import { controlPlaneOptions } from "./worker-options.ts";

function kindsOf(placement: string, ...providers: string[]): string[] {
  const workers = providers.map((provider) => ({ name: provider, provider, replicas: 1, select: {}, settings: {} }));
  const network = { podCidrs: ["10.244.0.0/16"], serviceCidrs: ["10.96.0.0/16"] };
  const plan = { name: "c1", namespace: "default", version: "v1.34.4", placement, labels: {}, ...network, workers };
  return clusterObjects(plan, PROVIDERS).map(({ kind }) => kind);
}

test("hosts in memory, which forget their cluster with the program, get a check that replaces their machines", () => {
  expect(kindsOf("Embedded", "byoh")).toContain("MachineHealthCheck");
  expect(kindsOf("Embedded", "memory", "metal3")).toContain("MachineHealthCheck");
});

test("real hosts, and machines in memory that find their cluster again, are left alone", () => {
  expect(kindsOf("Process", "byoh", "metal3")).not.toContain("MachineHealthCheck");
  expect(kindsOf("Embedded", "memory")).not.toContain("MachineHealthCheck");
});

const KUBEADM: ProviderDescription = {
  name: "controlplane-test",
  title: "Test",
  controlPlane: {
    name: "on-machines",
    summary: "",
    onMachines: true,
    kind: "KubeadmControlPlane",
    spec: ({ version }) => ({ version }),
  },
};

test("a control plane on machines has a template of its provider and the endpoint on the Cluster", () => {
  const group = (name: string, provider: string, replicas: number) => ({
    name,
    provider,
    replicas,
    select: { rack: "1" },
    settings: {},
  });
  const plan: ClusterPlan = {
    name: "c1",
    namespace: "default",
    version: "v1.37.1",
    labels: {},
    podCidrs: ["10.244.0.0/16"],
    serviceCidrs: ["10.96.0.0/16"],
    endpoint: { host: "10.0.0.10", port: 6443 },
    controlPlane: { type: "on-machines", machines: group("control-plane", "byoh", 3) },
    workers: [group("workers", "metal3", 1)],
  };
  const objects = clusterObjects(plan, [...PROVIDERS, KUBEADM]);
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "Cluster c1",
    "MetaCluster c1",
    "ByoCluster c1",
    "Metal3Cluster c1",
    "ByoMachineTemplate c1-control-plane",
    "KubeadmControlPlane c1",
    "KubeadmConfigTemplate c1-workers",
    "Metal3MachineTemplate c1-workers",
    "MachineDeployment c1-workers",
  ]);
  const spec = (kind: string): unknown => objects.find((object) => object.kind === kind)?.["spec"];
  expect(spec("Cluster")).toMatchObject({ controlPlaneEndpoint: { host: "10.0.0.10", port: 6443 } });
  expect(spec("MetaCluster")).toMatchObject({
    infrastructureRefs: [{ kind: "ByoCluster", controlPlane: true }, { kind: "Metal3Cluster" }],
  });
  expect(spec("KubeadmControlPlane")).toEqual({
    version: "v1.37.1",
    replicas: 3,
    machineTemplate: {
      spec: {
        infrastructureRef: {
          apiGroup: "infrastructure.cluster.x-k8s.io",
          kind: "ByoMachineTemplate",
          name: "c1-control-plane",
        },
      },
    },
  });
});

test("control planes that need no machines are offered first", () => {
  expect(
    controlPlaneOptions([KUBEADM, ...PROVIDERS])
      .keys()
      .next().value,
  ).toBe("hosted");
});

test("takes the object that combines several providers from the provider that offers it", () => {
  const others = PROVIDERS.filter(({ combines }) => combines === undefined);
  const lab: ProviderDescription = {
    name: "lab",
    title: "Lab",
    combines: { clusterKind: "LabCluster", clusterSpec: (parts) => ({ parts: parts.map(({ kind }) => kind) }) },
  };
  const group = (provider: string) => ({ name: provider, provider, replicas: 1, select: {}, settings: {} });
  const plan: ClusterPlan = {
    name: "c1",
    namespace: "default",
    version: "v1.37.1",
    labels: {},
    podCidrs: ["10.244.0.0/16"],
    serviceCidrs: ["10.96.0.0/16"],
    workers: [group("byoh"), group("metal3")],
  };
  const [cluster, combined] = clusterObjects(plan, [...others, lab]);
  expect(cluster?.["spec"]).toMatchObject({ infrastructureRef: { kind: "LabCluster", name: "c1" } });
  expect(combined).toMatchObject({ kind: "LabCluster", spec: { parts: ["ByoCluster", "Metal3Cluster"] } });
  expect(() => clusterObjects(plan, others)).toThrow("no provider combines");
});
