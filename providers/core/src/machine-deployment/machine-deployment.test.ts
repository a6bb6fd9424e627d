import { formatTime, type Unstructured } from "@capstan/apimachinery";
import { Machine, MachineDeployment, MachineSet } from "@capstan/capi";
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
import { TestConfig, TestMachine } from "../testing/test-infrastructure.ts";
import { revisionOf } from "./revision.ts";

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

const MD = { kind: MachineDeployment, namespace: NAMESPACE, name: "md" };

/** A plane with a cluster and a deployment that is Running. */
async function start(replicas: number, spec: object = {}): Promise<Plane> {
  const plane = await corePlane();
  planes.push(plane);
  await addCluster(plane);
  for (const name of ["t1", "t2", "t3"]) for (const template of templates(name)) await plane.user.create(template);
  await plane.user.create(deployment("md", "t1", replicas, spec));
  await plane.settle(5000);
  return plane;
}

async function useTemplate(plane: Plane, name: string): Promise<void> {
  await plane.user.patch(MD, { spec: { template: { spec: { infrastructureRef: { name } } } } });
}

/** Sets as `revision template replicas`, newest first. */
async function setTexts(plane: Plane): Promise<string[]> {
  return (await listed(plane, MachineSet))
    .sort((a, b) => revisionOf(b) - revisionOf(a))
    .map((set) => `${revisionOf(set)} ${set.spec.template.spec.infrastructureRef.name} ${set.spec.replicas}`);
}

describe("MachineDeployment", () => {
  test("from nothing to Running, silent then, and back to nothing", async () => {
    const plane = await start(3);
    expect(plane.failures).toEqual([]);
    const md = await existing(plane, MachineDeployment, "md");
    expect(md.status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      upToDateReplicas: 3,
      phase: "Running",
      selector: "cluster.x-k8s.io/deployment-name=md",
      versions: [{ version: "v1.34.4", replicas: 3 }],
    });
    for (const type of ["Available", "MachinesReady", "MachinesUpToDate"])
      expect(conditionText(md, type)).toMatch(/^True/);
    expect(conditionText(md, "RollingOut")).toBe("False/NotRollingOut");
    expect(await listed(plane, TestMachine)).toHaveLength(3);
    const { writes } = plane;
    await plane.settle(3_600_000);
    expect(plane.writes).toBe(writes);

    await plane.user.delete(MD);
    await plane.settle(60_000);
    expect(plane.failures).toEqual([]);
    for (const kind of [MachineDeployment, MachineSet, Machine, TestMachine, TestConfig])
      expect(await listed(plane, kind as typeof Machine)).toEqual([]);
  });

  test("with a bad selector says so and makes nothing", async () => {
    const plane = await start(1, { selector: { matchLabels: { a: "b c" } } });
    expect(conditionText(await existing(plane, MachineDeployment, "md"), "ScalingUp")).toContain(
      "blocked because:\n* spec.selector is not a valid selector",
    );
    expect(await listed(plane, MachineSet)).toEqual([]);
    expect(plane.failures).toEqual([]);
  });

  test("a new template replaces all Machines and keeps the old set as history", async () => {
    const plane = await start(3);
    const before = new Set((await listed(plane, Machine)).map((machine) => machine.metadata.uid));
    await useTemplate(plane, "t2");
    await plane.settle(60_000);
    expect(await setTexts(plane)).toEqual(["2 t2 3", "1 t1 0"]);
    const machines = await listed(plane, Machine);
    expect(machines).toHaveLength(3);
    expect(machines.some((machine) => before.has(machine.metadata.uid))).toBe(false);
    const md = await existing(plane, MachineDeployment, "md");
    expect(md.status).toMatchObject({ upToDateReplicas: 3, availableReplicas: 3, phase: "Running" });
  });

  test("while Machines that never start hold the rollout, it says what is rolling out", async () => {
    const plane = await start(2);
    for (const template of templates("bad", { never: true })) await plane.user.create(template);
    await useTemplate(plane, "bad");
    await plane.settle(60_000);
    const md = await existing(plane, MachineDeployment, "md");
    expect(md.status).toMatchObject({ replicas: 3, availableReplicas: 2, upToDateReplicas: 1 });
    expect(conditionText(md, "RollingOut")).toBe(
      "True/RollingOut: Rolling out 2 not up-to-date replicas\n* TestMachineTemplate is not up-to-date",
    );
    expect(conditionText(md, "Available")).toBe("True/Available");
  });

  test("rolls back by annotation, to the previous revision or to a number, and forgets beyond the limit", async () => {
    const plane = await start(1);
    await useTemplate(plane, "t2");
    await plane.settle(60_000);
    await plane.user.patch(MD, { metadata: { annotations: { "capstan.dev/rollback-to": "" } } });
    await plane.settle(60_000);
    expect(await setTexts(plane)).toEqual(["3 t1 1", "2 t2 0"]);
    const md = await existing(plane, MachineDeployment, "md");
    expect(md.metadata.annotations?.["capstan.dev/rollback-to"]).toBeUndefined();
    expect(md.spec.template.spec.infrastructureRef.name).toBe("t1");

    await plane.user.patch(MD, { metadata: { annotations: { "capstan.dev/rollback-to": "2" } } });
    await plane.settle(60_000);
    expect(await setTexts(plane)).toEqual(["4 t2 1", "3 t1 0"]);

    await plane.user.patch(MD, { metadata: { annotations: { "capstan.dev/rollback-to": "99" } } });
    await plane.settle(60_000);
    expect(plane.events.map(({ reason }) => reason)).toContain("RollbackRevisionNotFound");

    await plane.user.patch(MD, { metadata: { annotations: { "capstan.dev/revision-history-limit": "0" } } });
    await plane.settle(60_000);
    expect(await setTexts(plane)).toEqual(["4 t2 1"]);
  });

  test("OnDelete replaces only what somebody deletes", async () => {
    const plane = await start(2, { rollout: { strategy: { type: "OnDelete" } } });
    await useTemplate(plane, "t2");
    await plane.settle(60_000);
    expect(await setTexts(plane)).toEqual(["2 t2 0", "1 t1 2"]);
    const [victim] = await listed(plane, Machine);
    await plane.user.delete(victim as Unstructured);
    await plane.settle(60_000);
    expect(await setTexts(plane)).toEqual(["2 t2 1", "1 t1 1"]);
    expect(await listed(plane, Machine)).toHaveLength(2);
  });

  test("rollout.after replaces Machines made before, when its time has come", async () => {
    const plane = await start(1);
    const [before] = await listed(plane, Machine);
    await plane.user.patch(MD, { spec: { rollout: { after: formatTime(plane.clock.now() + 60_000) } } });
    await plane.settle(50_000);
    expect((await listed(plane, Machine)).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid]);
    await plane.settle(60_000);
    const after = await listed(plane, Machine);
    expect(after).toHaveLength(1);
    expect(after[0]?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(conditionText(after[0] ?? {}, "UpToDate")).toBe("True/UpToDate");
  });

  test("paused, it scales but does not roll out", async () => {
    const plane = await start(2);
    await plane.user.patch(MD, { spec: { paused: true, template: { spec: { version: "v1.34.5" } } } });
    await plane.user.patch(MD, { spec: { replicas: 3 } });
    await plane.settle(60_000);
    expect((await listed(plane, Machine)).map(({ spec }) => spec.version)).toEqual(["v1.34.4", "v1.34.4", "v1.34.4"]);
    await plane.user.patch(MD, { spec: { paused: false } });
  });

  test("labels, annotations and timeouts reach Machines and their objects in place, and go again", async () => {
    const plane = await start(2);
    const uids = (await listed(plane, Machine)).map(({ metadata }) => metadata.uid);
    await plane.user.patch(MD, {
      spec: {
        template: {
          metadata: { labels: { team: "a" }, annotations: { note: "x" } },
          spec: { deletion: { nodeDrainTimeoutSeconds: 7 }, minReadySeconds: 1 },
        },
      },
    });
    await plane.settle(10_000);
    expect((await listed(plane, Machine)).map(({ metadata }) => metadata.uid)).toEqual(uids);
    const check = async (label: string | undefined, note: string | undefined): Promise<void> => {
      const objects = [
        ...(await listed(plane, Machine)),
        ...(await listed(plane, TestMachine)),
        ...(await listed(plane, TestConfig)),
      ];
      expect(objects).toHaveLength(6);
      for (const { metadata } of objects) {
        expect(metadata.labels?.["team"]).toBe(label);
        expect(metadata.annotations?.["note"]).toBe(note);
        expect(metadata.labels?.["cluster.x-k8s.io/cluster-name"]).toBe("c1");
      }
    };
    await check("a", "x");
    expect((await listed(plane, Machine))[0]?.spec).toMatchObject({
      deletion: { nodeDrainTimeoutSeconds: 7 },
      minReadySeconds: 1,
    });
    await plane.user.patch(MD, {
      spec: { template: { metadata: { labels: { team: null }, annotations: { note: null } } } },
    });
    await plane.settle(10_000);
    await check(undefined, undefined);
  });
});
