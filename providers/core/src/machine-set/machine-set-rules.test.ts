import { type ContractObject, type Machine, type MachineSet } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { deletePriority, machinesToDelete } from "./delete-priority.ts";
import type { MachineSetScope } from "./machine-set-scope.ts";
import { preflightProblems } from "./preflight.ts";

const NOW = Date.UTC(2026, 0, 21);
const DAY = 86_400_000;

function machine(name: string, ageDays: number, more: Partial<Machine["metadata"]> = {}, healthy = true): Machine {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { name, creationTimestamp: new Date(NOW - ageDays * DAY).toISOString(), ...more },
    spec: {} as Machine["spec"],
    ...(healthy ? { status: { nodeRef: { name } } } : {}),
  };
}

describe("delete priorities", () => {
  const deleting = machine("deleting", 0, { deletionTimestamp: "2026-01-20T00:00:00Z" });
  const annotated = machine("annotated", 0, { annotations: { "cluster.x-k8s.io/delete-machine": "" } });
  const broken = machine("broken", 0, {}, false);

  test.each([
    [deleting, 100],
    [annotated, 80],
    [broken, 50],
    [machine("fine", 0), 20],
  ])("%#", (given, priority) => expect(deletePriority(given, "Random", NOW)).toBe(priority));

  test("order by age approaches that of unhealthy Machines", () => {
    expect(deletePriority(machine("a", 10), "Oldest", NOW)).toBeCloseTo(50 * (1 - Math.exp(-1)));
    expect(deletePriority(machine("a", 10), "Newest", NOW)).toBeCloseTo(50 * Math.exp(-1));
  });

  test.each([
    ["Oldest", ["deleting", "annotated", "broken", "old"]],
    ["Newest", ["deleting", "annotated", "broken", "young"]],
    ["Random", ["deleting", "annotated", "broken", "old"]],
  ] as const)("%s", (order, expected) => {
    const all = [machine("young", 1), machine("old", 9), broken, annotated, deleting];
    expect(machinesToDelete(all, 4, order, NOW).map(({ metadata }) => metadata.name)).toEqual(expected);
  });
});

describe("preflight checks", () => {
  function scope(options: {
    set: string;
    wanted: string;
    running?: string;
    kubeadm?: boolean;
    topology?: boolean;
    skip?: string;
  }): MachineSetScope {
    const object = {
      kind: "ControlPlane",
      metadata: { name: "cp" },
      spec: { version: options.wanted },
      status: options.running === undefined ? {} : { versions: [{ version: options.running }] },
    } as unknown as ContractObject;
    return {
      cluster: { spec: options.topology === true ? { topology: {} } : {} },
      controlPlane: { state: "found", object },
      set: {
        metadata: {
          annotations:
            options.skip === undefined ? {} : { "machineset.cluster.x-k8s.io/skip-preflight-checks": options.skip },
        },
        spec: {
          template: {
            spec: {
              version: options.set,
              bootstrap: options.kubeadm === true ? { configRef: { kind: "KubeadmConfigTemplate" } } : {},
            },
          },
        },
      } as unknown as MachineSet,
    } as unknown as MachineSetScope;
  }

  test.each([
    ["all is well", { set: "v1.34.0", wanted: "v1.34.4", running: "v1.34.4" }, []],
    ["provisioning", { set: "v1.34.0", wanted: "v1.34.4" }, ["ControlPlaneIsStable"]],
    ["upgrading", { set: "v1.33.0", wanted: "v1.34.4", running: "v1.33.0" }, ["ControlPlaneIsStable"]],
    [
      "newer than the control plane",
      { set: "v1.35.0", wanted: "v1.34.4", running: "v1.34.4" },
      ["KubernetesVersionSkew"],
    ],
    ["four minors behind", { set: "v1.30.0", wanted: "v1.34.4", running: "v1.34.4" }, ["KubernetesVersionSkew"]],
    ["three minors behind", { set: "v1.31.0", wanted: "v1.34.4", running: "v1.34.4" }, []],
    [
      "kubeadm one behind",
      { set: "v1.33.0", wanted: "v1.34.4", running: "v1.34.4", kubeadm: true },
      ["KubeadmVersionSkew"],
    ],
    [
      "topology",
      { set: "v1.34.0", wanted: "v1.34.4", running: "v1.34.4", topology: true },
      ["ControlPlaneVersionSkew"],
    ],
    ["skipped by name", { set: "v1.30.0", wanted: "v1.34.4", running: "v1.34.4", skip: "KubernetesVersionSkew" }, []],
    ["all skipped", { set: "v1.30.0", wanted: "v1.34.4", skip: "All" }, []],
  ])("%s", (_, given, checks) => {
    const problems = preflightProblems(scope(given));
    expect(problems).toHaveLength(checks.length);
    for (const check of checks) expect(problems[0]).toContain(`"${check}" preflight check failed`);
  });
});
