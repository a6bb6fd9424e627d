import { expect, test } from "vitest";
import { clusterObjects } from "./cluster-objects.ts";
import type { ProviderName } from "./worker-providers.ts";

function kindsOf(placement: string, ...providers: ProviderName[]): string[] {
  const workers = providers.map((provider) => ({ name: provider, provider, replicas: 1, select: {}, settings: {} }));
  const network = { podCidrs: ["10.244.0.0/16"], serviceCidrs: ["10.96.0.0/16"] };
  const plan = { name: "c1", namespace: "default", version: "v1.34.4", placement, labels: {}, ...network, workers };
  return clusterObjects(plan).map(({ kind }) => kind);
}

test("hosts in memory, which forget their cluster with the program, get a check that replaces their machines", () => {
  expect(kindsOf("Embedded", "byoh")).toContain("MachineHealthCheck");
  expect(kindsOf("Embedded", "memory", "metal3")).toContain("MachineHealthCheck");
});

test("real hosts, and machines in memory that find their cluster again, are left alone", () => {
  expect(kindsOf("Process", "byoh", "metal3")).not.toContain("MachineHealthCheck");
  expect(kindsOf("Embedded", "memory")).not.toContain("MachineHealthCheck");
});
