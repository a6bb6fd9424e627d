import type { Unstructured } from "@capstan/apimachinery";
import { simulatedHosts } from "@capstan/manager";
import { kindRef } from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandPlane, type CommandResult, withoutChance } from "./plane.ts";

let plane: CommandPlane;

beforeAll(async () => {
  plane = await CommandPlane.start();
  for (const host of simulatedHosts("default", { byoh: 1, metal3: 1 })) await plane.client.create(host);
  const made = await plane.run(
    "create cluster mixed --kubernetes-version v1.34.4 --placement Embedded --workers name=own,provider=byoh --workers name=metal,provider=metal3,image=http://images/node.iso,format=live-iso",
  );
  expect(made).toMatchObject({ code: 0 });
}, 60_000);

afterAll(async () => {
  await plane.stop();
});

async function golden(name: string, { code, out, err }: CommandResult): Promise<void> {
  const text = [`exit code ${code}`, "--- standard output", out, "--- standard error", err].join("\n");
  await expect(withoutChance(text)).toMatchFileSnapshot(`golden/commands/${name}.txt`);
}

test("creates a cluster of bring-your-own hosts and bare metal with one command, and shows its hosts", async () => {
  const { out } = await plane.run("describe cluster mixed --echo");
  const names = withoutChance(out)
    .split("\n")
    .map((line) => line.replace(/^[│├└─ ]+/, "").split("  ")[0]);
  expect(names).toContain("ClusterInfrastructure - MetaCluster/mixed");
  expect(names).toContain("Host - ByoHost/own-1");
  expect(names).toContain("MachineInfrastructure - Metal3Machine/mixed-metal-xxxxx-yyyyy");
});

test("a claimed host that enrols again keeps its permission to read the Secrets of its machine", async () => {
  const kind = { group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", plural: "roles", namespaced: true };
  const Role = kindRef<Unstructured>(kind);
  const metadata = { namespace: "default", name: "byoh-host-own-1" };
  // As the manager has given it to a host whose bootstrap takes longer than a simulated one's.
  const rules = [{ apiGroups: [""], resources: ["secrets"], resourceNames: ["data"], verbs: ["get"] }];
  await plane.client.apply({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata, rules });
  expect(await plane.run("host add own-1")).toMatchObject({ code: 0, out: expect.stringContaining("--enrol") });
  expect((await plane.client.get(Role, metadata))?.["rules"]).toEqual(rules);
});

test("why names a host that died, a Warning event records it, and the cluster is healthy after the repair", async () => {
  await golden("demo-break-own", await plane.run("demo break own-1"));
  await plane.clock.advance(1000);
  expect((await plane.run("why mixed")).out).toContain("Kubelet stopped posting node status");
  expect((await plane.run("events mixed --types Warning")).out).toMatch(/Warning +HostBroken +byohost\/own-1 /);
  await plane.clock.advance(600_000);
  expect((await plane.run("why mixed")).out).toContain("ByoHost/own-1: Ready is");
  await golden("host-list-silent", await plane.run("host list"));
  await golden("demo-repair-own", await plane.run("demo repair own-1"));
  await plane.clock.advance(10_000);
  expect((await plane.run("why mixed")).out).toBe("Cluster/mixed is Healthy\n");
});

test("why names a bare-metal host whose management controller died at once, and the cluster is healthy after the repair", async () => {
  await golden("demo-break-metal", await plane.run("demo break metal-1"));
  await plane.clock.advance(1000);
  expect((await plane.run("why mixed")).out).toMatch(/BareMetalHost\/metal-1: Ready is False.*\n.*ECONNREFUSED/);
  expect((await plane.run("events mixed --types Warning")).out).toMatch(/Warning +\S+ +baremetalhost\/metal-1 /);
  await golden("demo-repair-metal", await plane.run("demo repair metal-1"));
  await plane.clock.advance(2000);
  expect((await plane.run("why mixed")).out).toBe("Cluster/mixed is Healthy\n");
});

test("a dead and a broken host are two causes with a remedy each, and get and describe show the same state as why", async () => {
  await plane.run("demo break own-1");
  await plane.run("demo break metal-1");
  await plane.clock.advance(600_000);
  const { out } = await plane.run("why mixed");
  expect(out).toMatch(/^Cluster\/mixed is Degraded for /);
  expect(out).toMatch(/^Cause 1 of 2: .*\nWhat to do:/m);
  expect(out).toMatch(/^Cause 2 of 2: .*\nWhat to do:/m);
  expect(out).toContain("Host own-1 has gone silent");
  expect(out).toContain("Bare-metal host metal-1 has a problem");
  expect((await plane.run("get clusters")).out).toMatch(/^mixed +Degraded /m);
  expect((await plane.run("describe cluster mixed")).out).toMatch(/^Cluster\/mixed is Degraded for /);
  await plane.run("demo repair own-1");
  await plane.run("demo repair metal-1");
  await plane.clock.advance(10_000);
  expect((await plane.run("why mixed")).out).toBe("Cluster/mixed is Healthy\n");
});

test("get, describe and why show that a cluster is paused", async () => {
  await plane.run("pause mixed");
  expect((await plane.run("get clusters")).out).toMatch(/^mixed +Paused /m);
  expect((await plane.run("describe cluster mixed")).out).toMatch(
    /^Cluster\/mixed is Paused for .*\nCluster mixed is paused/,
  );
  expect((await plane.run("why mixed")).out).toContain("1. resume it: capstan resume mixed\n");
  await plane.run("resume mixed");
  await plane.clock.advance(1000);
  expect((await plane.run("get clusters")).out).toMatch(/^mixed +Healthy /m);
});

test("demo break refuses a host that is not simulated", async () => {
  await plane.client.create({
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "ByoHost",
    metadata: { name: "real", namespace: "default" },
  });
  expect(await plane.run("demo break real")).toMatchObject({ code: 1, out: "" });
});

test("host add prints the command that enrols a host and warns when the API listens on loopback only; host remove deletes the host", async () => {
  const added = await plane.run("host add new");
  expect(added).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\.\/capstan-host-agent --service --enrol \S+\n$/),
  });
  expect(added.err).not.toContain("warning");
  const { target } = plane;
  const local = { target: { ...target, server: "https://127.0.0.1:6446" } };
  expect((await plane.run("host add new", local)).err).toContain(
    "warning: https://127.0.0.1:6446 is an address of this",
  );
  expect((await plane.run("host add new --server https://192.0.2.1:6446", local)).err).not.toContain("warning");
  await golden("host-remove", await plane.run("host remove new"));
});
