import { findCondition } from "@capstan/apimachinery";
import { Cluster, conditionsOf, MachineDeployment, WorkerPool } from "@capstan/capi";
import { demoObjects } from "capstan";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { CommandPlane } from "./plane.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let plane: CommandPlane;

beforeAll(async () => {
  plane = await CommandPlane.start();
  for (const object of demoObjects()) await plane.client.create(object);
  await until(async () => (await pool()).status?.availableReplicas === 4 && (await isAvailable()));
});

afterAll(() => plane.stop());

async function until(reached: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 3000; i++) {
    if (await reached()) return;
    let passed = false;
    await plane.until(() => {
      const now = passed;
      passed = true;
      return now;
    });
  }
  throw new Error("it never came to pass");
}

async function pool(): Promise<WorkerPool> {
  const found = await plane.client.get(WorkerPool, { namespace: "default", name: "general" });
  if (found === undefined) throw new Error("there is no pool");
  return found;
}

async function isAvailable(): Promise<boolean> {
  const cluster = await plane.client.get(Cluster, { namespace: "default", name: "demo" });
  return findCondition(conditionsOf(cluster ?? {}), "Available")?.status === "True";
}

test("capstan upgrade apply brings the demo to the new version, workers included", async () => {
  expect((await plane.run("upgrade plan demo")).out).toMatch(/^demo +v1\.36\.3 .* v1\.37\.1 +up to date$/m);
  const result = await plane.run("upgrade apply demo --to v1.37.1");
  expect(result).toMatchObject({ code: 0, out: "cluster/demo is upgraded to v1.37.1\n" });
  expect(result.err).toContain("pool general: v1.37.1\n");
  expect((await plane.run("upgrade plan demo")).out).toMatch(
    /^demo +v1\.37\.1 +(until|ended) 2027-10-28 +v1\.37\.1 +- +up to date$/m,
  );
});

test("capstan retry workerpool clears the cool-down of its members", async () => {
  const metal = async (): Promise<MachineDeployment | undefined> =>
    await plane.client.get(MachineDeployment, { namespace: "default", name: "general-metal" });
  expect(await plane.run("retry workerpool general")).toMatchObject({
    code: 0,
    out: "workerpool/general: no member is cooling down\n",
  });
  // Three hosts of metal and the two own hosts that the member may have: two replicas find no host.
  await plane.run("scale workerpool general --replicas 7 --no-wait");
  await until(async () => (await pool()).status?.members?.some(({ state }) => state === "CoolingDown") === true);
  expect((await pool()).status?.members?.find(({ name }) => name === "metal")).toMatchObject({
    state: "CoolingDown",
    cause: "Full",
  });
  const before = await metal();
  expect(before?.spec.replicas).toBe(3);
  expect(await plane.run("retry workerpool general")).toMatchObject({
    code: 0,
    out: "workerpool/general retries its members: metal\n",
  });
  // Each question and each refusal is a change of the number asked for.
  await until(async () => ((await metal())?.metadata.generation ?? 0) > (before?.metadata.generation ?? 0));
});

test("capstan retry workerpool reports a pool that does not exist", async () => {
  const result = await plane.run("retry workerpool nothing");
  expect(result.code).not.toBe(0);
  expect(result.err).toContain("workerpool default/nothing not found");
  expect(result.err).toContain("capstan get workerpools -A");
});
