import type { Unstructured } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import type { AdmissionLookup } from "../schema/kind.ts";
import { UNSAFE_VERSION, unfinishedUpgradeProblems } from "./topology-version.ts";

type Asked = Parameters<typeof unfinishedUpgradeProblems>[0];

const labels = { "cluster.x-k8s.io/cluster-name": "c", "topology.cluster.x-k8s.io/owned": "" };

function cluster(version: string, annotations: Record<string, string> = {}): Asked {
  const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name: "c" };
  const spec = { controlPlaneRef, topology: { classRef: { name: "k" }, version } };
  return { metadata: { namespace: "ns", name: "c", annotations }, spec } as Asked;
}

const controlPlane = (wanted: string, reached?: string): Unstructured => ({
  apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
  kind: "HostedControlPlane",
  metadata: { namespace: "ns", name: "c" },
  spec: { version: wanted },
  status: reached === undefined ? {} : { version: reached },
});

const deployment = (version: string): Unstructured => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineDeployment",
  metadata: { namespace: "ns", name: "w", labels },
  spec: {
    selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "w" } },
    template: { spec: { version } },
  },
});

const machine = (version: string, ofDeployment = "w"): Unstructured => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Machine",
  metadata: { namespace: "ns", name: "m", labels: { ...labels, "cluster.x-k8s.io/deployment-name": ofDeployment } },
  spec: { version },
});

const there = (...objects: Unstructured[]): AdmissionLookup => ({
  get: async ({ kind }, _namespace, name) => objects.find((one) => one.kind === kind && one.metadata.name === name),
  list: async ({ kind }) => objects.filter((one) => one.kind === kind),
});

const CASES: [what: string, lookup: AdmissionLookup, said: string | undefined][] = [
  [
    "all at the version before",
    there(controlPlane("v1.33.0", "1.33.0"), deployment("v1.33.0"), machine("v1.33.0")),
    undefined,
  ],
  ["nothing made yet", there(), undefined],
  ["not propagated", there(controlPlane("v1.32.0", "v1.32.0")), "was not propagated to control plane yet"],
  ["provisioning", there(controlPlane("v1.33.0")), "control plane is currently provisioning"],
  ["upgrading", there(controlPlane("v1.33.0", "v1.32.4")), "control plane is still completing a previous upgrade"],
  [
    "workers held at an older version",
    there(controlPlane("v1.33.0", "v1.33.0"), deployment("v1.32.4")),
    "there are still MachineDeployments completing a previous upgrade: [w]",
  ],
  [
    "a machine of the old version",
    there(controlPlane("v1.33.0", "v1.33.0"), deployment("v1.33.0"), machine("v1.32.4")),
    "there are still MachineDeployments completing a previous upgrade: [w]",
  ],
  [
    "a machine without an owner",
    there(controlPlane("v1.33.0", "v1.33.0"), deployment("v1.33.0"), machine("v1.32.4", "other")),
    undefined,
  ],
];

test.each(CASES)("the version of a topology changes again: %s", async (_, lookup, said) => {
  const problems = await unfinishedUpgradeProblems(cluster("v1.34.0"), cluster("v1.33.0"), lookup);
  if (said === undefined) expect(problems).toEqual([]);
  else expect(problems).toMatchObject([{ field: "spec.topology.version", detail: expect.stringContaining(said) }]);
});

test("what does not change, or is wanted nevertheless, is not asked about", async () => {
  const upgrading = there(controlPlane("v1.33.0", "v1.32.4"));
  expect(await unfinishedUpgradeProblems(cluster("v1.33.0"), cluster("v1.33.0"), upgrading)).toEqual([]);
  const unsafe = cluster("v1.34.0", { [UNSAFE_VERSION]: "" });
  expect(await unfinishedUpgradeProblems(unsafe, cluster("v1.33.0"), upgrading)).toEqual([]);
});
