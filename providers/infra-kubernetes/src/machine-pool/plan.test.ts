import { expect, test } from "vitest";
import type { KubernetesMachine } from "../kinds/kubernetes-machine.ts";
import { planPool, TEMPLATE_ANNOTATION } from "./plan.ts";

const machine = (name: string, template = "new", ready = true): KubernetesMachine => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "KubernetesMachine",
  metadata: { name, annotations: { [TEMPLATE_ANNOTATION]: template } },
  status: {
    conditions: [
      {
        type: "Ready",
        status: ready ? "True" : "False",
        reason: "Ready",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  },
});
const plan = (machines: KubernetesMachine[], wanted: number, leaveFirst: string[] = []) => {
  const { create, remove } = planPool(machines, wanted, "new", new Set(leaveFirst));
  return { create, remove: remove.map(({ metadata }) => metadata.name) };
};

test("creates what is missing, and nothing when nothing is", () => {
  expect(plan([], 3)).toEqual({ create: 3, remove: [] });
  expect(plan([machine("a"), machine("b")], 2)).toEqual({ create: 0, remove: [] });
});

test("removes machines that a person marked first, then those that are not ready", () => {
  const machines = [machine("a"), machine("b", "new", false), machine("c")];
  expect(plan(machines, 2)).toEqual({ create: 0, remove: ["b"] });
  expect(plan(machines, 2, ["c"])).toEqual({ create: 0, remove: ["c"] });
  expect(plan(machines, 0).remove).toHaveLength(3);
});

test("replaces machines of an older template one by one, a new one first", () => {
  const old = [machine("a", "old"), machine("b", "old")];
  expect(plan(old, 2)).toEqual({ create: 1, remove: [] });
  expect(plan([...old, machine("c", "new", false)], 2)).toEqual({ create: 0, remove: [] });
  expect(plan([...old, machine("c")], 2)).toEqual({ create: 0, remove: ["a"] });
});

test("removes a broken machine of an older template without waiting", () => {
  const machines = [machine("a", "old"), machine("b", "old", false), machine("c", "new", false)];
  expect(plan(machines, 2)).toEqual({ create: 0, remove: ["b"] });
});
