import { findCondition, formatTime, type Unstructured } from "@capstan/apimachinery";
import { Cluster, conditionsOf, Machine, MachineHealthCheck } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { addCoreIndexes } from "../controllers.ts";
import { addMachineIndexes } from "../shared/indexes.ts";
import { machine, NAMESPACE, put, readyCluster, since } from "../testing/objects.ts";
import { Plane } from "../testing/plane.ts";
import { addMachineHealthCheckIndexes, machineHealthCheckController } from "./machine-health-check.controller.ts";

const MEMBERS = ["m1", "m2", "m3"];
let plane: Plane;
let workload: Client;

/** Three control plane Machines and a worker, all healthy. */
beforeEach(async () => {
  plane = await Plane.start({
    crds: [Cluster.crd(), Machine.crd(), MachineHealthCheck.crd()],
    indexes: (cache) => {
      addCoreIndexes(cache);
      addMachineIndexes(cache);
      addMachineHealthCheckIndexes(cache);
    },
    controllers: (deps) => [machineHealthCheckController(deps.workload)],
  });
  const now = formatTime(plane.clock.now());
  await put(plane.user, readyCluster("c", now));
  const api = await plane.addWorkloadAtMachine(NAMESPACE, "c");
  workload = api.client;
  for (const name of [...MEMBERS, "w1"]) {
    const labels: Record<string, string> = MEMBERS.includes(name) ? { "cluster.x-k8s.io/control-plane": "" } : {};
    const created = machine("c", name, name, { pool: "a", ...labels });
    const addresses = [{ type: "InternalIP", address: api.address }];
    await put(plane.user, { ...created, status: { nodeRef: { name }, addresses } } as Unstructured);
    const conditions = [since("Ready", "True", now)];
    await put(workload, { apiVersion: "v1", kind: "Node", metadata: { name }, status: { conditions } } as Unstructured);
  }
  await put(plane.user, {
    apiVersion: MachineHealthCheck.apiVersion,
    kind: MachineHealthCheck.kind,
    metadata: { namespace: NAMESPACE, name: "check" },
    spec: {
      clusterName: "c",
      selector: { matchLabels: { pool: "a" } },
      checks: { unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 10 }] },
    },
  } as Unstructured);
  await plane.settle();
}, 60_000);
afterEach(() => plane.close());

async function endpointFails(): Promise<void> {
  plane.setReachable(NAMESPACE, "c", false);
  // A watch that is open does not notice the endpoint.
  await plane.stopControllers();
  await plane.startControllers();
  await plane.settle(60_000);
}

async function silence(...nodes: string[]): Promise<void> {
  const conditions = [since("Ready", "Unknown", formatTime(plane.clock.now()))];
  for (const name of nodes)
    await workload.patchStatus({ apiVersion: "v1", kind: "Node", metadata: { name } } as Unstructured, {
      status: { conditions },
    });
}

async function unhealthy(): Promise<string[]> {
  const { items } = await plane.user.list(Machine, { namespace: NAMESPACE });
  return items
    .filter((each) => findCondition(conditionsOf(each), "HealthCheckSucceeded")?.status === "False")
    .map(({ metadata }) => metadata.name ?? "");
}

test("a control plane Machine that fails together with the endpoint is remediated, workers are not", async () => {
  await silence("m1", "w1");
  await endpointFails();
  await vi.waitFor(
    async () => {
      await plane.settle(200);
      expect(await unhealthy()).toEqual(["m1"]);
    },
    { timeout: 10_000, interval: 10 },
  );
});

test("no Machine is remediated while most control plane Nodes need the endpoint", async () => {
  await silence(...MEMBERS, "w1");
  await endpointFails();
  // The API at the Machines is seen by then.
  for (let i = 0; i < 50; i++) {
    await plane.settle(1000);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(await unhealthy()).toEqual([]);
});
