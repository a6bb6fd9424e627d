import { expect, test } from "vitest";
import { Model } from "./testing/model.ts";

/** Three Machines, of which the first one was removed by force after it had died: its member stays in etcd's list. */
function withDeadMember(): Model {
  const model = new Model();
  model.wanted.replicas = 3;
  model.settle();
  model.machines.shift();
  return model;
}

function passTime(model: Model, ticks: number): void {
  for (let tick = 0; tick < ticks; tick++) {
    model.tick();
    expect(model.hasQuorum, model.log.slice(-5).join("\n")).toBe(true);
  }
}

function expectWorks(model: Model): void {
  const text = model.log.slice(-20).join("\n");
  expect(model.machines.filter((machine) => model.works(machine)).length, text).toBe(model.wanted.replicas);
  expect(model.members.filter(({ learner }) => !learner).length, text).toBe(model.wanted.replicas);
}

test("does not remediate a Machine while a dead member without a Machine counts in the quorum", () => {
  const model = withDeadMember();
  const [unreachable] = model.machines;
  if (unreachable === undefined) throw new Error("no machine");
  unreachable.unreachable = true;
  unreachable.failedSinceMs = model.nowMs - 60_000;
  passTime(model, 60);
  expect(model.machines).toContain(unreachable);
  unreachable.unreachable = false;
  passTime(model, 200);
  expectWorks(model);
});

test("holds a healthy Machine that is deleted while a dead member cannot be removed yet", () => {
  const model = new Model();
  model.wanted.replicas = 3;
  model.settle();
  model.wanted.replicas = 4;
  model.births.push("stillborn");
  while (model.machines.length < 4) model.tick();
  passTime(model, 2);
  model.machines.shift();
  model.wanted.replicas = 3;
  model.machine("m2").deletingMs = model.nowMs;
  passTime(model, 100);
  expect(model.machines.map(({ name }) => name)).toContain("m2");
  // Remediation waits for deletions: a person deletes the Machine that never started, too.
  model.machine("m4").deletingMs = model.nowMs;
  passTime(model, 200);
  expectWorks(model);
});
