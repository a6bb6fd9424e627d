import type { Unstructured } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { hostKindsOf, isBlocked, obstaclesOf } from "./obstacles.ts";
import { newForm, newGroup, type PlanForm, planOf } from "./plan-form.ts";

const plan = (form: Partial<PlanForm>): ReturnType<typeof planOf> =>
  planOf({ ...newForm("v1.34.4"), name: "c1", ...form });
const own = plan({ groups: [{ ...newGroup(1, "byoh"), name: "own", replicas: "2" }] });
const home = { placement: "Process", versions: ["v1.33.1"] } as const;
const host: Unstructured = {
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "ByoHost",
  metadata: { name: "one" },
  spec: {},
  status: { conditions: [{ type: "Ready", status: "True" }] },
};

test("a version that is not installed blocks a control plane as processes, whoever may wait", () => {
  const found = obstaclesOf(own, home, [host, { ...host, metadata: { name: "two" } }]);
  expect(found).toEqual({
    version: {
      problem: "Kubernetes v1.34.4 is not installed on the manager's machine (installed: v1.33.1)",
      command: "capstan kubernetes install v1.34.4",
    },
    shortages: [],
    warnings: [],
  });
  expect(isBlocked(found, true)).toBe(true);
  for (const placement of ["Pods", "Embedded"])
    expect(obstaclesOf({ ...own, placement }, home, undefined).version).toBeUndefined();
  expect(obstaclesOf(own, { ...home, placement: "Pods" }, undefined).version).toBeUndefined();
});

test("too few hosts block until machines may wait; hosts that nobody could list do not", () => {
  const found = obstaclesOf({ ...own, placement: "Embedded" }, home, [host]);
  expect(found.shortages).toMatchObject([{ group: "own", wanted: 2, free: 1, command: "capstan host add NAME" }]);
  expect(isBlocked(found, false)).toBe(true);
  expect(isBlocked(found, true)).toBe(false);
  expect(isBlocked(obstaclesOf({ ...own, placement: "Embedded" }, undefined, undefined), false)).toBe(false);
});

test("a disk image is warned of; bare metal begins with a live image", () => {
  const metal = newGroup(1, "metal3");
  const warningsOf = (settings: Record<string, string>): readonly string[] =>
    obstaclesOf(plan({ groups: [{ ...metal, settings: { ...metal.settings, ...settings } }] }), home, []).warnings;
  expect(warningsOf({ image: "http://i/n.iso" })).toEqual([]);
  expect(warningsOf({ image: "http://i/n.img", format: "raw" })).toEqual([
    expect.stringContaining("workers: a raw image is for a disk"),
  ]);
});

test("each kind of host is listed once, and none for machines made as needed", () => {
  const groups = [newGroup(1, "byoh"), newGroup(2, "byoh"), newGroup(3, "metal3"), newGroup(4, "memory")];
  expect(hostKindsOf(plan({ groups })).map(({ kind }) => kind)).toEqual(["ByoHost", "BareMetalHost"]);
});
