import { afterEach, beforeEach, expect, test } from "vitest";
import { byUID } from "./reference.ts";
import { Lab } from "./testing/lab.ts";

let lab: Lab;
beforeEach(async () => {
  lab = await Lab.start(byUID);
});
afterEach(() => lab.close());

const claimant = (host: string): string | undefined => lab.host(host)?.spec?.machineRef?.name;

async function machines(...names: [name: string, color?: string][]): Promise<void> {
  for (const [name, color] of names) {
    await lab.addMachine(name, color);
    await lab.pass(10);
  }
}

test("offers a host to the next machine if the one that claims it is deleted and the claim fails", async () => {
  await machines(["m1"], ["m2"]);
  lab.line.order("slowlyRefused");
  await lab.addHost("h1", "red");
  await lab.pass(10);
  await lab.deleteMachine("m1", true);
  await lab.settle();
  expect(claimant("h1")).toBe("m2");
});

test("offers no host to a machine that is deleted while an earlier claim is checked", async () => {
  await machines(["m1"]);
  lab.line.order("refused");
  lab.line.slowRead();
  await lab.addHost("h1", "red");
  await lab.pass(60);
  await lab.changeHost("h1", { closed: true });
  await lab.deleteMachine("m1", true);
  await machines(["m2"]);
  await lab.pass(500);
  await lab.addHost("h2", "red");
  await lab.settle();
  expect(claimant("h2")).toBe("m2");
});

test("offers no host to a machine that a late claim has given one", async () => {
  await machines(["m1", "red"]);
  lab.line.order("late");
  await lab.addHost("h1", "red");
  await lab.pass(1);
  await lab.changeMachine("m1", "blue");
  await lab.pass(500);
  await lab.line.deliver();
  await machines(["m2", "blue"]);
  await lab.addHost("h2", "blue");
  await lab.settle();
  expect([claimant("h1"), claimant("h2")]).toEqual(["m1", "m2"]);
});

test("does not repeat a claim whose answer was lost", async () => {
  await machines(["m1"]);
  lab.line.freeze();
  lab.line.order("answerLost");
  await lab.addHost("h1", "red");
  lab.line.thaw();
  await lab.pass(1);
  lab.line.freeze();
  await lab.addHost("h2", "red");
  await lab.pass(500);
  await lab.settle();
  expect([claimant("h1"), claimant("h2")]).toEqual(["m1", undefined]);
});
