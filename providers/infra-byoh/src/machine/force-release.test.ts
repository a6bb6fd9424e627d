import { afterEach, beforeEach, expect, test } from "vitest";
import { Fleet } from "../testing/fleet.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1");
  await fleet.addMachines("m1");
  await fleet.restartManager();
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
});
afterEach(() => fleet.close());

const host = () => fleet.world.agents.host("host1");

/** The Secrets that the agent of host1 may read. */
function readable(): string[] {
  const roles = { group: "rbac.authorization.k8s.io", plural: "roles" };
  const role = fleet.world.server.internal.get(roles, "default", "byoh-host-host1") as
    | { rules?: { resources: string[]; resourceNames: string[] }[] }
    | undefined;
  return (role?.rules ?? []).flatMap((rule) => (rule.resources.includes("secrets") ? rule.resourceNames : []));
}

test("a host that answers is cleaned before its machine is deleted, and can then be claimed again", async () => {
  await fleet.deleteMachine("m1");
  await fleet.pass(1);
  expect(fleet.machine("m1")?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Deleting", reason: "ReleasingHost", message: "host host1 is being cleaned" }),
  );
  await fleet.pass(10);
  expect(fleet.machine("m1")).toBeUndefined();
  expect(host()?.spec).toEqual({});
  expect(fleet.world.agents.running.size).toBe(0);
  await fleet.addMachines("m2");
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m2"]);
});

test("a host that could not report while no manager ran is not given up by the next one before it has listened", async () => {
  fleet.world.agents.silence("host1");
  await fleet.deleteMachine("m1");
  await fleet.pass(10);
  await fleet.stopManager();
  await fleet.pass(3600);
  await fleet.restartManager();
  await fleet.pass(120);
  expect(fleet.machine("m1")).toBeDefined();
  expect(host()?.spec?.machineRef).toBeDefined();
  await fleet.pass(150);
  expect(fleet.machine("m1")).toBeUndefined();
});

test("a host that stopped reporting is given up, cannot be claimed until its agent has cleaned it, and is then free", async () => {
  const uid = fleet.machine("m1")?.metadata.uid;
  fleet.world.agents.silence("host1");
  await fleet.deleteMachine("m1");
  await fleet.pass(120);
  expect(fleet.machine("m1")).toBeDefined();
  await fleet.pass(150);
  expect(fleet.machine("m1")).toBeUndefined();
  expect(host()?.spec).toEqual({
    release: {
      machineUID: uid,
      requestedAt: expect.any(String),
      clusterName: "c1",
      providerID: expect.stringMatching(/^byoh:\/\/host1\//),
    },
  });

  await fleet.addMachines("m2");
  await fleet.pass(60);
  expect(fleet.withReason("InsufficientCapacity")).toEqual(["m2"]);
  expect(fleet.world.agents.running.get("host1")).toBe(uid);

  // It is back, a manager that knows nothing of the past runs, and still it is cleaned first.
  await fleet.restartManager();
  await fleet.world.agents.wake("host1");
  await fleet.pass(2);
  expect(host()?.spec?.machineRef).toBeUndefined();
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m2"]);
  expect(host()?.spec?.machineRef?.name).toBe("m2");
  expect(fleet.violations).toEqual([]);
});

test("a host that returns while it is waited for is cleaned in the usual way", async () => {
  fleet.world.agents.silence("host1");
  await fleet.deleteMachine("m1");
  await fleet.pass(60);
  await fleet.world.agents.wake("host1");
  await fleet.pass(10);
  expect(fleet.machine("m1")).toBeUndefined();
  expect(host()?.spec).toEqual({});
});

test.each([
  ["has cleaned it", () => undefined],
  ["fell silent", () => fleet.world.agents.silence("host1")],
])("an agent that %s may not read the Secrets of the machine that left", async (_, happens) => {
  expect(readable()).toEqual(["m1"]);
  happens();
  await fleet.deleteMachine("m1");
  await fleet.pass(300);
  expect(fleet.machine("m1")).toBeUndefined();
  expect(readable()).toEqual([]);
});
