import { findCondition } from "@capstan/apimachinery";
import { conditionsOf, Machine, MachineDeployment, MachineSet } from "@capstan/capi";
import { afterEach, describe, expect, test } from "vitest";
import { addCluster, corePlane, deployment, templates } from "../testing/core-plane.ts";
import { NAMESPACE } from "../testing/objects.ts";
import type { Plane } from "../testing/plane.ts";
import { TestConfig, TestMachine } from "../testing/test-infrastructure.ts";

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(): Promise<Plane> {
  const plane = await corePlane();
  planes.push(plane);
  return plane;
}

async function list<T extends Parameters<Plane["user"]["list"]>[0]>(plane: Plane, kind: T) {
  return (await plane.user.list(kind, { namespace: NAMESPACE })).items;
}

describe("MachineDeployment", () => {
  test("from nothing to Running and back to nothing", async () => {
    const plane = await start();
    const workload = await addCluster(plane);
    for (const template of templates("t1")) await plane.user.create(template);
    await plane.user.create(deployment("md", "t1", 3));
    await plane.settle(5000);
    expect(plane.failures).toEqual([]);
    const [machine] = (await plane.user.list(Machine)).items;
    expect(machine?.status).toMatchObject({ phase: "Running", nodeRef: { name: machine?.metadata.name } });
    const md = await plane.user.get(MachineDeployment, { namespace: NAMESPACE, name: "md" });
    expect(md?.status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      upToDateReplicas: 3,
      phase: "Running",
    });
    expect(findCondition(conditionsOf(md ?? {}), "Available")?.status).toBe("True");
    expect(await list(plane, TestMachine)).toHaveLength(3);
    const writes = plane.writes;
    await plane.settle(600_000);
    expect(plane.writes).toBe(writes);
    await plane.user.delete({ kind: MachineDeployment, namespace: NAMESPACE, name: "md" });
    await plane.settle(60_000);
    expect(plane.failures).toEqual([]);
    for (const kind of [MachineDeployment, MachineSet, Machine, TestMachine, TestConfig])
      expect(await list(plane, kind)).toEqual([]);
    void workload;
  });
});
