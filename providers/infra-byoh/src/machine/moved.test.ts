import { afterEach, beforeEach, expect, test } from "vitest";
import { ByoMachine } from "../kinds/byo-machine.ts";
import { Fleet } from "../testing/fleet.ts";

/** After a move, or a restore from a backup, a machine is another object with the same identity. */
let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1", "host2");
  await fleet.addMachines("m1");
  await fleet.restartManager();
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
});
afterEach(() => fleet.close());

async function move(): Promise<void> {
  await fleet.stopManager();
  const { metadata, spec } = fleet.machine("m1") ?? expect.fail("there is no m1");
  const { namespace = "", name = "", labels, ownerReferences, finalizers } = metadata;
  const at = { kind: ByoMachine, namespace, name };
  await fleet.client.patch(at, { metadata: { finalizers: null } });
  await fleet.client.delete(at);
  const again = { apiVersion: ByoMachine.apiVersion, kind: ByoMachine.kind, spec };
  await fleet.client.create({
    ...again,
    metadata: { namespace, name, labels, ownerReferences, finalizers },
  } as ByoMachine);
  await fleet.restartManager();
}

test("it keeps its host, and the host its node", async () => {
  const before = fleet.world.agents.host("host1")?.spec;
  const running = new Map(fleet.world.agents.running);
  await move();
  // Longer than a host waits for a machine that is missing.
  await fleet.pass(600);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
  expect(fleet.world.agents.host("host1")?.spec).toEqual(before);
  expect(fleet.world.agents.running).toEqual(running);
});

test("it releases its host when it is deleted", async () => {
  await move();
  await fleet.pass(5);
  await fleet.deleteMachine("m1");
  await fleet.pass(20);
  expect(fleet.machine("m1")).toBeUndefined();
  expect(fleet.world.agents.host("host1")?.spec).toEqual({});
  expect(fleet.world.agents.running.size).toBe(0);
});

test("another machine gets nothing by naming the provider ID of a host in use", async () => {
  const { providerID } = fleet.machine("m1")?.spec ?? {};
  await fleet.addMachinesWith({ providerID }, "thief");
  await fleet.pass(20);
  expect(fleet.withReason("ObjectDeleted")).toEqual(["thief"]);
  await fleet.deleteMachine("thief");
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
  expect(fleet.world.agents.host("host1")?.spec?.machineRef?.name).toBe("m1");
});
