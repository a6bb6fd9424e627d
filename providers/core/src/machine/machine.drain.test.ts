import { ApiError, type Unstructured } from "@capstan/apimachinery";
import { Machine } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, expect, test } from "vitest";
import { type DrainInput, drainNode } from "../drain/drain.ts";
import { NodeKind, PodKind } from "../drain/kinds.ts";
import { addCluster, conditionText, corePlane, existing } from "../testing/core-plane.ts";
import { addMachine, pod } from "../testing/machines.ts";
import { NAMESPACE } from "../testing/objects.ts";
import type { Plane } from "../testing/plane.ts";

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(): Promise<{ plane: Plane; workload: Client }> {
  const plane = await corePlane();
  planes.push(plane);
  const workload = await addCluster(plane);
  await addMachine(plane, "m1");
  return { plane, workload };
}

const M1 = { kind: Machine, namespace: NAMESPACE, name: "m1" };

async function deleting(plane: Plane): Promise<string> {
  await plane.settle(5000);
  return conditionText(await existing(plane, Machine, "m1"), "Deleting");
}

async function pods(workload: Client): Promise<string[]> {
  const { items } = await workload.list(PodKind, { namespace: "default" });
  return items.map(({ metadata }) => metadata.name ?? "").sort();
}

async function drainRule(plane: Plane, app: string, order: number): Promise<void> {
  await plane.user.create({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineDrainRule",
    metadata: { namespace: NAMESPACE, name: app },
    spec: { drain: { behavior: "Drain", order }, pods: [{ selector: { matchLabels: { app } } }] },
  } as Unstructured);
}

test("Pods that are waited for hold back those of later orders, not those of earlier ones", async () => {
  const { plane, workload } = await start();
  await drainRule(plane, "first", -1);
  await drainRule(plane, "last", 10);
  await pod(workload, "first", { app: "first" });
  await pod(workload, "job", { "cluster.x-k8s.io/drain": "WaitCompleted" });
  await pod(workload, "last", { app: "last" });
  await plane.user.delete(M1);
  expect(await deleting(plane)).toMatch(
    /default\/job: waiting for them to complete\n.*1 Pods are evicted after those/s,
  );
  expect(await pods(workload)).toEqual(["job", "last"]);
  await workload.patchStatus({ kind: PodKind, namespace: "default", name: "job" }, { status: { phase: "Succeeded" } });
  await plane.settle(10_000);
  expect(await pods(workload)).toEqual(["job"]);
  expect(await plane.user.get(Machine, M1)).toBeUndefined();
});

test("an eviction that is refused, for whatever reason, holds back its Pod alone", async () => {
  const { plane, workload } = await start();
  await pod(workload, "a", {});
  await pod(workload, "b", {});
  const node = (await workload.get(NodeKind, { name: "m1" })) ?? expect.fail("no Node");
  // The real client but for one Pod, as a webhook of the workload cluster may answer.
  const client = {
    list: workload.list.bind(workload),
    get: workload.get.bind(workload),
    patch: workload.patch.bind(workload),
    createSubresource: async (...args: Parameters<Client["createSubresource"]>) => {
      if (JSON.stringify(args[0]).includes('"name":"a"')) {
        const status = { apiVersion: "v1", kind: "Status", metadata: {}, status: "Failure", code: 409 } as const;
        throw new ApiError({ ...status, reason: "Conflict", message: "webhook says: not now" });
      }
      return await workload.createSubresource(...args);
    },
  } as unknown as Client;
  const machine = await existing(plane, Machine, "m1");
  const scope = { machine, cluster: undefined } as unknown as DrainInput["scope"];
  const cache = { list: () => [] } as unknown as DrainInput["cache"];
  const { signal } = new AbortController();
  const { done, message } = await drainNode({ scope, node, client, cache, nowMs: plane.clock.now(), signal });
  expect(done).toBe(false);
  expect(message).toContain("* Pods default/a: webhook says: not now");
  expect(await pods(workload)).toEqual(["a"]);
});

test("only volumes that are attached are waited for", async () => {
  const { plane, workload } = await start();
  const attachment = (name: string): Unstructured =>
    ({
      apiVersion: "storage.k8s.io/v1",
      kind: "VolumeAttachment",
      metadata: { name },
      spec: { attacher: "csi", nodeName: "m1", source: { persistentVolumeName: name } },
    }) as Unstructured;
  await workload.create(attachment("never"));
  const attached = await workload.create(attachment("there"));
  await workload.patchStatus(attached, { status: { attached: true } });
  await plane.user.delete(M1);
  expect(await deleting(plane)).toBe("True/WaitingForVolumeDetach: * Volumes still attached to the Node: there");
  await workload.patchStatus(attached, { status: { attached: false } });
  await plane.settle(10_000);
  expect(await plane.user.get(Machine, M1)).toBeUndefined();
});
