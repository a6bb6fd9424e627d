import type { Unstructured } from "@capstan/apimachinery";
import { Machine } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { NAMESPACE } from "./objects.ts";
import type { Plane } from "./plane.ts";
import { TestConfig, TestMachine } from "./test-infrastructure.ts";

/** A Machine of its own with the objects it refers to. */
export async function addMachine(
  plane: Plane,
  name: string,
  more: { spec?: object; infra?: object; labels?: Record<string, string>; annotations?: Record<string, string> } = {},
): Promise<void> {
  const reference = (apiGroup: string, kind: string): object => ({ apiGroup, kind, name });
  const object = (apiVersion: string, kind: string, spec: object): Unstructured =>
    ({ apiVersion, kind, metadata: { namespace: NAMESPACE, name }, spec }) as Unstructured;
  await plane.user.create(object(TestMachine.apiVersion, "TestMachine", more.infra ?? {}));
  await plane.user.create(object(TestConfig.apiVersion, "TestConfig", {}));
  await plane.user.create({
    ...object(Machine.apiVersion, "Machine", {
      clusterName: "c1",
      version: "v1.34.4",
      bootstrap: { configRef: reference("bootstrap.cluster.x-k8s.io", "TestConfig") },
      infrastructureRef: reference("infrastructure.cluster.x-k8s.io", "TestMachine"),
      ...more.spec,
    }),
    metadata: {
      namespace: NAMESPACE,
      name,
      labels: { "node-role.kubernetes.io/worker": "", "node.cluster.x-k8s.io/rack": "r1", team: "a", ...more.labels },
      annotations: more.annotations,
    },
  } as Unstructured);
  await plane.settle(5000);
}

/** A running Pod on the Node m1. */
export async function pod(
  workload: Client,
  name: string,
  labels: Record<string, string>,
  more: object = {},
): Promise<void> {
  const created = await workload.create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name, labels, ...more },
    spec: { nodeName: "m1", containers: [{ name: "c", image: "i" }] },
  } as Unstructured);
  await workload.patchStatus(created, { status: { phase: "Running" } });
}
