import type { Unstructured } from "@capstan/apimachinery";
import { PROVIDERS } from "@capstan/manager/providers";
import { expect, it } from "vitest";
import { type Shortage, shortages, shortageText } from "./capacity.ts";
import type { ClusterPlan, WorkerGroup } from "./cluster-plan.ts";

const short = (wanted: ClusterPlan, hosts: readonly Unstructured[]): Shortage[] => shortages(wanted, hosts, PROVIDERS);
const group = (name: string, provider: WorkerGroup["provider"], more: Partial<WorkerGroup> = {}): WorkerGroup => ({
  name,
  provider,
  replicas: 1,
  select: {},
  settings: {},
  ...more,
});
const plan = (workers: WorkerGroup[], more: Partial<ClusterPlan> = {}): ClusterPlan => ({
  name: "c",
  namespace: "default",
  version: "v1.34.4",
  podCidrs: [],
  serviceCidrs: [],
  labels: {},
  workers,
  ...more,
});
const own = (name: string, labels: Record<string, string> = {}, spec: object = {}): Unstructured => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "ByoHost",
  metadata: { name, labels },
  spec: { ...spec },
  status: { conditions: [{ type: "Ready", status: "True" }] },
});
const metal = (name: string, state: string, spec: object = {}): Unstructured => ({
  apiVersion: "metal3.io/v1alpha1",
  kind: "BareMetalHost",
  metadata: { name },
  spec: { ...spec },
  status: { provisioning: { state } },
});

it("finds nothing to say where hosts suffice, or machines are made as needed", () => {
  expect(short(plan([group("m", "memory", { replicas: 99 })]), [])).toEqual([]);
  expect(short(plan([group("o", "byoh", { replicas: 2 })]), [own("a"), own("b")])).toEqual([]);
  expect(short(plan([group("b", "metal3")]), [metal("a", "available")])).toEqual([]);
});

it("counts only hosts that are free, healthy and match", () => {
  const hosts = [
    own("used", {}, { machineRef: { name: "m" } }),
    own("elsewhere", { rack: "2" }),
    { ...own("silent"), status: {} },
    own("good", { rack: "1" }),
  ];
  expect(short(plan([group("o", "byoh", { replicas: 2, select: { rack: "1" } })]), hosts)).toMatchObject([
    { group: "o", kind: "ByoHost", wanted: 2, free: 1 },
  ]);
  const busy = [metal("a", "provisioned", { consumerRef: { name: "m" } }), metal("b", "inspecting")];
  expect(short(plan([group("b", "metal3")]), busy)).toMatchObject([{ group: "b", wanted: 1, free: 0 }]);
});

it("counts a host for one group only", () => {
  const groups = [group("one", "byoh"), group("two", "byoh")];
  expect(short(plan(groups), [own("a")])).toMatchObject([{ group: "two", wanted: 1, free: 0 }]);
});

it("asks of a pool's members their minimum, and of the pool its replicas", () => {
  const pool = { name: "general", replicas: 3, strategy: "Cheapest" as const };
  const own2 = group("own", "byoh", { share: { min: 1, max: 2 } });
  expect(short(plan([own2, group("memory", "memory")], { pool }), [own("a")])).toEqual([]);
  expect(short(plan([own2], { pool }), [own("a"), own("b"), own("c")])).toMatchObject([
    { group: "general", wanted: 3, free: 2 },
  ]);
  expect(short(plan([own2], { pool }), [])).toMatchObject([{ group: "own", wanted: 1, free: 0 }]);
});

it("describes a shortage", () => {
  const shortage = { group: "own", kind: "ByoHost", wanted: 2, free: 1, cure: "" };
  expect(shortageText(shortage)).toBe("own needs 2 free ByoHosts that match, there is 1");
  expect(shortageText({ ...shortage, wanted: 1, free: 0 })).toBe("own needs 1 free ByoHost that matches, there are 0");
});
