import { findCondition, formatTime, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { Cluster, conditionsOf, Machine, MachineHealthCheck } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { addCoreIndexes } from "../controllers.ts";
import { addMachineIndexes } from "../shared/indexes.ts";
import { machine, NAMESPACE, put, readyCluster, since } from "../testing/objects.ts";
import { crashAtEveryWrite, Plane } from "../testing/plane.ts";
import { addMachineHealthCheckIndexes, machineHealthCheckController } from "./machine-health-check.controller.ts";

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

function crd(kind: string): Unstructured {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.toLowerCase()}s.infra.test` },
    spec: {
      group: "infra.test",
      scope: "Namespaced",
      names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  };
}

async function start(clock = new VirtualClock()): Promise<Plane> {
  const plane = await Plane.start({
    crds: [Cluster.crd(), Machine.crd(), MachineHealthCheck.crd(), crd("RebootTemplate"), crd("Reboot")],
    indexes: (cache) => {
      addCoreIndexes(cache);
      addMachineIndexes(cache);
      addMachineHealthCheckIndexes(cache);
    },
    controllers: ({ workload }) => [machineHealthCheckController(workload)],
    clock,
  });
  planes.push(plane);
  return plane;
}

function check(over: object = {}): Unstructured {
  return {
    apiVersion: MachineHealthCheck.apiVersion,
    kind: MachineHealthCheck.kind,
    metadata: { namespace: NAMESPACE, name: "check" },
    spec: {
      clusterName: "c",
      selector: { matchLabels: { pool: "a" } },
      checks: { unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 300 }] },
      ...over,
    },
  };
}

function node(name: string, status: string, time: string): Unstructured {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    status: { conditions: [since("Ready", status, time)] },
  };
}

/** A cluster with Machines m0… that all have ready Nodes n0…, and a check. */
async function fleet(plane: Plane, count: number, over: object = {}): Promise<Client> {
  const now = formatTime(plane.clock.now());
  await put(plane.user, readyCluster("c", now));
  const workload = await plane.addWorkload(NAMESPACE, "c");
  for (let i = 0; i < count; i++) {
    await put(workload, node(`n${i}`, "True", now));
    await put(plane.user, machine("c", `m${i}`, `n${i}`, { pool: "a" }));
  }
  await put(plane.user, check(over));
  await plane.settle();
  return workload;
}

async function breakNode(workload: Client, plane: Plane, name: string): Promise<void> {
  await workload.patchStatus(node(name, "Unknown", ""), {
    status: { conditions: [since("Ready", "Unknown", formatTime(plane.clock.now()))] },
  });
  await plane.settle();
}

async function conditionOf(plane: Plane, name: string, type: string) {
  const found = await plane.user.get(Machine, { namespace: NAMESPACE, name });
  return findCondition(conditionsOf(found ?? {}), type);
}

const statusOf = async (plane: Plane) =>
  (await plane.user.get(MachineHealthCheck, { namespace: NAMESPACE, name: "check" }))?.status;

describe("a MachineHealthCheck", () => {
  test("with a bad selector says so and is no trouble to others", async () => {
    const plane = await start();
    const bad = check({ selector: { matchLabels: { pool: "b c" } } });
    await plane.user.create({ ...bad, metadata: { ...bad.metadata, name: "bad" } });
    const workload = await fleet(plane, 1);
    await breakNode(workload, plane, "n0");
    await plane.clock.advance(330_000);
    expect(await conditionOf(plane, "m0", "HealthCheckSucceeded")).toMatchObject({ status: "False" });
    const found = await plane.user.get(MachineHealthCheck, { namespace: NAMESPACE, name: "bad" });
    expect(findCondition(conditionsOf(found ?? {}), "RemediationAllowed")).toMatchObject({
      status: "Unknown",
      reason: "InvalidSelector",
      message: expect.stringContaining("spec.selector is not a valid selector"),
    });
    expect(plane.failures).toEqual([]);
  });

  test("reports health, owns itself to the Cluster, and is silent then", async () => {
    const plane = await start();
    await fleet(plane, 2);
    expect(await statusOf(plane)).toMatchObject({ expectedMachines: 2, currentHealthy: 2, targets: ["m0", "m1"] });
    const found = await plane.user.get(MachineHealthCheck, { namespace: NAMESPACE, name: "check" });
    expect(found?.metadata.ownerReferences).toMatchObject([{ kind: "Cluster", name: "c" }]);
    expect(found?.metadata.labels).toEqual({ "cluster.x-k8s.io/cluster-name": "c" });
    expect(await conditionOf(plane, "m0", "HealthCheckSucceeded")).toMatchObject({ status: "True" });
    const { writes } = plane;
    await plane.clock.advance(600_000);
    expect(plane.writes).toBe(writes);
    expect(plane.failures).toEqual([]);
  });

  test("asks the owner to repair after the timeout, not before, and forgets nothing of the owner's", async () => {
    const plane = await start();
    const workload = await fleet(plane, 2);
    await breakNode(workload, plane, "n0");
    await plane.clock.advance(295_000);
    expect(await conditionOf(plane, "m0", "OwnerRemediated")).toBeUndefined();
    expect(await statusOf(plane)).toMatchObject({ currentHealthy: 1 });
    await plane.clock.advance(10_000);
    expect(await conditionOf(plane, "m0", "HealthCheckSucceeded")).toMatchObject({
      status: "False",
      reason: "UnhealthyNode",
    });
    expect(await conditionOf(plane, "m0", "OwnerRemediated")).toMatchObject({
      status: "False",
      reason: "WaitingForRemediation",
    });
    expect(plane.events).toMatchObject([{ object: "Machine/m0", reason: "MachineMarkedUnhealthy" }]);
    // Well again: the check says so; the request for repair is the owner's to take back.
    await workload.patchStatus(node("n0", "True", ""), {
      status: { conditions: [since("Ready", "True", formatTime(plane.clock.now()))] },
    });
    await plane.settle();
    expect(await conditionOf(plane, "m0", "HealthCheckSucceeded")).toMatchObject({ status: "True" });
    expect(await conditionOf(plane, "m0", "OwnerRemediated")).toMatchObject({ status: "False" });
  });

  test("a deleted Node is noticed at once where Nodes have been followed for a minute; a cluster that does not answer is no reason", async () => {
    const plane = await start();
    const workload = await fleet(plane, 2);
    await plane.clock.advance(61_000);
    await workload.delete(node("n1", "True", ""));
    await plane.settle();
    expect(await conditionOf(plane, "m1", "HealthCheckSucceeded")).toMatchObject({ reason: "NodeDeleted" });
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace: NAMESPACE, name: "c-kubeconfig" } };
    await plane.user.delete(secret as Unstructured);
    await plane.clock.advance(3_600_000);
    expect(await conditionOf(plane, "m0", "HealthCheckSucceeded")).toMatchObject({ status: "True" });
  });

  test("a Node that is missing when the connection is made has a minute to come back", async () => {
    const plane = await start();
    const workload = await fleet(plane, 2);
    await workload.delete(node("n1", "True", ""));
    await plane.clock.advance(50_000);
    expect(await conditionOf(plane, "m1", "HealthCheckSucceeded")).not.toMatchObject({ status: "False" });
    await plane.clock.advance(15_000);
    expect(await conditionOf(plane, "m1", "HealthCheckSucceeded")).toMatchObject({ reason: "NodeDeleted" });
  });

  test("too many unhealthy: no Machine is repaired, and one event says so", async () => {
    const plane = await start();
    const workload = await fleet(plane, 3, { remediation: { triggerIf: { unhealthyLessThanOrEqualTo: "40%" } } });
    for (const name of ["n0", "n1"]) await breakNode(workload, plane, name);
    await plane.clock.advance(400_000);
    expect(await conditionOf(plane, "m0", "HealthCheckSucceeded")).toMatchObject({ status: "False" });
    expect(await conditionOf(plane, "m0", "OwnerRemediated")).toBeUndefined();
    expect(findCondition(conditionsOf({ status: await statusOf(plane) }), "RemediationAllowed")).toMatchObject({
      status: "False",
      reason: "TooManyUnhealthy",
    });
    expect(new Set(plane.events.map(({ reason }) => reason))).toEqual(new Set(["RemediationRestricted"]));
    const { writes } = plane;
    await plane.clock.advance(400_000);
    expect(plane.writes).toBe(writes);
  });

  test("Machines that are paused or excepted are no targets", async () => {
    const plane = await start();
    await fleet(plane, 2);
    for (const [name, annotation] of [
      ["m0", "cluster.x-k8s.io/paused"],
      ["m1", "cluster.x-k8s.io/skip-remediation"],
    ])
      await plane.user.patch(machine("c", name ?? ""), { metadata: { annotations: { [annotation ?? ""]: "" } } });
    await plane.settle();
    expect(await statusOf(plane)).toMatchObject({ expectedMachines: 0 });
  });

  test("the template's object is made for an unhealthy Machine, once, and goes when it is well again", async () => {
    const plane = await start();
    const templateRef = { apiVersion: "infra.test/v1", kind: "RebootTemplate", name: "reboot" };
    const workload = await fleet(plane, 1, { remediation: { templateRef } });
    await breakNode(workload, plane, "n0");
    await plane.clock.advance(302_000);
    expect(await conditionOf(plane, "m0", "ExternallyRemediated")).toMatchObject({
      status: "False",
      reason: "RemediationTemplateNotFound",
    });
    await plane.user.create({
      apiVersion: "infra.test/v1",
      kind: "RebootTemplate",
      metadata: { namespace: NAMESPACE, name: "reboot" },
      spec: { template: { spec: { hard: true } } },
    } as Unstructured);
    await plane.settle();
    const kind = { group: "infra.test", version: "v1", kind: "Reboot", plural: "reboots", namespaced: true };
    const made = await plane.user.get(kind, { namespace: NAMESPACE, name: "m0" });
    expect(made).toMatchObject({
      metadata: { ownerReferences: [{ kind: "Machine", name: "m0" }] },
      spec: { hard: true },
    });
    expect(await conditionOf(plane, "m0", "ExternallyRemediated")).toMatchObject({ reason: "WaitingForRemediation" });
    expect(await conditionOf(plane, "m0", "OwnerRemediated")).toBeUndefined();
    await workload.patchStatus(node("n0", "True", ""), {
      status: { conditions: [since("Ready", "True", formatTime(plane.clock.now()))] },
    });
    await plane.settle();
    expect(await plane.user.get(kind, { namespace: NAMESPACE, name: "m0" })).toBeUndefined();
    expect(plane.failures).toEqual([]);
  });

  test("reports a request whose manager was killed before it could, after the template had been missing", async () => {
    const plane = await start();
    const templateRef = { apiVersion: "infra.test/v1", kind: "RebootTemplate", name: "reboot" };
    const workload = await fleet(plane, 1, { remediation: { templateRef } });
    await breakNode(workload, plane, "n0");
    await plane.clock.advance(302_000);
    expect(await conditionOf(plane, "m0", "ExternallyRemediated")).toMatchObject({
      reason: "RemediationTemplateNotFound",
    });
    await plane.stopControllers();
    for (const [kind, name, spec] of [
      ["RebootTemplate", "reboot", { template: { spec: {} } }],
      ["Reboot", "m0", {}],
    ] as const)
      await plane.user.create({ apiVersion: "infra.test/v1", kind, metadata: { namespace: NAMESPACE, name }, spec });
    await plane.startControllers();
    await plane.clock.advance(330_000);
    expect(await conditionOf(plane, "m0", "ExternallyRemediated")).toMatchObject({ reason: "WaitingForRemediation" });
  });

  test("a paused Cluster stops it", async () => {
    const plane = await start();
    const workload = await fleet(plane, 1);
    await plane.user.patch(readyCluster("c", ""), { spec: { paused: true } });
    await plane.settle();
    await breakNode(workload, plane, "n0");
    await plane.clock.advance(400_000);
    expect(await conditionOf(plane, "m0", "HealthCheckSucceeded")).toMatchObject({ status: "True" });
    expect(findCondition(conditionsOf({ status: await statusOf(plane) }), "Paused")).toMatchObject({ status: "True" });
  });

  test("a machine that wakes from sleep does not start remediating", async () => {
    const clock = new JumpingClock();
    const plane = await start(clock);
    const workload = await fleet(plane, 1);
    await breakNode(workload, plane, "n0");
    clock.sleepMs(8 * 3_600_000);
    await clock.advance(290_000);
    expect(await conditionOf(plane, "m0", "HealthCheckSucceeded")).toMatchObject({ status: "True" });
    await clock.advance(30_000);
    expect(await conditionOf(plane, "m0", "HealthCheckSucceeded")).toMatchObject({ status: "False" });
  });

  test("asks for one repair from outside and says so, when killed after any write too", async () => {
    const templateRef = { apiVersion: "infra.test/v1", kind: "RebootTemplate", name: "reboot" };
    const kind = { group: "infra.test", version: "v1", kind: "Reboot", plural: "reboots", namespaced: true };
    const writes = await crashAtEveryWrite({
      start: async () => {
        const plane = await start();
        await plane.user.create({
          apiVersion: "infra.test/v1",
          kind: "RebootTemplate",
          metadata: { namespace: NAMESPACE, name: "reboot" },
          spec: { template: { spec: { hard: true } } },
        } as Unstructured);
        return plane;
      },
      act: async (plane) => {
        const workload = await fleet(plane, 2, { remediation: { templateRef } });
        await breakNode(workload, plane, "n0");
      },
      wait: (plane) => plane.clock.advance(330_000),
      state: async (plane) => ({
        repairs: (await plane.user.list(kind)).items.map(({ metadata }) => metadata.name),
        condition: (await conditionOf(plane, "m0", "ExternallyRemediated"))?.reason,
        other: await conditionOf(plane, "m1", "ExternallyRemediated"),
      }),
      check: (actual, _, k) =>
        expect(actual, `crashed after write ${k}`).toEqual({
          repairs: ["m0"],
          condition: "WaitingForRemediation",
          other: undefined,
        }),
    });
    expect(writes).toBeGreaterThan(4);
  }, 300_000);

  test("ends the same when killed after any write", async () => {
    const writes = await crashAtEveryWrite({
      start: () => start(),
      act: async (plane) => {
        const workload = await fleet(plane, 2);
        await breakNode(workload, plane, "n0");
      },
      wait: (plane) => plane.clock.advance(330_000),
      state: async (plane) => ({
        status: await statusOf(plane),
        m0: await conditionOf(plane, "m0", "OwnerRemediated"),
        m1: await conditionOf(plane, "m1", "HealthCheckSucceeded"),
      }),
      check: (actual, expected) => {
        expect(actual.status).toMatchObject({ expectedMachines: 2, currentHealthy: 1 });
        expect(actual.m0?.reason).toBe(expected.m0?.reason);
        expect(actual.m1?.status).toBe(expected.m1?.status);
      },
    });
    expect(writes).toBeGreaterThan(4);
  });
});

/** Time of day that jumps forward as when a laptop wakes, with timers that waited meanwhile. */
class JumpingClock extends VirtualClock {
  #slept = 0;

  sleepMs(ms: number): void {
    this.#slept += ms;
  }

  override now(): number {
    return super.now() + this.#slept;
  }
}
