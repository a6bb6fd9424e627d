import { claimCases } from "@capstan/capi/testing";
import { ByoHost } from "@capstan/host-agent";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MACHINE_ID_ANNOTATION } from "./host/machine-ids.ts";
import { Fleet } from "./testing/fleet.ts";

// One seed took 16 s on a busy machine, and the default is 20 s.
vi.setConfig({ testTimeout: 60_000 });

describe("claims", () => {
  const subject = {
    start: (seed: number) => Fleet.start(seed),
    seeds: [1, 2, 3],
    settleSeconds: 60,
    reuseSeconds: 15,
    noneFree: "of 30 matching hosts none is free (30 in use): enrol another with: capstan host add NAME",
    running: ({ world }: Fleet) => world.agents.running.size,
  };
  for (const { name, run } of claimCases(subject)) test(name, run);
});

describe("a host and its machine", () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await Fleet.start();
  });
  afterEach(() => fleet.close());

  test("a machine whose host was removed does not move to another one silently", async () => {
    await fleet.addHosts("host1", "host2");
    await fleet.addMachines("m1");
    await fleet.restartManager();
    await fleet.pass(30);
    await fleet.world.server.internal.delete(
      { group: "infrastructure.cluster.x-k8s.io", plural: "byohosts" },
      "default",
      "host1",
    );
    await fleet.pass(30);
    expect(fleet.withReason("ObjectDeleted")).toEqual(["m1"]);
    expect(fleet.claimants()).toEqual([]);
  });

  test("a host whose machine vanished is cleaned and free again", async () => {
    await fleet.addHosts("host1");
    await fleet.addMachines("m1");
    await fleet.restartManager();
    await fleet.pass(30);
    await fleet.stopManager();
    const machines = { group: "infrastructure.cluster.x-k8s.io", plural: "byomachines" };
    await fleet.world.server.internal.update(machines, "default", "m1", "impatient", (machine) => {
      machine.metadata.finalizers = [];
    });
    await fleet.deleteMachine("m1");
    await fleet.restartManager();
    // Time for a restore that brings hosts first.
    await fleet.pass(240);
    expect(fleet.world.agents.host("host1")?.spec?.machineRef?.name).toBe("m1");
    await fleet.pass(90);
    expect(fleet.world.agents.host("host1")?.spec).toEqual({});
    expect(fleet.world.agents.running.size).toBe(0);
  });

  test("a claim that succeeded late is released; the machine keeps the host it knows", async () => {
    await fleet.addHosts("host2");
    await fleet.addMachines("m1");
    await fleet.restartManager();
    await fleet.pass(30);
    expect(fleet.withReason("Ready")).toEqual(["m1"]);
    // With the claim, not only once it was seen for a while.
    expect(fleet.world.agents.host("host2")?.metadata.annotations?.[MACHINE_ID_ANNOTATION]).toBe("id-of-host2");
    const node = fleet.world.agents.running.get("host2");
    await fleet.addHosts("host1");
    const { machineRef, bootstrapSecret } = fleet.world.agents.host("host2")?.spec ?? {};
    const late = { spec: { machineRef, bootstrapSecret, providerID: "byoh://host1/late" } };
    await fleet.client.patch({ kind: ByoHost, namespace: "default", name: "host1" }, late);
    await fleet.pass(30);
    expect(fleet.world.agents.host("host1")?.spec).toEqual({});
    expect(fleet.world.agents.running).toEqual(new Map([["host2", node]]));
    expect(fleet.world.agents.host("host2")?.spec?.machineRef).toEqual(machineRef);
    expect(fleet.withReason("Ready")).toEqual(["m1"]);
  });
});
