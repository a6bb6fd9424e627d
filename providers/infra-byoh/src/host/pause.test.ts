import { Cluster, PAUSED_ANNOTATION } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Fleet } from "../testing/fleet.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1");
  await fleet.restartManager();
  await fleet.pass(2);
});
afterEach(() => fleet.close());

const host = () => fleet.world.agents.host("host1");
const paused = () => fleet.condition(host(), "Paused");
const annotate = (value: string | null) =>
  fleet.client.patch(
    { kind: ByoHost, namespace: "default", name: "host1" },
    { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } },
  );
const pauseCluster = (isPaused: boolean) =>
  fleet.client.patch({ kind: Cluster, namespace: "default", name: "c1" }, { spec: { paused: isPaused } });
const HELD =
  "HostPaused: host host1 is paused: resume its Cluster, or remove annotation cluster.x-k8s.io/paused from the ByoHost";

describe("a paused host", () => {
  test("that is free is not claimed, and is when it is resumed", async () => {
    await annotate("");
    await fleet.addMachines("m1");
    await fleet.pass(10);
    expect(paused()).toBe("True Paused: ByoHost has the cluster.x-k8s.io/paused annotation");
    expect(fleet.condition(fleet.machine("m1"), "Ready")).toContain("none is free (1 paused)");
    await annotate(null);
    await fleet.pass(20);
    expect(paused()).toBe("False NotPaused: ");
    expect(fleet.withReason("Ready")).toEqual(["m1"]);
  });

  test("is not released, and says so, until it is resumed", async () => {
    await fleet.addMachines("m1");
    await fleet.pass(20);
    await annotate("");
    await fleet.deleteMachine("m1");
    await fleet.pass(300);
    expect(host()?.spec?.release).toBeUndefined();
    expect(fleet.world.agents.running.size).toBe(1);
    expect(fleet.condition(fleet.machine("m1"), "Deleting")).toContain(HELD);
    await annotate(null);
    await fleet.pass(20);
    expect(fleet.machine("m1")).toBeUndefined();
    expect(host()?.spec).toEqual({});
  });
});

describe("a paused Cluster", () => {
  test("pauses its hosts and no others, and resumes them", async () => {
    await fleet.addHosts("host2");
    await fleet.addMachines("m1");
    await fleet.pass(20);
    await pauseCluster(true);
    await fleet.pass(5);
    // What its agent goes by.
    expect(host()?.metadata.annotations).toHaveProperty([PAUSED_ANNOTATION]);
    expect(paused()).toContain("True Paused: Cluster spec.paused is set to true");
    expect(fleet.world.agents.host("host2")?.metadata.annotations ?? {}).not.toHaveProperty([PAUSED_ANNOTATION]);
    await fleet.deleteMachine("m1");
    await fleet.pass(300);
    expect(host()?.spec?.release).toBeUndefined();
    await pauseCluster(false);
    await fleet.pass(20);
    expect(host()?.metadata.annotations).not.toHaveProperty([PAUSED_ANNOTATION]);
    expect(paused()).toBe("False NotPaused: ");
    expect(host()?.spec).toEqual({});
  });

  test("keeps a pause that a user has set", async () => {
    await fleet.addMachines("m1");
    await fleet.pass(20);
    await annotate("");
    await pauseCluster(true);
    await fleet.pass(5);
    await pauseCluster(false);
    await fleet.pass(5);
    expect(host()?.metadata.annotations?.[PAUSED_ANNOTATION]).toBe("");
  });

  test("does not have a host taken from a machine that vanished meanwhile", async () => {
    await fleet.addMachines("m1");
    await fleet.pass(20);
    await pauseCluster(true);
    await fleet.pass(2);
    const machines = { group: "infrastructure.cluster.x-k8s.io", plural: "byomachines" };
    await fleet.world.server.internal.update(machines, "default", "m1", "impatient", (machine) => {
      machine.metadata.finalizers = [];
    });
    await fleet.deleteMachine("m1");
    await fleet.pass(400);
    expect(host()?.spec?.machineRef?.name).toBe("m1");
    await pauseCluster(false);
    await fleet.pass(400);
    expect(host()?.spec).toEqual({});
  });
});
