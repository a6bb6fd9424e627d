import { describe, expect, test } from "vitest";
import { lowestVersion, planVersions, type VersionInput, type WorkerVersion } from "./versions.ts";

const worker = (name: string, current: string | undefined, over: Partial<WorkerVersion> = {}): WorkerVersion => ({
  name,
  current,
  upgrading: false,
  deferred: false,
  ...over,
});
const input = (over: Partial<VersionInput>): VersionInput => ({
  wanted: "v1.34.0",
  controlPlane: { spec: "v1.33.0", status: "v1.33.0" },
  workers: [worker("a", "v1.33.0"), worker("b", "v1.33.0")],
  steps: [],
  concurrency: 1,
  hooks: [],
  ...over,
});
const at = (version: string) => ({ spec: version, status: version });

describe("an upgrade", () => {
  const cases: [string, Partial<VersionInput>, object][] = [
    [
      "begins with the control plane",
      {},
      { controlPlane: "v1.34.0", controlPlaneUpgrading: true, pending: ["a", "b"] },
    ],
    [
      "does not begin while a hook is set",
      { hooks: ["h"] },
      { controlPlane: "v1.33.0", controlPlaneUpgrading: false, controlPlanePending: true, heldBy: ["h"] },
    ],
    [
      "that has begun continues when a hook is set",
      { hooks: ["h"], controlPlane: at("v1.34.0") },
      { controlPlane: "v1.34.0", upgrading: ["a"], heldBy: [] },
    ],
    [
      "lets workers wait while the control plane moves",
      { controlPlane: { spec: "v1.34.0", status: "v1.33.0" } },
      {
        controlPlane: "v1.34.0",
        controlPlaneUpgrading: true,
        workers: new Map([
          ["a", "v1.33.0"],
          ["b", "v1.33.0"],
        ]),
        pending: ["a", "b"],
      },
    ],
    [
      "continues with one group of workers",
      { controlPlane: at("v1.34.0") },
      {
        workers: new Map([
          ["a", "v1.34.0"],
          ["b", "v1.33.0"],
        ]),
        upgrading: ["a"],
        pending: ["b"],
      },
    ],
    [
      "waits for it before the next",
      { controlPlane: at("v1.34.0"), workers: [worker("a", "v1.34.0", { upgrading: true }), worker("b", "v1.33.0")] },
      {
        workers: new Map([
          ["a", "v1.34.0"],
          ["b", "v1.33.0"],
        ]),
        upgrading: ["a"],
        pending: ["b"],
      },
    ],
    [
      "takes as many at a time as allowed",
      { controlPlane: at("v1.34.0"), concurrency: 2 },
      {
        workers: new Map([
          ["a", "v1.34.0"],
          ["b", "v1.34.0"],
        ]),
        upgrading: ["a", "b"],
      },
    ],
    [
      "leaves out what is deferred",
      { controlPlane: at("v1.34.0"), workers: [worker("a", "v1.33.0", { deferred: true }), worker("b", "v1.33.0")] },
      {
        workers: new Map([
          ["a", "v1.33.0"],
          ["b", "v1.34.0"],
        ]),
        upgrading: ["b"],
        deferred: ["a"],
      },
    ],
    [
      "is over",
      { controlPlane: at("v1.34.0"), workers: [worker("a", "v1.34.0")] },
      { pending: [], upgrading: [], controlPlanePending: false },
    ],
    [
      "does not begin while workers move",
      { workers: [worker("a", "v1.33.0", { upgrading: true })] },
      { controlPlane: "v1.33.0", controlPlanePending: true },
    ],
    [
      "does not begin while the control plane is being made",
      { controlPlane: { spec: "v1.33.0", status: undefined } },
      { controlPlane: "v1.33.0", controlPlanePending: true, controlPlaneUpgrading: false },
    ],
    [
      "goes through the class's versions",
      { wanted: "v1.35.0", steps: ["v1.33.0", "v1.34.2", "v1.35.0"] },
      { controlPlane: "v1.34.2" },
    ],
    [
      "passes over all but the last version of a minor",
      { wanted: "v1.35.2", steps: ["v1.34.0", "v1.34.2", "v1.35.0", "v1.35.2"] },
      { controlPlane: "v1.34.2" },
    ],
    [
      "goes to the wanted version of a minor at once",
      { wanted: "v1.34.3", steps: ["v1.34.0", "v1.34.2", "v1.34.3", "v1.35.0"] },
      { controlPlane: "v1.34.3" },
    ],
    [
      "takes workers along before they fall too far behind",
      {
        wanted: "v1.35.0",
        controlPlane: at("v1.34.0"),
        workers: [worker("a", "v1.31.0")],
        steps: [],
      },
      { controlPlane: "v1.34.0", workers: new Map([["a", "v1.34.0"]]), upgrading: ["a"] },
    ],
  ];
  test.each(cases)("%s", (_name, over, expected) => {
    expect(planVersions(input(over))).toMatchObject(expected);
  });
});

test("a new cluster gets its version everywhere at once; a new group waits for an upgrade to end", () => {
  const fresh = planVersions(input({ controlPlane: undefined, workers: [worker("a", undefined)] }));
  expect(fresh).toMatchObject({ controlPlane: "v1.34.0", workers: new Map([["a", "v1.34.0"]]) });
  const later = planVersions(input({ workers: [worker("a", "v1.33.0"), worker("new", undefined)] }));
  expect(later.pendingCreate).toEqual(["new"]);
});

test("from any state it ends with everything at the wanted version, workers never ahead of the control plane", () => {
  let state = input({
    wanted: "v1.35.1",
    steps: ["v1.34.2", "v1.35.1"],
    workers: ["a", "b", "c"].map((n) => worker(n, "v1.32.0")),
  });
  const log: string[] = [];
  for (let i = 0; i < 30; i++) {
    const plan = planVersions(state);
    log.push(`${plan.controlPlane} ${[...plan.workers.values()].join(" ")}`);
    state = {
      ...state,
      controlPlane: { spec: plan.controlPlane, status: i % 2 === 0 ? state.controlPlane?.status : plan.controlPlane },
      workers: state.workers.map((w) => {
        const target = plan.workers.get(w.name);
        return { ...w, current: target, upgrading: target !== w.current ? true : i % 2 === 0 && w.upgrading };
      }),
    };
  }
  expect(log.at(-1)).toBe("v1.35.1 v1.35.1 v1.35.1 v1.35.1");
});

test("the lowest of several versions", () => {
  expect(lowestVersion([])).toBeUndefined();
  expect(lowestVersion(["v1.34.10", "v1.34.9", "v1.35.0"])).toBe("v1.34.9");
});
