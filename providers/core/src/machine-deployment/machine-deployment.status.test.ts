import { findCondition } from "@capstan/apimachinery";
import type { Machine, MachineDeployment, MachineSet } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { type MachineDeploymentStatusInput, machineDeploymentStatus } from "./machine-deployment.status.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

function statusOf({
  spec = {},
  metadata = {},
  sets = [],
  machines = [],
  ...input
}: {
  spec?: object;
  metadata?: object;
  sets?: object[];
  machines?: object[];
  deleting?: boolean;
  blocked?: string[];
} = {}) {
  const deployment = {
    metadata: { name: "md", namespace: "ns", ...metadata },
    spec: { clusterName: "c1", replicas: 3, selector: { matchLabels: { a: "b" } }, template: { spec: {} }, ...spec },
  } as unknown as MachineDeployment;
  const { status } = machineDeploymentStatus({
    deployment,
    sets: sets as MachineSet[],
    machines: machines as Machine[],
    paused: { type: "Paused", status: "False", reason: "NotPaused", message: "" },
    deleting: false,
    blocked: [],
    nowMs: NOW,
    ...input,
  } satisfies MachineDeploymentStatusInput);
  return status;
}

const set = (status: object | undefined, metadata: object = {}) => ({ metadata: { name: "s", ...metadata }, status });
const counts = (replicas: number, ready: number, available: number, upToDate: number) => ({
  replicas,
  readyReplicas: ready,
  availableReplicas: available,
  upToDateReplicas: upToDate,
});
const conditionOf = (status: ReturnType<typeof statusOf>, type: string) => {
  const { status: value, reason, message } = findCondition(status.conditions ?? [], type) ?? {};
  return `${value} ${reason}${message === "" ? "" : `: ${message}`}`;
};

describe("counts", () => {
  test("are the sums over all MachineSets; one without a status counts nothing", () => {
    expect(statusOf({ sets: [set(counts(3, 2, 1, 0)), set(undefined), set(counts(10, 20, 30, 40))] })).toMatchObject(
      counts(13, 22, 31, 40),
    );
  });

  test("versions are summed over MachineSets, oldest first", () => {
    const versions = (...list: [string, number | undefined][]) =>
      set({ versions: list.map(([version, replicas]) => ({ version, replicas })) });
    const { versions: found } = statusOf({
      sets: [
        versions(["v1.36.10", 1], ["v1.36.9", 2]),
        versions(["v1.35.0", 1], ["v1.36.9", 3], ["v1.35.1", undefined]),
      ],
    });
    expect(found).toEqual([
      { version: "v1.35.0", replicas: 1 },
      { version: "v1.35.1", replicas: 0 },
      { version: "v1.36.9", replicas: 5 },
      { version: "v1.36.10", replicas: 1 },
    ]);
    expect(statusOf()).not.toHaveProperty("versions");
  });

  test("the selector is text, and absent if it selects everything", () => {
    expect(statusOf().selector).toBe("a=b");
    expect(statusOf({ spec: { selector: {} } })).not.toHaveProperty("selector");
  });

  test("the observed generation is the deployment's", () => {
    expect(statusOf({ metadata: { generation: 7 } }).observedGeneration).toBe(7);
  });
});

test.each([
  [{ replicas: undefined }, counts(3, 3, 3, 3), "Unknown"],
  [{}, counts(4, 4, 4, 4), "ScalingDown"],
  [{}, counts(4, 0, 0, 0), "ScalingDown"],
  [{}, counts(2, 3, 3, 3), "ScalingUp"],
  [{}, counts(3, 2, 3, 3), "ScalingUp"],
  [{}, counts(3, 3, 3, 2), "ScalingUp"],
  [{}, counts(3, 3, 3, 3), "Running"],
  [{}, counts(3, 3, 0, 3), "Running"],
])("phase with %j and %j: %s", (spec, status, phase) => {
  expect(statusOf({ spec, sets: [set(status)] }).phase).toBe(phase);
});

describe("Available", () => {
  const rolling = (maxUnavailable: number | string) => ({
    rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable, maxSurge: 1 } } },
  });
  test.each([
    [{}, 3, "True Available"],
    [{}, 2, "False NotAvailable: 2 available replicas, at least 3 required (spec.replicas is 3, maxUnavailable is 0)"],
    [rolling(1), 2, "True Available"],
    [
      rolling(1),
      1,
      "False NotAvailable: 1 available replicas, at least 2 required (spec.replicas is 3, maxUnavailable is 1)",
    ],
    [rolling(5), 0, "True Available"],
    [{ replicas: undefined }, 3, "Unknown WaitingForReplicasSet: Waiting for spec.replicas set"],
  ])("with %j and %i available replicas: %s", (spec, available, expected) => {
    expect(conditionOf(statusOf({ spec, sets: [set(counts(3, 3, available, 3))] }), "Available")).toBe(expected);
  });

  test("says less while the deployment is being deleted", () => {
    const status = statusOf({ deleting: true, sets: [set(counts(3, 3, 0, 3))] });
    expect(conditionOf(status, "Available")).toBe("False NotAvailable: Deletion in progress");
  });
});

describe("RollingOut", () => {
  const machine = (status: string, reason: string, message: string) => ({
    metadata: { name: "m" },
    spec: {},
    status: { conditions: [{ type: "UpToDate", status, reason, message }] },
  });

  test("counts Machines that are not up to date, and lists each difference once", () => {
    const machines = [
      machine("False", "NotUpToDate", "* Version v1.36.0, v1.37.0 required"),
      machine("False", "NotUpToDate", "* Version v1.36.0, v1.37.0 required\n* Template t1, t2 required"),
      machine("False", "Updating", "* Node runs version v1.36.0"),
      machine("True", "UpToDate", ""),
      { metadata: {}, spec: {} },
    ];
    expect(conditionOf(statusOf({ machines }), "RollingOut")).toBe(
      "True RollingOut: Rolling out 2 not up-to-date replicas\n* Template t1, t2 required\n* Version v1.36.0, v1.37.0 required",
    );
    expect(conditionOf(statusOf({ machines: machines.slice(0, 1) }), "RollingOut")).toContain(
      "1 not up-to-date replica\n",
    );
    expect(conditionOf(statusOf({ machines: machines.slice(2) }), "RollingOut")).toBe("False NotRollingOut");
    expect(conditionOf(statusOf({ machines, deleting: true }), "RollingOut")).toBe("False NotRollingOut");
  });
});

test("Remediating repeats what the MachineSets that remediate say", () => {
  const remediating = (status: string, message: string) =>
    set({ conditions: [{ type: "Remediating", status, message }] });
  const status = statusOf({
    sets: [remediating("True", "m1"), remediating("False", "m2"), remediating("True", "m3"), set(undefined)],
  });
  expect(conditionOf(status, "Remediating")).toBe("True Remediating: m1\nm3");
  expect(conditionOf(statusOf(), "Remediating")).toBe("False NotRemediating");
});

test("Deleting names the MachineSets that are left, and Progressing is dropped", () => {
  const left = statusOf({ deleting: true, sets: [set(undefined, { name: "b" }), set(undefined, { name: "a" })] });
  expect(conditionOf(left, "Deleting")).toBe("True Deleting: Deleting MachineSets a, b");
  expect(conditionOf(statusOf({ deleting: true }), "Deleting")).toBe("True Deleting: Deletion completed");
  expect(conditionOf(statusOf(), "Deleting")).toBe("False NotDeleting");
  expect(findCondition(left.conditions ?? [], "Progressing")).toBeUndefined();
  expect(findCondition(statusOf().conditions ?? [], "Progressing")).toBeDefined();
});
