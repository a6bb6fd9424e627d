import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { byKindAndName, byUID } from "./reference.ts";
import { Lab, type LabHost, matches, whyTaken } from "./testing/lab.ts";
import type { WriteFault } from "./testing/shaky-line.ts";

vi.setConfig({ testTimeout: 180_000 });

/** A step of a run; all steps are possible in any state, those of objects that do not exist do nothing. */
class Step implements fc.AsyncCommand<object, Lab> {
  readonly #text: string;
  readonly #act: (lab: Lab) => Promise<void> | void;

  constructor(text: string, act: (lab: Lab) => Promise<void> | void) {
    this.#text = text;
    this.#act = act;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, lab: Lab): Promise<void> {
    await this.#act(lab);
    // Enough for a call to arrive, too little for all that follows from it.
    await lab.pass(1);
    expect(lab.violations).toEqual([]);
  }

  toString(): string {
    return this.#text;
  }
}

const host = fc.constantFrom("h1", "h2", "h3");
const machine = fc.constantFrom("m1", "m2", "m3", "m4");
const color = fc.constantFrom("red", "blue");
const fault = fc.constantFrom<WriteFault>(
  "refused",
  "answerLost",
  "late",
  "contended",
  "killed",
  "slow",
  "slowlyRefused",
  "slowlyLost",
);

const STEPS = [
  fc.tuple(host, color).map(([name, label]) => new Step(`add ${name} ${label}`, (lab) => lab.addHost(name, label))),
  fc.tuple(host, color).map(([name, label]) => new Step(`add ${name} ${label}`, (lab) => lab.addHost(name, label))),
  host.map((name) => new Step(`delete ${name}`, (lab) => lab.deleteHost(name))),
  fc.tuple(host, color).map(
    ([name, label]) =>
      new Step(`replace ${name} ${label}`, async (lab) => {
        await lab.deleteHost(name);
        await lab.addHost(name, label);
      }),
  ),
  fc
    .tuple(host, fc.boolean())
    .map(
      ([name, closed]) => new Step(`${closed ? "close" : "open"} ${name}`, (lab) => lab.changeHost(name, { closed })),
    ),
  fc
    .tuple(host, color)
    .map(([name, label]) => new Step(`paint ${name} ${label}`, (lab) => lab.changeHost(name, { color: label }))),
  fc
    .tuple(machine, fc.option(color, { nil: undefined }))
    .map(([name, label]) => new Step(`add ${name} ${label ?? "any"}`, (lab) => lab.addMachine(name, label))),
  fc
    .tuple(machine, fc.option(color, { nil: undefined }))
    .map(([name, label]) => new Step(`add ${name} ${label ?? "any"}`, (lab) => lab.addMachine(name, label))),
  fc
    .tuple(machine, fc.boolean())
    .map(
      ([name, vanishes]) =>
        new Step(`${vanishes ? "vanish" : "delete"} ${name}`, (lab) => lab.deleteMachine(name, vanishes)),
    ),
  fc
    .tuple(machine, fc.boolean())
    .map(
      ([name, paused]) => new Step(`${paused ? "pause" : "resume"} ${name}`, (lab) => lab.pauseMachine(name, paused)),
    ),
  fc
    .tuple(machine, fc.option(color))
    .map(([name, label]) => new Step(`${name} wants ${label ?? "any"}`, (lab) => lab.changeMachine(name, label))),
  fc.constant(new Step("next read slow", (lab) => lab.line.slowRead())),
  fault.map((next) => new Step(`next write ${next}`, (lab) => lab.line.order(next))),
  fault.map((next) => new Step(`next write ${next}`, (lab) => lab.line.order(next))),
  fc.constant(new Step("deliver late writes", (lab) => lab.line.deliver())),
  fc.constant(new Step("freeze watches", (lab) => lab.line.freeze())),
  fc.constant(new Step("thaw watches", (lab) => lab.line.thaw())),
  fc.constant(new Step("restart", (lab) => lab.restart())),
  // A host for machines that wait, with trouble at once.
  fc.tuple(host, color, fault, machine).map(
    ([name, label, next, leaver]) =>
      new Step(`next write ${next}, add ${name} ${label}, delete ${leaver}`, async (lab) => {
        lab.line.order(next);
        await lab.addHost(name, label);
        await lab.pass(1);
        await lab.deleteMachine(leaver, false);
      }),
  ),
  fc.constantFrom(5, 60, 500).map((ms) => new Step(`pass ${ms} ms`, (lab) => lab.pass(ms))),
];

/** What must hold whenever everything has settled. */
function expectSettled(lab: Lab): void {
  const hosts = lab.hosts();
  const claims = hosts.flatMap(({ metadata, spec }) =>
    spec?.machineRef === undefined ? [] : [{ host: metadata.name, ...spec.machineRef }],
  );
  const machines = lab.machines();
  expect(lab.violations).toEqual([]);
  // No claim of a machine that does not exist, and no machine with two hosts.
  expect(claims.filter((claim) => !machines.some(({ metadata }) => metadata.name === claim.name))).toEqual([]);
  expect(new Set(claims.map((claim) => claim.name)).size).toBe(claims.length);
  // No machine that waits next to a host that it could have.
  const isFree = (each: LabHost): boolean => whyTaken(each) === undefined;
  const idle = machines
    .filter(({ spec, metadata }) => spec?.paused !== true && !claims.some((claim) => claim.name === metadata.name))
    .filter((each) => hosts.some((one) => isFree(one) && matches(each)(one)))
    .map(({ metadata }) => metadata.name);
  expect(idle).toEqual([]);
}

test.each([
  ["UID", byUID],
  ["kind and name", byKindAndName],
])(
  "one machine per host, no claim leaked, no machine left waiting, whatever fails: claims by %s",
  async (_, identity) => {
    await fc.assert(
      fc.asyncProperty(fc.commands(STEPS, { maxCommands: 40 }), async (steps) => {
        const lab = await Lab.start(identity);
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: lab }), steps);
          await lab.settle();
          expectSettled(lab);
        } finally {
          await lab.close();
        }
      }),
      { numRuns: 150 },
    );
  },
);

test("machines get hosts in the order in which they began to wait, also when their claims conflict", async () => {
  const order = fc.shuffledSubarray(["m1", "m2", "m3", "m4", "m5"], { minLength: 2 });
  const faults = fc.array(fc.constantFrom<WriteFault | undefined>("contended", "refused", "answerLost", undefined), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(order, faults, fc.nat(4), async (names, next, gone) => {
      const lab = await Lab.start(byUID);
      try {
        for (const name of names) {
          await lab.addMachine(name, undefined);
          await lab.pass(100);
        }
        const leaver = names[gone];
        if (leaver !== undefined) await lab.deleteMachine(leaver, gone % 2 === 0);
        const left = names.filter((name) => name !== leaver);
        for (const [i] of left.entries()) {
          const one = next[i];
          if (one !== undefined) lab.line.order(one);
          await lab.addHost(`h${i}`, "red");
          await lab.settle();
        }
        expect(lab.claimed).toEqual(left);
      } finally {
        await lab.close();
      }
    }),
    { numRuns: 20 },
  );
});
