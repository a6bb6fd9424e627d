import { ByoHost } from "@capstan/host-agent";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Fleet } from "../testing/fleet.ts";

/** Two hosts with one machine-id: the first keeps its place, the later is refused. */
let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host2");
  await fleet.restartManager();
  // So that names and ages do not say who had the id first.
  await fleet.pass(5);
  await fleet.addHosts("host1");
  await fleet.pass(130);
});
afterEach(() => fleet.close());

const unique = (name: string) => fleet.condition(fleet.world.agents.host(name), "MachineIDUnique");
const told = () => fleet.events.filter((event) => event.includes(" ClonedMachineID "));
const REFUSED =
  /^False ClonedMachineID: host host1 had this machine-id before.*systemd-machine-id-setup on it and restart it; if both are the same computer, remove the other one with capstan host remove host1$/;

test("a cloned machine-id: the first is claimed, the clone reports what to do and is claimed once it is done", async () => {
  await fleet.world.agents.make("host2", { machineID: "id-of-host1" });
  await fleet.pass(2);
  expect(unique("host1")).toBe("");
  expect(unique("host2")).toMatch(REFUSED);
  expect(told()).toEqual([
    expect.stringContaining("Warning ClonedMachineID ByoHost/host2: host host1 had this machine-id"),
  ]);

  await fleet.addMachines("m1", "m2");
  await fleet.pass(20);
  expect(fleet.world.agents.host("host1")?.spec?.machineRef?.name).toBe("m1");
  expect(fleet.condition(fleet.machine("m2"), "Ready")).toContain(
    "none is free (1 with the machine-id of host1, 1 in use)",
  );

  await fleet.world.agents.make("host2", {});
  await fleet.pass(20);
  expect(unique("host2")).toBe("True Unique: ");
  expect(fleet.withReason("Ready")).toEqual(["m1", "m2"]);
});

test("whoever copies the id of a host, older and claimed or not, does not put that host out of service, nor after a restart", async () => {
  await fleet.world.server.internal.update(
    { group: "infrastructure.cluster.x-k8s.io", plural: "byohosts" },
    "default",
    "host1",
    "test",
    (host) => {
      host["spec"] = { unschedulable: true };
    },
  );
  await fleet.addMachines("m1");
  await fleet.pass(20);
  expect(fleet.world.agents.host("host2")?.spec?.machineRef?.name).toBe("m1");
  // The thief changes while no manager looks.
  await fleet.stopManager();
  await fleet.world.agents.make("host2", { machineID: "id-of-host1" });
  await fleet.client.patch({ kind: ByoHost, namespace: "default", name: "host1" }, { spec: { unschedulable: null } });
  await fleet.restartManager();
  await fleet.addMachines("m2");
  await fleet.pass(20);
  expect(unique("host2")).toMatch(REFUSED);
  expect(unique("host1")).toBe("");
  expect(fleet.world.agents.host("host1")?.spec?.machineRef?.name).toBe("m2");
  expect(fleet.withReason("Ready")).toEqual(["m1", "m2"]);
});

test("a computer that enrolled under two names can be claimed once the first host is removed", async () => {
  await fleet.world.agents.make("host2", { machineID: "id-of-host1" });
  await fleet.addMachines("m1", "m2");
  await fleet.pass(20);
  await fleet.deleteMachine("m1");
  await fleet.pass(2);
  await fleet.client.patch({ kind: ByoHost, namespace: "default", name: "host1" }, { spec: { unschedulable: true } });
  await fleet.pass(60);
  expect(fleet.withReason("InsufficientCapacity")).toEqual(["m2"]);
  await fleet.client.delete({
    kind: ByoHost,
    namespace: "default",
    name: "host1",
  });
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m2"]);
});
