import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, Machine, MachineDeployment, MachineSet } from "@capstan/capi";
import { afterEach, describe, expect, test } from "vitest";
import {
  addCluster,
  conditionText,
  corePlane,
  deployment,
  existing,
  listed,
  machineTemplateSpec,
  templates,
} from "../testing/core-plane.ts";
import { NAMESPACE } from "../testing/objects.ts";
import type { Plane } from "../testing/plane.ts";
import {
  TestConfig,
  TestConfigTemplate,
  TestControlPlane,
  TestMachine,
  TestMachineTemplate,
} from "../testing/test-infrastructure.ts";

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(withTemplates = true): Promise<Plane> {
  const plane = await corePlane();
  planes.push(plane);
  await addCluster(plane);
  if (withTemplates) for (const template of templates("t1")) await plane.user.create(template);
  return plane;
}

const MS = { kind: MachineSet, namespace: NAMESPACE, name: "ms" };

async function addSet(plane: Plane, replicas: number, spec: object = {}): Promise<void> {
  const labels = { set: "ms" };
  await plane.user.create({
    apiVersion: MachineSet.apiVersion,
    kind: MachineSet.kind,
    metadata: { namespace: NAMESPACE, name: "ms" },
    spec: {
      clusterName: "c1",
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: machineTemplateSpec("t1") },
      ...spec,
    },
  } as Unstructured);
  await plane.settle(5000);
}

const names = async (plane: Plane): Promise<string[]> =>
  (await listed(plane, Machine)).map(({ metadata }) => metadata.name ?? "").sort();

describe("MachineSet", () => {
  test("clones templates as the contract says", async () => {
    const plane = await start();
    await addSet(plane, 1);
    const [machine] = await listed(plane, Machine);
    const name = machine?.metadata.name ?? "";
    expect(name).toMatch(/^ms-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    for (const kind of [TestMachine, TestConfig]) {
      const clone = await existing(plane, kind as typeof TestMachine, name);
      expect(clone.metadata.annotations).toMatchObject({
        "cluster.x-k8s.io/cloned-from-name": "t1",
        "cluster.x-k8s.io/cloned-from-groupkind": `${kind.kind}Template.${kind.group}`,
      });
      expect(clone.metadata.labels).toMatchObject({
        "cluster.x-k8s.io/cluster-name": "c1",
        "cluster.x-k8s.io/set-name": "ms",
        set: "ms",
      });
      expect(clone.metadata.ownerReferences).toMatchObject([{ kind: "Machine", name, controller: true }]);
    }
    const template = await existing(plane, TestMachineTemplate, "t1");
    expect(template.metadata.ownerReferences).toMatchObject([{ kind: "Cluster", name: "c1" }]);
    expect((await existing(plane, MachineSet, "ms")).status).toMatchObject({
      replicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      selector: "set=ms",
      versions: [{ version: "v1.34.4", replicas: 1 }],
    });
  });

  test("with a bad selector says so, makes nothing and can be deleted", async () => {
    const plane = await start();
    await addSet(plane, 1, { selector: { matchLabels: { set: "b c" } } });
    const set = await existing(plane, MachineSet, "ms");
    expect(plane.failures).toEqual([]);
    expect(conditionText(set, "ScalingUp")).toContain("blocked because:\n* spec.selector is not a valid selector");
    expect(set.status?.selector).toBeUndefined();
    expect(await names(plane)).toEqual([]);
    expect(plane.failures).toEqual([]);
    await plane.user.delete(MS);
    await plane.settle(5000);
    expect(await listed(plane, MachineSet)).toEqual([]);
  });

  test("names Machines by template", async () => {
    const plane = await start();
    await addSet(plane, 1, { machineNaming: { template: "{{ .cluster.name }}-w-{{ .random }}" } });
    expect((await names(plane))[0]).toMatch(/^c1-w-.{5}$/);
  });

  test("waits for a template and continues when it exists", async () => {
    const plane = await start(false);
    await addSet(plane, 2);
    expect(conditionText(await existing(plane, MachineSet, "ms"), "ScalingUp")).toBe(
      "True/ScalingUp: Scaling up from 0 to 2 replicas is blocked because:\n* TestConfigTemplate t1 does not exist",
    );
    for (const template of templates("t1")) await plane.user.create(template);
    await plane.settle(1000);
    expect(await names(plane)).toHaveLength(2);
    expect(conditionText(await existing(plane, MachineSet, "ms"), "ScalingUp")).toBe("False/NotScalingUp");
    expect(plane.failures).toEqual([]);
    // A template that is gone is missed before the next Machine is.
    await plane.user.delete({ kind: TestConfigTemplate, namespace: NAMESPACE, name: "t1" });
    await plane.settle(1000);
    expect(conditionText(await existing(plane, MachineSet, "ms"), "ScalingUp")).toBe(
      "False/NotScalingUp: Scaling up would be blocked because: TestConfigTemplate t1 does not exist",
    );
  });

  test("waits for a stable control plane and is woken by it", async () => {
    const plane = await start();
    const controlPlane = { kind: TestControlPlane, namespace: NAMESPACE, name: "c1" };
    await plane.user.patch(controlPlane, { spec: { version: "v1.34.5" } });
    await addSet(plane, 1);
    expect(conditionText(await existing(plane, MachineSet, "ms"), "ScalingUp")).toMatch(
      /TestControlPlane c1 is upgrading \("ControlPlaneIsStable" preflight check failed\)/,
    );
    await plane.user.patchStatus(controlPlane, { status: { version: "v1.34.5" } });
    await plane.settle(100);
    expect(await names(plane)).toHaveLength(1);
  });

  test("adopts Machines its selector matches and lets go of none it does not", async () => {
    const plane = await start();
    const lone = (name: string, labels: Record<string, string>): Unstructured =>
      ({
        apiVersion: Machine.apiVersion,
        kind: Machine.kind,
        metadata: { namespace: NAMESPACE, name, labels },
        spec: { ...machineTemplateSpec("t1"), bootstrap: { dataSecretName: "s" } },
      }) as Unstructured;
    await plane.user.create(lone("mine", { set: "ms" }));
    await plane.user.create(lone("other", { set: "x" }));
    await addSet(plane, 1);
    expect(await names(plane)).toEqual(["mine", "other"]);
    const owners = async (name: string): Promise<string[]> =>
      ((await existing(plane, Machine, name)).metadata.ownerReferences ?? []).map(({ kind }) => kind);
    expect(await owners("mine")).toContain("MachineSet");
    expect(await owners("other")).not.toContain("MachineSet");
  });

  test("deletes the annotated Machine first, and none twice", async () => {
    const plane = await start();
    await addSet(plane, 3);
    const [first, second, third] = await names(plane);
    await plane.user.patch(
      { kind: Machine, namespace: NAMESPACE, name: third ?? "" },
      { metadata: { annotations: { "cluster.x-k8s.io/delete-machine": "" } } },
    );
    await plane.user.patch(MS, { spec: { replicas: 2 } });
    await plane.settle(60_000);
    expect(await names(plane)).toEqual([first, second]);
  });

  test("replaces what a health check gives up, within the limit of its deployment", async () => {
    const plane = await start();
    await plane.user.create(deployment("md", "t1", 3, { remediation: { maxInFlight: 1 } }));
    await plane.settle(5000);
    const before = await names(plane);
    const bad = (type: string, reason: string): object => ({
      type,
      status: "False",
      reason,
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    });
    // A hook keeps the first from going, so that the second has to wait.
    for (const name of before.slice(0, 2)) {
      const target = { kind: Machine, namespace: NAMESPACE, name };
      await plane.user.patch(target, {
        metadata: { annotations: { "pre-terminate.delete.hook.machine.cluster.x-k8s.io/t": "" } },
      });
      await plane.user.applyStatus(
        {
          apiVersion: Machine.apiVersion,
          kind: Machine.kind,
          metadata: { namespace: NAMESPACE, name },
          status: {
            conditions: [bad("HealthCheckSucceeded", "UnhealthyNode"), bad("OwnerRemediated", "WaitingForRemediation")],
          },
        } as Unstructured,
        { fieldManager: "health-check" },
      );
      await plane.settle(5000);
    }
    const reasons = async (): Promise<string[]> =>
      Promise.all(
        before.slice(0, 2).map(async (name) => conditionText(await existing(plane, Machine, name), "OwnerRemediated")),
      );
    expect(await reasons()).toEqual([
      "False/MachineDeleting: Machine is deleting",
      expect.stringMatching(/^False\/RemediationDeferred: Waiting because there are already too many/),
    ]);
    for (const name of before.slice(0, 2))
      await plane.user.patch(
        { kind: Machine, namespace: NAMESPACE, name },
        { metadata: { annotations: { "pre-terminate.delete.hook.machine.cluster.x-k8s.io/t": null } } },
      );
    await plane.settle(60_000);
    const after = await names(plane);
    expect(after).toHaveLength(3);
    expect(after.filter((name) => before.includes(name))).toEqual([before[2]]);
    expect((await existing(plane, MachineDeployment, "md")).status?.availableReplicas).toBe(3);
  });

  test("rests while the cluster is paused", async () => {
    const plane = await start();
    await plane.user.patch({ kind: Cluster, namespace: NAMESPACE, name: "c1" }, { spec: { paused: true } });
    await addSet(plane, 1);
    expect(await names(plane)).toEqual([]);
    expect(conditionText(await existing(plane, MachineSet, "ms"), "Paused")).toMatch(/^True\/Paused/);
  });
});
