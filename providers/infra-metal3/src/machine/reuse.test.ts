import { Cluster } from "@capstan/capi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Metal3Cluster } from "../kinds/metal3-cluster.ts";
import { Metal3MachineTemplate } from "../kinds/metal3-machine.ts";
import { Fleet } from "../testing/fleet.ts";

/** Hosts that go to the successor of their machine. */
let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1");
  await fleet.restartManager();
  for (const nodeReuse of [true, false])
    await fleet.create(Metal3MachineTemplate, nodeReuse ? "keeps" : "forgets", {
      nodeReuse,
      template: { spec: { image: { url: "http://i/x.qcow2", checksum: "abc" } } },
    });
});
afterEach(() => fleet.close());

const host = (name = "host1") => fleet.world.hosts.host(name);
const label = () => host()?.metadata.labels?.["infrastructure.cluster.x-k8s.io/node-reuse"];

async function giveBack(deployment: string, template: string): Promise<void> {
  await fleet.addMachine("old", {}, { deployment, template });
  await fleet.pass(20);
  await fleet.deleteMachine("old");
  await fleet.pass(20);
}

test("the next machine of the same MachineDeployment gets the host, others do not", async () => {
  await giveBack("workers", "keeps");
  expect(label()).toBe("md-workers");
  expect(host()?.spec.consumerRef).toMatchObject({ kind: "Cluster", name: "c1" });
  await fleet.addHosts("host0");
  await fleet.addMachine("other", {}, { deployment: "others", template: "keeps" });
  await fleet.pass(20);
  expect(host("host0")?.spec.consumerRef?.name).toBe("other");
  await fleet.addMachine("other2", {}, { deployment: "others", template: "keeps" });
  await fleet.pass(10);
  expect(fleet.condition("other2")).toContain("2 in use");
  await fleet.addMachine("next", {}, { deployment: "workers", template: "keeps" });
  await fleet.pass(20);
  expect(host()?.spec.consumerRef?.name).toBe("next");
  expect(label()).toBeUndefined();
  expect(fleet.told("HostClaimed").at(-1)).toContain("host1, which was kept for it, is claimed");
  expect(fleet.violations.filter((text) => !text.includes("went from"))).toEqual([]);
});

test("a successor that comes while the host is still being cleaned gets exactly one host", async () => {
  await fleet.addMachine("old", {}, { deployment: "workers", template: "keeps" });
  await fleet.pass(20);
  await fleet.deleteMachine("old");
  await fleet.pass(2);
  await fleet.addHosts("host0");
  await fleet.addMachine("next", {}, { deployment: "workers", template: "keeps" });
  await fleet.pass(40);
  // Whether the kept one or the free one depends on who was first.
  const held = ["host0", "host1"].filter((name) => host(name)?.spec.consumerRef?.name === "next");
  expect(held).toHaveLength(1);
  expect(fleet.withReason("Ready")).toEqual(["next"]);
});

test.each<[string, Record<string, string>]>([
  ["marked unhealthy", { "capm3.metal3.io/unhealthy": "" }],
  ["detached", { "baremetalhost.metal3.io/detached": "" }],
  ["paused", { "baremetalhost.metal3.io/paused": "" }],
])("a kept host that is %s is passed over", async (_, annotations) => {
  await giveBack("workers", "keeps");
  await fleet.client.patch(host() as never, { metadata: { annotations } });
  await fleet.addHosts("host0");
  await fleet.addMachine("next", {}, { deployment: "workers", template: "keeps" });
  await fleet.pass(20);
  expect(host("host0")?.spec.consumerRef?.name).toBe("next");
  expect(host()?.spec.consumerRef?.kind).toBe("Cluster");
});

test("a template that does not ask for it frees the host, and so does a machine of no deployment", async () => {
  await giveBack("workers", "forgets");
  expect([label(), host()?.spec.consumerRef]).toEqual([undefined, undefined]);
});

test("what the template says of cleaning holds for its machines and their hosts, when it changes too", async () => {
  const mode = (automatedCleaningMode: string) => ({ spec: { template: { spec: { automatedCleaningMode } } } });
  const template = { kind: Metal3MachineTemplate, namespace: "default", name: "keeps" };
  await fleet.client.patch(template, mode("metadata"));
  await fleet.addMachine("m1", {}, { deployment: "workers", template: "keeps" });
  await fleet.pass(20);
  expect(host()?.spec.automatedCleaningMode).toBe("metadata");
  await fleet.client.patch(template, mode("disabled"));
  await fleet.pass(5);
  expect(fleet.machine("m1")?.spec?.automatedCleaningMode).toBe("disabled");
  expect(host()?.spec.automatedCleaningMode).toBe("disabled");
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
});

test("when the Cluster goes nothing is kept for it any more", async () => {
  await fleet.client.create({
    apiVersion: Metal3Cluster.apiVersion,
    kind: Metal3Cluster.kind,
    metadata: {
      namespace: "default",
      name: "c1",
      labels: { "cluster.x-k8s.io/cluster-name": "c1" },
      ownerReferences: [
        { ...(await clusterReference()), apiVersion: Cluster.apiVersion, kind: Cluster.kind, name: "c1" },
      ],
    },
    spec: {},
  } as never);
  await giveBack("workers", "keeps");
  expect(label()).toBe("md-workers");
  await fleet.client.delete({ kind: Metal3Cluster, namespace: "default", name: "c1" });
  await fleet.pass(20);
  expect([label(), host()?.spec.consumerRef]).toEqual([undefined, undefined]);
});

async function clusterReference(): Promise<{ uid: string }> {
  const cluster = await fleet.client.get(Cluster, { namespace: "default", name: "c1" });
  return { uid: cluster?.metadata.uid ?? "" };
}
