import { findCondition, ownerReference, type Unstructured } from "@capstan/apimachinery";
import {
  Cluster,
  CustomResourceDefinition,
  conditionsOf,
  defineKind,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  object,
  optional,
  WorkerPool,
} from "@capstan/capi";
import { afterEach, expect, test } from "vitest";
import { machine, NAMESPACE } from "../testing/objects.ts";
import { Plane } from "../testing/plane.ts";
import { clusterController } from "./cluster.controller.ts";
import { addClusterIndexes } from "./indexes.ts";

const ControlPlane = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineControlPlane",
  plural: "machinecontrolplanes",
  doc: "A control plane made of Machines.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({ spec: optional(object({})) }),
});

const HOLD = "test/hold";
const at = (name: string) => ({ namespace: NAMESPACE, name });
const controlPlane: Unstructured = {
  apiVersion: ControlPlane.apiVersion,
  kind: ControlPlane.kind,
  metadata: { ...at("cp"), finalizers: [HOLD] },
};
const cluster: Unstructured = {
  apiVersion: Cluster.apiVersion,
  kind: Cluster.kind,
  metadata: at("c"),
  spec: { controlPlaneRef: { apiGroup: ControlPlane.group, kind: ControlPlane.kind, name: "cp" } },
};
const held = (name: string, labels: Record<string, string> = {}, owner?: Unstructured): Unstructured => {
  const made = machine("c", name, undefined, labels);
  const ownerReferences = owner === undefined ? [] : [ownerReference(owner, { controller: true })];
  return { ...made, metadata: { ...made.metadata, finalizers: [HOLD], ownerReferences } };
};

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(): Promise<Plane> {
  const kinds = [Cluster, Machine, MachineSet, MachineDeployment, MachinePool, WorkerPool, ControlPlane];
  const plane = await Plane.start({
    crds: kinds.map((kind) => kind.crd()),
    indexes: addClusterIndexes,
    controllers: ({ workload }) => [clusterController(workload)],
  });
  planes.push(plane);
  return plane;
}

const deletingOf = async (plane: Plane) =>
  findCondition(conditionsOf((await plane.user.get(Cluster, at("c"))) ?? {}), "Deleting");

test("what cannot be read may still be there: the Cluster waits for it and says how to go on", async () => {
  const plane = await start();
  await plane.user.create(cluster);
  await plane.user.create({ ...controlPlane, metadata: at("cp") });
  await plane.settle();
  const definition = { kind: CustomResourceDefinition, name: ControlPlane.crd().metadata.name ?? "" };
  const label = (version: string | null) =>
    plane.user.patch(definition, { metadata: { labels: { "cluster.x-k8s.io/v1beta2": version } } });
  await label(null);
  await plane.settle();
  await plane.user.delete(cluster);
  await plane.settle(1000);
  expect(await deletingOf(plane)).toMatchObject({
    reason: "WaitingForControlPlaneDeletion",
    message: expect.stringMatching(/MachineControlPlane cp cannot be read: .*has no label cluster.x-k8s.io\/v1beta2/),
  });
  await label("v1beta2");
  await plane.settle(20_000);
  expect(await plane.user.get(Cluster, at("c"))).toBeUndefined();
  expect(await plane.user.get(ControlPlane, at("cp"))).toBeUndefined();
});

test("a kind that is not served any more is nothing to wait for", async () => {
  const plane = await start();
  await plane.user.create(cluster);
  await plane.settle();
  await plane.user.delete({ kind: CustomResourceDefinition, name: ControlPlane.crd().metadata.name ?? "" });
  await plane.settle(1000);
  await plane.user.delete(cluster);
  await plane.settle(1000);
  expect(await plane.user.get(Cluster, at("c"))).toBeUndefined();
});

test("a control plane deletes its own Machines: it goes after the workers, without waiting for them", async () => {
  const plane = await start();
  const deleting = () => deletingOf(plane);
  const release = async (one: Unstructured): Promise<void> => {
    await plane.user.patch(one, { metadata: { finalizers: [] } });
    await plane.clock.advance(1000);
  };
  await plane.user.create(cluster);
  const owner = await plane.user.create(controlPlane);
  const worker = held("worker");
  const member = held("member", { "cluster.x-k8s.io/control-plane": "" }, owner);
  for (const one of [worker, member]) await plane.user.create(one);
  await plane.settle();

  await plane.user.delete(cluster);
  await plane.settle();
  expect(await deleting()).toMatchObject({ reason: "WaitingForWorkersDeletion", message: "* Machine: worker" });
  expect((await plane.user.get(ControlPlane, at("cp")))?.metadata.deletionTimestamp).toBeUndefined();

  await release(worker);
  expect(await deleting()).toMatchObject({ reason: "WaitingForControlPlaneDeletion" });
  expect((await plane.user.get(ControlPlane, at("cp")))?.metadata.deletionTimestamp).toBeDefined();
  expect((await plane.user.get(Machine, at("member")))?.metadata.deletionTimestamp).toBeUndefined();

  // Whatever a control plane leaves behind still stands on the infrastructure.
  await release(controlPlane);
  expect(await deleting()).toMatchObject({ message: "* Machine: member" });
  await release(member);
  expect(await plane.user.get(Cluster, at("c"))).toBeUndefined();
});
