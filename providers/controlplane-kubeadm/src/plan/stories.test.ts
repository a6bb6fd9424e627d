import { expect, test } from "vitest";
import { Model } from "./testing/model.ts";

const grown = (replicas: number, wanted: Partial<Model["wanted"]> = {}): Model => {
  const model = new Model();
  Object.assign(model.wanted, wanted, { replicas });
  model.settle();
  return model;
};

const story = async (name: string, model: Model): Promise<void> => {
  await expect(`${model.log.join("\n")}\n`).toMatchFileSnapshot(`stories/${name}.txt`);
};

const DOMAINS = ["a", "b", "c"].map((name) => ({ name, controlPlane: true }));

test("creates one Machine", () => story("create-1", grown(1)));
test("creates three Machines, one after the other", () => story("create-3", grown(3)));
test("creates five Machines over three failure domains", () =>
  story("create-5-domains", grown(5, { domains: DOMAINS })));

test("scales from one to three to five and back", async () => {
  const model = grown(1);
  for (const replicas of [3, 5, 3, 1]) {
    model.say(`replicas: ${replicas}`);
    model.wanted.replicas = replicas;
    model.settle();
  }
  expect(model.machines).toHaveLength(1);
  expect(model.members).toHaveLength(1);
  await story("scale-1-3-5-3-1", model);
});

test.each([0, 1])("rolls out three Machines with maxSurge %d", async (maxSurge) => {
  const model = grown(3, { maxSurge, domains: DOMAINS });
  model.wanted.revision = 2;
  model.settle();
  expect(model.machines.map(({ revision }) => revision)).toEqual([2, 2, 2]);
  await story(`rollout-surge-${maxSurge}`, model);
});

test("rolls out a Machine that is alone by adding the new one first", async () => {
  const model = grown(1);
  model.wanted.revision = 2;
  model.settle();
  await story("rollout-1", model);
});

test("three replicas tolerate one failure, although Nodes have other names than Machines", async () => {
  const model = grown(3);
  model.fail("m1");
  model.settle();
  expect(model.machines.map(({ name }) => name)).toEqual(["m2", "m3", "m4"]);
  expect(model.members.map(({ node }) => node)).toEqual(["node-2", "node-3", "node-4"]);
  await story("remediate-1-of-3", model);
});

test("five replicas tolerate two failures", async () => {
  const model = grown(5);
  model.fail("m1");
  model.fail("m2");
  model.settle();
  expect(model.machines).toHaveLength(5);
  expect(model.members.every(({ node }) => model.machines.some((machine) => machine.node === node))).toBe(true);
  await story("remediate-2-of-5", model);
});

test("touches nothing when two of three have failed", async () => {
  const model = grown(3);
  model.fail("m1");
  model.fail("m2");
  model.settle(60);
  expect(model.machines).toHaveLength(3);
  expect(model.members).toHaveLength(3);
  await story("quorum-lost", model);
});

test("replaces a first Machine that never gets a Node", async () => {
  const model = new Model();
  model.tick();
  model.machine("m1").stillborn = true;
  model.fail("m1");
  model.settle();
  expect(model.machines.map(({ name }) => name)).toEqual(["m2"]);
  await story("first-machine-fails", model);
});

test("a failure in the middle of a rollout is repaired before the rollout continues", async () => {
  const model = grown(3);
  model.wanted.revision = 2;
  for (let tick = 0; tick < 9; tick++) model.tick();
  model.fail("m2");
  model.settle();
  expect(model.machines.map(({ revision }) => revision)).toEqual([2, 2, 2]);
  expect(model.members).toHaveLength(3);
  await story("failure-in-rollout", model);
});

test("removes a member that belongs to no Machine", async () => {
  const model = grown(3);
  model.members.push({ id: "id-9", node: "node-9", started: true, learner: false, revision: model.acknowledged });
  model.settle();
  expect(model.members).toHaveLength(3);
  await story("orphaned-member", model);
});

test("holds a Machine that a person deletes while the quorum depends on it", async () => {
  const model = grown(3);
  model.fail("m1");
  model.machine("m2").deletingMs = model.nowMs;
  for (let tick = 0; tick < 30; tick++) model.tick();
  expect(model.machines.map(({ name }) => name)).toContain("m2");
  expect(model.members).toHaveLength(3);
  await story("held-below-quorum", model);
});

test("deletes all Machines at once with the control plane", async () => {
  const model = grown(3);
  model.deleting = true;
  model.settle();
  expect(model.finished).toBe(true);
  expect(model.machines).toEqual([]);
  await story("delete", model);
});
