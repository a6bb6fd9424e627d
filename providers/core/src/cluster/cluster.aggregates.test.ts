import { findCondition, type Unstructured } from "@capstan/apimachinery";
import { Cluster, type Machine, MachineDeployment, WorkerPool } from "@capstan/capi";
import { afterEach, describe, expect, test } from "vitest";
import {
  addCluster,
  conditionText,
  corePlane,
  deployment,
  existing,
  listed,
  templates,
} from "../testing/core-plane.ts";
import { NAMESPACE } from "../testing/objects.ts";
import type { Plane } from "../testing/plane.ts";
import { TestControlPlane } from "../testing/test-infrastructure.ts";
import { clusterMachineConditions, movementConditions, workersAvailable } from "./cluster.aggregates.ts";
import type { ClusterScope } from "./cluster-scope.ts";

/** Expectations are those of upstream's own tests (v1.13, cluster_controller_status_test.go) unless they say otherwise. */

type Said = [type: string, status: string, message?: string, reason?: string];

function part(kind: string, name: string, said: Said[] = [], labels: Record<string, string> = {}): never {
  const conditions = said.map(([type, status, message = "", reason = "Foo"]) => ({ type, status, message, reason }));
  return { kind, metadata: { name, labels }, status: { phase: "Running", conditions } } as never;
}

function scope(more: Partial<ClusterScope>): ClusterScope {
  const none = { state: "none" as const };
  const lists = {
    secondaries: [],
    machineDeployments: [],
    machinePools: [],
    workerPools: [],
    machineSets: [],
    machines: [],
  };
  return { cluster: part("Cluster", "c"), infrastructure: none, controlPlane: none, ...lists, ...more };
}

const controlPlane = (said: Said[] = []): ClusterScope["controlPlane"] => ({
  state: "found",
  reference: { apiGroup: "g", kind: "FakeControlPlane", name: "cp1" },
  kind: TestControlPlane,
  object: part("FakeControlPlane", "cp1", said),
  contract: "v1beta2",
});

function text(conditions: { type: string; status: string; reason: string; message: string }[], type: string): string {
  return conditionText({ status: { conditions } }, type);
}

describe("what moves in a cluster", () => {
  const rolling = (count: number): Said => ["RollingOut", "True", `Rolling out ${count} not up-to-date replicas`];
  const scaling = (from: number, to: number): Said => [
    "ScalingUp",
    "True",
    `Scaling up from ${from} to ${to} replicas`,
  ];

  test.each<[string, Partial<ClusterScope>, string, string]>([
    ["nothing there", {}, "RollingOut", "False/NotRollingOut"],
    ["a control plane that reports nothing", { controlPlane: controlPlane() }, "RollingOut", "False/NotRollingOut"],
    [
      "not reported",
      { machineDeployments: [part("MachineDeployment", "md1")] },
      "RollingOut",
      "Unknown/RollingOutUnknown: * MachineDeployment md1: Condition RollingOut not yet reported",
    ],
    [
      "all rolling out",
      {
        controlPlane: controlPlane([rolling(3)]),
        machineDeployments: [part("MachineDeployment", "md1", [rolling(4)])],
        machinePools: [part("MachinePool", "mp1", [rolling(5)])],
      },
      "RollingOut",
      "True/RollingOut: * FakeControlPlane cp1: Rolling out 3 not up-to-date replicas\n" +
        "* MachineDeployment md1: Rolling out 4 not up-to-date replicas\n" +
        "* MachinePool mp1: Rolling out 5 not up-to-date replicas",
    ],
    [
      "all scaling up",
      {
        controlPlane: controlPlane([scaling(0, 3)]),
        machineDeployments: [part("MachineDeployment", "md1", [scaling(1, 5)])],
        machinePools: [part("MachinePool", "mp1", [scaling(0, 3)])],
        machineSets: [part("MachineSet", "ms1", [scaling(2, 7)])],
      },
      "ScalingUp",
      "True/ScalingUp: * FakeControlPlane cp1: Scaling up from 0 to 3 replicas\n" +
        "* MachineDeployment md1: Scaling up from 1 to 5 replicas\n" +
        "* MachinePool mp1: Scaling up from 0 to 3 replicas\n" +
        "And 1 MachineSet with other issues",
    ],
    [
      "at rest",
      { machineDeployments: [part("MachineDeployment", "md1", [["ScalingDown", "False"]])] },
      "ScalingDown",
      "False/NotScalingDown",
    ],
  ])("%s", (_, more, type, expected) => {
    expect(text(movementConditions(scope(more)), type)).toBe(expected);
  });
});

describe("Machines of a cluster", () => {
  const unhealthy: Said = ["HealthCheckSucceeded", "False"];
  const leaving: Said = ["OwnerRemediated", "False", "Machine is deleting"];
  const machines = (said: Record<string, Said[]>, labels?: Record<string, string>): Machine[] =>
    Object.entries(said).map(([name, conditions]) => part("Machine", name, conditions, labels));
  const CONTROL_PLANE = { "cluster.x-k8s.io/control-plane": "" };

  test.each<[string, Machine[], string, string]>([
    ["none", [], "ControlPlaneMachinesReady", "True/NoReplicas"],
    ["none", [], "WorkerMachinesUpToDate", "True/NoReplicas"],
    ["none unhealthy", machines({ m1: [], m2: [] }), "Remediating", "False/NotRemediating"],
    [
      "one of two unhealthy to be remediated",
      machines({ m1: [["HealthCheckSucceeded", "True"]], m2: [unhealthy], m3: [unhealthy, leaving] }),
      "Remediating",
      "True/Remediating: * Machine m3: Machine is deleting",
    ],
    [
      "two unhealthy, none to be remediated",
      machines({ m1: [unhealthy], m2: [unhealthy] }),
      "Remediating",
      "False/NotRemediating: Machines m1, m2 are not healthy (not to be remediated)",
    ],
    [
      "many with one message",
      machines({
        a: [["Ready", "False", "x"]],
        b: [["Ready", "False", "x"]],
        c: [["Ready", "False", "x"]],
        d: [["Ready", "False", "x"]],
      }),
      "WorkerMachinesReady",
      "False/NotReady: * Machines a, b, c, ... (1 more): x",
    ],
    [
      "the control plane's apart from the workers'",
      [...machines({ w: [["Ready", "True"]] }), ...machines({ c: [["Ready", "Unknown", "* lost"]] }, CONTROL_PLANE)],
      "ControlPlaneMachinesReady",
      "Unknown/ReadyUnknown: * Machine c:\n  * lost",
    ],
    [
      "those of pools are not counted",
      machines({ p: [] }, { "cluster.x-k8s.io/pool-name": "p" }),
      "WorkerMachinesReady",
      "True/NoReplicas",
    ],
  ])("%s: %#", (_, list, type, expected) => {
    expect(text(clusterMachineConditions(scope({ machines: list })), type)).toBe(expected);
  });

  test("Machines of their own are no workers to wait for", () => {
    expect(text([workersAvailable(scope({ machines: machines({ m: [] }) }))], "WorkersAvailable")).toBe(
      "True/NoWorkers",
    );
  });
});

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

test("a cluster whose control plane has no Machines scales, rolls out and comes to rest", async () => {
  const plane = await corePlane();
  planes.push(plane);
  await addCluster(plane);
  for (const template of [...templates("t1"), ...templates("t2")]) await plane.user.create(template);
  const said = async (type: string): Promise<string> => conditionText(await existing(plane, Cluster, "c1"), type);
  const quiet = async (): Promise<void> => {
    for (const type of ["RollingOut", "ScalingUp", "ScalingDown", "Remediating"])
      expect(await said(type), type).toBe(`False/Not${type}`);
    for (const type of ["ControlPlaneMachinesReady", "ControlPlaneMachinesUpToDate"])
      expect(await said(type), type).toBe("True/NoReplicas");
  };
  await plane.settle(5000);
  await quiet();
  expect(await said("WorkersAvailable")).toBe("True/NoWorkers");
  expect(await said("Available")).toBe("True/Available");

  // Not a template that exists: nothing can be made of it.
  await plane.user.create(deployment("md", "missing", 2));
  await plane.settle(5000);
  expect(await said("ScalingUp")).toMatch(
    /^True\/ScalingUp: \* MachineDeployment md:\n {2}\* Scaling up from 0 to 2 replicas/,
  );
  await plane.user.delete({ kind: MachineDeployment, namespace: NAMESPACE, name: "md" });
  await plane.user.create(deployment("md2", "t1", 2));
  await plane.settle(10_000);
  await quiet();
  expect(await said("WorkerMachinesReady")).toBe("True/Ready");
  expect(await said("WorkerMachinesUpToDate")).toBe("True/UpToDate");
  const cluster = await existing(plane, Cluster, "c1");
  const writes = plane.writes;
  await plane.settle(600_000);
  expect(plane.writes).toBe(writes);
  expect(findCondition(cluster.status?.conditions, "Available")?.status).toBe("True");
  expect(await listed(plane, MachineDeployment)).toHaveLength(1);
});

test("a topology that has no infrastructure yet is waited for", async () => {
  const plane = await corePlane();
  planes.push(plane);
  await plane.user.create({
    apiVersion: Cluster.apiVersion,
    kind: Cluster.kind,
    metadata: { namespace: NAMESPACE, name: "c1" },
    spec: { topology: { classRef: { name: "missing" }, version: "v1.34.4" } },
  } as Unstructured);
  await plane.settle();
  const cluster = await existing(plane, Cluster, "c1");
  expect(cluster.status?.initialization?.infrastructureProvisioned).toBeUndefined();
  for (const type of ["InfrastructureReady", "ControlPlaneAvailable"])
    expect(conditionText(cluster, type)).toBe(
      "False/ObjectDoesNotExist: Waiting for cluster topology to be reconciled",
    );
});

test("counts what a WorkerPool wants, not what its deployments are scaled to", async () => {
  const plane = await corePlane();
  planes.push(plane);
  await addCluster(plane);
  for (const template of templates("t1")) await plane.user.create(template);
  const pool = await plane.user.create({
    apiVersion: WorkerPool.apiVersion,
    kind: WorkerPool.kind,
    metadata: { namespace: NAMESPACE, name: "p" },
    spec: {
      clusterName: "c1",
      replicas: 7,
      template: { spec: {} },
      members: [
        {
          name: "own",
          bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "TestConfigTemplate", name: "t1" } },
          infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "TestMachineTemplate", name: "t1" },
        },
      ],
    },
  } as Unstructured);
  const owner = { apiVersion: pool.apiVersion, kind: pool.kind, name: "p", uid: pool.metadata.uid ?? "" };
  const member = deployment("p-own", "t1", 2);
  await plane.user.create({ ...member, metadata: { ...member.metadata, ownerReferences: [owner] } });
  await plane.user.create(deployment("md", "t1", 1));
  await plane.settle(10_000);
  const workers = async () => (await existing(plane, Cluster, "c1")).status?.workers;
  expect(await workers()).toMatchObject({ desiredReplicas: 8, replicas: 3, availableReplicas: 3 });
  await plane.user.patch(pool, { spec: { replicas: 2 } });
  await plane.settle(1000);
  expect(await workers()).toMatchObject({ desiredReplicas: 3, availableReplicas: 3 });
});
