import { CONTROL_PLANE_LABEL, Machine, PRE_TERMINATE_HOOK } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ByoMachine } from "../kinds/byo-machine.ts";
import { Fleet } from "../testing/fleet.ts";

/** The host of a control plane machine is cleaned when its control plane has removed the member of etcd, and not before. */
const HOOK = `${PRE_TERMINATE_HOOK}/kcp-cleanup`;
const key = { namespace: "default", name: "m1" };
let fleet: Fleet;

beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1");
  await fleet.addMachines("m1");
  const metadata = { labels: { [CONTROL_PLANE_LABEL]: "" }, annotations: { [HOOK]: "" } };
  await fleet.client.patch({ kind: Machine, ...key }, { metadata: { ...metadata, finalizers: ["test/keep"] } });
  await fleet.client.patch({ kind: ByoMachine, ...key }, { metadata: { labels: metadata.labels } });
  await fleet.restartManager();
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
});
afterEach(() => fleet.close());

const host = () => fleet.world.agents.host("host1");
const deleting = () => fleet.machine("m1")?.status?.conditions?.find(({ type }) => type === "Deleting");

test("a ByoMachine deleted on its own waits for its Machine, and that for the hook of the control plane", async () => {
  await fleet.deleteMachine("m1");
  await fleet.pass(600);
  expect(host()?.spec?.release).toBeUndefined();
  expect(deleting()).toMatchObject({
    reason: "HoldsEtcdMember",
    message: expect.stringContaining("delete the Machine, whose control plane removes the member first"),
  });
  await fleet.client.delete({ apiVersion: Machine.apiVersion, kind: Machine.kind, metadata: key });
  await fleet.pass(600);
  expect(host()?.spec?.release).toBeUndefined();
  expect(deleting()?.message).toContain(`the owner of annotation ${HOOK} has not released Machine m1 yet`);
  await fleet.client.patch({ kind: Machine, ...key }, { metadata: { annotations: { [HOOK]: null } } });
  await fleet.pass(20);
  expect(fleet.machine("m1")).toBeUndefined();
  expect(host()?.spec).toEqual({});
});

test("a ByoHost deleted under a control plane machine stays, and its member with it", async () => {
  await fleet.client.delete({
    apiVersion: ByoHost.apiVersion,
    kind: ByoHost.kind,
    metadata: { namespace: "default", name: "host1" },
  });
  await fleet.pass(1200);
  expect(host()?.spec?.machineRef?.name).toBe("m1");
  expect(host()?.spec?.release).toBeUndefined();
  expect(fleet.world.agents.running.has("host1")).toBe(true);
});
