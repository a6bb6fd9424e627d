import { Machine, MachineDeployment, PROGRESS_DEADLINE_ANNOTATION } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
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

const MD = { kind: MachineDeployment, namespace: NAMESPACE, name: "md" };
const MINUTE_MS = 60_000;
let plane: Plane;
let workload: Client;

beforeEach(async () => {
  plane = await corePlane();
  workload = await addCluster(plane);
  for (const template of [...templates("t1"), ...templates("bad", { never: true })]) await plane.user.create(template);
  await plane.user.create(deployment("md", "t1", 2));
  await plane.settle(5000);
});

afterEach(() => plane.close());

const progress = async (): Promise<string> =>
  conditionText(await existing(plane, MachineDeployment, "md"), "Progressing");

test("a rollout that makes no progress for ten minutes is a condition, and what serves stays Available", async () => {
  expect(await progress()).toBe("True/Complete");
  await plane.user.patch(MD, { spec: { template: { spec: { infrastructureRef: { name: "bad" } } } } });
  await plane.settle(9 * MINUTE_MS);
  expect(await progress()).toBe("True/Progressing: 0 of 2 Machines are up to date and joined");
  await plane.settle(2 * MINUTE_MS);
  const [stuck] = (await listed(plane, Machine)).filter(({ status }) => status?.nodeRef === undefined);
  expect(await progress()).toMatch(
    new RegExp(
      `^False/ProgressDeadlineExceeded: no progress for 10m: Machine ${stuck?.metadata.name} has not joined: .+; see: capstan why c1 -n ${NAMESPACE}$`,
    ),
  );
  expect(conditionText(await existing(plane, MachineDeployment, "md"), "Available")).toBe("True/Available");
  const { writes } = plane;
  await plane.settle(60 * MINUTE_MS);
  expect(plane.writes, "a stuck rollout is silent").toBe(writes);

  await plane.user.patch(MD, { spec: { template: { spec: { infrastructureRef: { name: "t1" } } } } });
  await plane.settle(MINUTE_MS);
  expect(await progress()).toBe("True/Complete");
});

test("the deadline can be set", async () => {
  await plane.user.patch(MD, {
    metadata: { annotations: { [PROGRESS_DEADLINE_ANNOTATION]: "120" } },
    spec: { template: { spec: { infrastructureRef: { name: "bad" } } } },
  });
  await plane.settle(3 * MINUTE_MS);
  expect(await progress()).toContain("False/ProgressDeadlineExceeded: no progress for 2m: ");
});

test("Machines that are replaced again and again are no progress", async () => {
  await plane.user.patch(MD, { spec: { template: { spec: { infrastructureRef: { name: "bad" } } } } });
  for (let i = 0; i < 6; i++) {
    await plane.settle(2 * MINUTE_MS);
    for (const machine of (await listed(plane, Machine)).filter(({ status }) => status?.nodeRef === undefined))
      await plane.user.delete(machine);
  }
  await plane.settle(1000);
  expect(await progress()).toContain("False/ProgressDeadlineExceeded");
});

const NODE = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false } as const;

/** Gives every Node a status. */
async function onNodes(status: object): Promise<void> {
  for (const machine of await listed(plane, Machine))
    await workload.patchStatus({ kind: NODE, name: machine.status?.nodeRef?.name ?? "" }, { status });
}

test("a Node that fails after the rollout is no rollout", async () => {
  await onNodes({ conditions: [{ type: "Ready", status: "False", reason: "X", message: "" }] });
  await plane.settle(20 * MINUTE_MS);
  expect(await progress()).toBe("True/Complete");
});

test("a Node of another patch release is reported and leaves its Machine up to date", async () => {
  await onNodes({ nodeInfo: { kubeletVersion: "v1.34.9" } });
  await plane.settle(MINUTE_MS);
  for (const machine of await listed(plane, Machine))
    expect(conditionText(machine, "UpToDate")).toBe(
      "True/UpToDate: * Node runs v1.34.9, a different patch release of v1.34.4",
    );
  const md = await existing(plane, MachineDeployment, "md");
  expect(md.status).toMatchObject({ upToDateReplicas: 2, phase: "Running" });
  await plane.settle(20 * MINUTE_MS);
  expect(await progress()).toBe("True/Complete");
});

test("a Node of another minor is out of date, and after the deadline the condition says so", async () => {
  await plane.settle(20 * MINUTE_MS);
  await onNodes({ nodeInfo: { kubeletVersion: "v1.33.9" } });
  await plane.settle(9 * MINUTE_MS);
  expect((await existing(plane, MachineDeployment, "md")).status).toMatchObject({ upToDateReplicas: 0 });
  expect(await progress()).toContain("True/Progressing");
  await plane.settle(2 * MINUTE_MS);
  expect(await progress()).toMatch(
    /^False\/ProgressDeadlineExceeded: no progress for 10m: Machine md-\S+: Node runs version v1\.33\.9, v1\.34\.4 required; use an image or an installer that brings that version/,
  );
});
