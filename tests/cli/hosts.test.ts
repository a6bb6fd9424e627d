import { simulatedHosts } from "@capstan/manager";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandPlane, withoutChance } from "./plane.ts";

let plane: CommandPlane;

beforeAll(async () => {
  plane = await CommandPlane.start();
  for (const host of simulatedHosts({ namespace: "default", own: 1, metal: 1 })) await plane.client.create(host);
  const made = await plane.run(
    "create cluster mixed --kubernetes-version v1.34.4 --placement Embedded --workers name=own,provider=byoh --workers name=metal,provider=metal3,image=http://images/node.iso,format=live-iso",
  );
  expect(made).toMatchObject({ code: 0 });
}, 60_000);

afterAll(async () => {
  await plane.stop();
});

test("a cluster of own hosts and bare metal comes up from one command, and shows its hosts", async () => {
  const { out } = await plane.run("describe cluster mixed --echo");
  const names = withoutChance(out)
    .split("\n")
    .map((line) => line.replace(/^[│├└─ ]+/, "").split("  ")[0]);
  expect(names).toContain("ClusterInfrastructure - MetaCluster/mixed");
  expect(names).toContain("Host - ByoHost/own-1");
  expect(names).toContain("MachineInfrastructure - Metal3Machine/mixed-metal-xxxxx-yyyyy");
});

test("a host that dies is named by why once it has been silent, and is well again after repair", async () => {
  expect(await plane.run("demo break own-1")).toMatchObject({ code: 0, out: "byohost/own-1 broken\n" });
  await plane.clock.advance(1000);
  expect((await plane.run("why mixed")).out).toContain("Kubelet stopped posting node status");
  await plane.clock.advance(600_000);
  expect((await plane.run("why mixed")).out).toContain("ByoHost/own-1: Ready is");
  expect(await plane.run("demo repair own-1")).toMatchObject({ code: 0, out: "byohost/own-1 repaired\n" });
  await plane.clock.advance(10_000);
  expect((await plane.run("why mixed")).out).toBe("Cluster/mixed is available\n");
});

test("a host that is not simulated is not broken on request", async () => {
  await plane.client.create({
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "ByoHost",
    metadata: { name: "real", namespace: "default" },
  });
  expect(await plane.run("demo break real")).toMatchObject({ code: 1, out: "" });
});
