import { expect, test } from "vitest";
import { Model } from "./testing/model.ts";

/** A control plane with so many members. */
function running(replicas: number): Model {
  const model = new Model();
  model.wanted.replicas = replicas;
  model.settle();
  expect(model.members).toHaveLength(replicas);
  return model;
}

function expectWorks(model: Model): void {
  const text = model.log.slice(-20).join("\n");
  expect(model.machines.filter((machine) => model.works(machine)).length, text).toBe(model.wanted.replicas);
  expect(model.members.filter(({ learner }) => !learner).length, text).toBe(model.wanted.replicas);
}

/** Until the health checks have judged, too. */
const late = (model: Model): void => {
  for (let tick = 0; tick < 200; tick++) model.tick();
};

test("a Machine whose Node is never recorded takes no vote with it", () => {
  const model = running(1);
  model.births.push("nodeless");
  model.wanted.replicas = 3;
  for (let tick = 0; tick < 200; tick++) {
    model.tick();
    expect(model.hasQuorum, model.log.slice(-5).join("\n")).toBe(true);
  }
  expectWorks(model);
});

test("two Machines whose Nodes are never recorded cost nothing when both are deleted", () => {
  const model = running(3);
  for (const machine of model.machines.slice(1)) {
    machine.nodeless = true;
    machine.deletingMs = model.nowMs;
  }
  for (let tick = 0; tick < 60; tick++) {
    model.tick();
    expect(model.hasQuorum, model.log.slice(-5).join("\n")).toBe(true);
  }
  expectWorks(model);
});

test("a scale-down that makes a replacement needless does not end remediation", () => {
  const model = running(5);
  model.fail("m1");
  while (model.machines.some(({ name }) => name === "m1")) model.tick();
  model.wanted.replicas = 3;
  model.settle();
  model.fail("m4");
  late(model);
  expectWorks(model);
});

test("two failures in a rollout are both repaired", () => {
  const model = running(3);
  model.wanted.revision++;
  while (model.members.length < 4 || model.members.some(({ learner }) => learner)) model.tick();
  // The first one's health check has failed already when the second one stops.
  model.machine("m1").failedSinceMs = model.nowMs - 60_000;
  model.fail("m2");
  late(model);
  expectWorks(model);
});

test("a replacement of the last Machine that does not start can be deleted", () => {
  const model = running(1);
  model.births.push("stillborn");
  model.machine("m1").deletingMs = model.nowMs;
  model.settle();
  model.machine("m2").deletingMs = model.nowMs;
  late(model);
  expectWorks(model);
  expect(model.machines.map(({ name }) => name)).toEqual(["m3"]);
});

test("a learner that is never promoted does not protect a dead Machine from its replacement", () => {
  const model = running(3);
  model.wanted.replicas = 5;
  model.births.push("unpromotable");
  while (!model.members.some(({ learner }) => learner)) model.tick();
  model.fail("m1");
  model.machine("m4").failedSinceMs = model.nowMs;
  late(model);
  expectWorks(model);
});

test("a member without a Machine that the quorum needs does not keep a dead Machine", () => {
  const model = running(2);
  model.wanted.replicas = 3;
  model.members.push({
    id: "stray",
    node: "stray",
    started: true,
    learner: false,
    elsewhere: true,
    revision: model.acknowledged,
  });
  model.fail("m1");
  late(model);
  expectWorks(model);
});

test("a member that never started does not keep a Machine without a Node", () => {
  const model = running(1);
  model.wanted.replicas = 3;
  model.births.push("nodeless");
  model.members.push({ id: "stray", node: "stray", started: false, learner: true, revision: 0 });
  late(model);
  expectWorks(model);
});
