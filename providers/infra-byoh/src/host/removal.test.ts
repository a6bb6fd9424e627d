import { ConfigMap } from "@capstan/capi";
import { ByoHost, byoHost, ENROLMENT_ANNOTATION } from "@capstan/host-agent";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ByoMachine } from "../kinds/byo-machine.ts";
import { Fleet } from "../testing/fleet.ts";

/** A claimed host that is deleted, alone or with its namespace, is not gone before its node is taken off or noted as left behind. */
let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1");
  await fleet.client.patch(at(ByoHost, "host1"), { metadata: { annotations: { [ENROLMENT_ANNOTATION]: "abcdef" } } });
  await fleet.addMachines("m1");
  await fleet.restartManager();
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
});
afterEach(() => fleet.close());

const at = <K>(kind: K, name: string) => ({ kind, namespace: "default", name });
const host = () => fleet.world.agents.host("host1");
const deleteHost = () => fleet.client.delete(at(ByoHost, "host1"));
const note = () => fleet.client.get(ConfigMap, { namespace: "kube-system", name: "byoh-given-up-abcdef" });

describe("deleted while its agent answers: the agent removes the node, then the host is deleted", () => {
  test.each<[string, (() => Promise<unknown>)[]]>([
    ["the host alone", [deleteHost]],
    ["the host, then its machine", [deleteHost, () => fleet.deleteMachine("m1")]],
    ["the machine, then its host", [() => fleet.deleteMachine("m1"), deleteHost]],
    [
      "its machine by force, then the host",
      [
        () => fleet.client.patch(at(ByoMachine, "m1"), { metadata: { finalizers: null } }),
        () => fleet.deleteMachine("m1"),
        deleteHost,
      ],
    ],
    ["the host while the manager is away", [() => fleet.stopManager(), deleteHost, () => fleet.restartManager()]],
  ])("%s", async (_, steps) => {
    for (const step of steps) await step();
    await fleet.pass(30);
    expect(fleet.world.agents.running.size).toBe(0);
    expect(host()).toBeUndefined();
    expect(await note()).toBeUndefined();
    expect(fleet.violations).toEqual([]);
  });
});

test("deleted while its agent is away: it is deleted after a while, and a record is left from which its agent can learn of it", async () => {
  fleet.world.agents.silence("host1");
  await fleet.deleteMachine("m1");
  await deleteHost();
  await fleet.pass(60);
  expect(host()).toBeDefined();
  await fleet.pass(400);
  expect(host()).toBeUndefined();
  expect(fleet.machine("m1")).toBeUndefined();
  expect((await note())?.["data"]).toMatchObject({ host: "default/host1" });
  expect(fleet.events).toContainEqual(
    "Warning HostGivenUp ByoHost/host1: host host1 was removed while its agent was away: it cleans itself when it is back",
  );
});

test("a new host does not inherit permissions of an earlier host of the same name", async () => {
  const kind = { group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding", plural: "rolebindings" };
  const binding = at({ ...kind, namespaced: true }, "byoh-host-again");
  const subjects = [{ kind: "User", name: "byoh:host:default/again", apiGroup: kind.group }];
  const roleRef = { apiGroup: kind.group, kind: "Role", name: "byoh-host-again" };
  const metadata = { namespace: "default", name: "byoh-host-again" };
  await fleet.client.create({ apiVersion: `${kind.group}/v1`, kind: "RoleBinding", metadata, roleRef, subjects });
  await fleet.client.create(byoHost("default", "again", {}));
  await fleet.pass(2);
  expect(await fleet.client.get(binding.kind, binding)).toBeUndefined();
});

test("a host without a node is deleted at once", async () => {
  await fleet.deleteMachine("m1");
  await fleet.pass(20);
  expect(host()?.metadata.finalizers ?? []).toEqual([]);
  await deleteHost();
  expect(host()).toBeUndefined();
});

test("does not recreate RBAC objects when the namespace is being deleted", async () => {
  const rights = ["roles", "rolebindings"].map((plural) => ({ group: "rbac.authorization.k8s.io", plural }));
  for (const kind of rights) await fleet.world.server.internal.delete(kind, "default", "byoh-host-host1");
  const made: string[] = [];
  for (const kind of rights)
    fleet.world.server.internal.watch(kind, ({ object, name }) => void (object === undefined || made.push(name)));
  await deleteHost();
  await fleet.pass(30);
  expect(host()).toBeUndefined();
  expect(fleet.world.agents.running.size).toBe(0);
  expect(made).toEqual([]);
});
