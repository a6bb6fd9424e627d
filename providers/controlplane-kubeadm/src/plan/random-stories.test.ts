import fc from "fast-check";
import { expect, test } from "vitest";
import type { Step } from "./step.ts";
import { type BirthFault, Model, type ModelMachine } from "./testing/model.ts";

/** `CAPSTAN_STORIES=100000 CAPSTAN_STORIES_SEED=1` runs others and more of them. */
const STORIES = Number(process.env["CAPSTAN_STORIES"] ?? 10_000);
const SEED = Number(process.env["CAPSTAN_STORIES_SEED"] ?? 16);

/** The largest share of stories in which more failed than etcd tolerates: their end is a recovery's business. */
const MAX_LOST = 0.2;

type OfMachine =
  | "fail"
  | "failRegardless"
  | "deleteMachine"
  | "markForDeletion"
  | "alarm"
  | "unreachable"
  | "flap"
  | "memberRemoved"
  | "requestRemediation";

/** What may happen to a control plane between two reconciles. */
type Happening =
  | { type: "wait" | "stale" | "kill" | "partition"; count: number }
  | { type: "scale"; replicas: number }
  | { type: "change" | "election" | "orphan" | "votingOrphan" }
  | { type: "birth"; fault: BirthFault }
  | { type: OfMachine; which: number };

const one = <T extends string>(...types: T[]) => fc.constantFrom(...types);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: one("wait"), count: fc.integer({ min: 1, max: 20 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: one("stale", "kill", "partition"), count: fc.integer({ min: 0, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ type: one("scale"), replicas: fc.constantFrom(1, 3, 5) }) },
  { weight: 2, arbitrary: fc.record({ type: one("change", "election", "orphan", "votingOrphan") }) },
  { weight: 1, arbitrary: fc.record({ type: one("birth"), fault: one("stillborn", "nodeless", "unpromotable") }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: one(
        "fail",
        "deleteMachine",
        "markForDeletion",
        "alarm",
        "unreachable",
        "flap",
        "memberRemoved",
        "requestRemediation",
      ),
      which: fc.nat(9),
    }),
  },
);

/** What else may happen in some stories: failures that no quorum survives. */
const disaster: fc.Arbitrary<Happening> = fc.record({ type: one("failRegardless"), which: fc.nat(9) });

/** One story: what happened to it from outside decides what may be expected at its end. */
class Story {
  readonly model = new Model();
  /** The quorum, or the last Machine in it, was lost by what happened, not by a step. */
  quorumLost = false;
  #partitionTicks = 0;

  constructor(surge: number, domains: boolean) {
    const { model } = this;
    model.wanted.maxSurge = surge;
    model.wanted.replicas = 3;
    if (domains) model.wanted.domains = ["a", "b", "c"].map((name) => ({ name, controlPlane: true }));
    model.check = (step) => this.#judge(step);
  }

  happen(event: Happening, index: number): void {
    const { model } = this;
    model.lag = index;
    const machine = "which" in event ? model.machines[event.which % Math.max(1, model.machines.length)] : undefined;
    switch (event.type) {
      case "wait":
        for (let tick = 0; tick < event.count; tick++) this.reconcile();
        break;
      case "stale":
        model.staleTicks = event.count;
        break;
      case "kill":
        model.killAfter = event.count % 3;
        break;
      case "partition":
        this.#partitionTicks = 3 * event.count;
        break;
      case "scale":
        model.say(`replicas: ${event.replicas}`);
        model.wanted.replicas = event.replicas;
        break;
      case "change":
        model.say("the spec changes");
        model.wanted.revision++;
        break;
      case "birth":
        // The only Machine without a health check's verdict is repaired by its owner.
        if (model.initialized && model.births.length < 2) model.births.push(event.fault);
        break;
      case "election":
        model.elect(index);
        break;
      case "orphan":
      case "votingOrphan":
        this.#addMember(event.type === "votingOrphan", index);
        break;
      default:
        if (machine !== undefined) this.#befall(machine, event.type);
    }
    this.quorumLost ||= model.members.length > 0 && !model.hasQuorum;
  }

  /** One reconcile: whatever it does, etcd keeps the quorum it had. */
  reconcile(): void {
    const { model } = this;
    model.partitioned = this.#partitionTicks > 0;
    if (this.#partitionTicks > 0) this.#partitionTicks--;
    const before = model.hasQuorum;
    const voters = model.members.filter(({ learner }) => !learner).length;
    const data = model.members.length > 0;
    const hadWrites = model.hasAcknowledged;
    model.tick();
    if (before && voters > 0 && !model.hasQuorum) this.#fail("the quorum was lost by a step of the plan");
    if (data && model.members.length === 0) this.#fail("all data were deleted");
    if (hadWrites && !model.hasAcknowledged) this.#fail("acknowledged writes were lost by a step of the plan");
    if (!this.quorumLost && !model.electsAcknowledged) this.#fail("an election could lose acknowledged writes");
  }

  /** Without a quorum nothing is desired but that the data stay where they are, until a person recovers the control plane. */
  endWithoutQuorum(): void {
    const { model } = this;
    const survivors = model.machines.filter(({ alive, node }) => alive && model.members.some((m) => m.node === node));
    this.#partitionTicks = 0;
    for (let tick = 0; tick < 100; tick++) this.reconcile();
    for (const { name } of survivors) model.machine(name);
  }

  /** Nothing happens any more, and what only people repair is repaired. */
  end(): void {
    const { model } = this;
    // A rolling update without surge needs three.
    if (model.wanted.replicas < 3) model.wanted.maxSurge = 1;
    this.#partitionTicks = 0;
    model.staleTicks = 0;
    for (let quiet = 0, tick = 0; quiet < 8 && tick < 1500; tick++) {
      for (const machine of model.machines) {
        machine.alarmed = false;
        machine.unreachable = false;
        if (machine.unpromotable) machine.failedSinceMs ??= model.nowMs;
        // The last Machine is not remediated: a person looks after it.
        else if (model.machines.length === 1 && model.isBorn(machine)) machine.failedSinceMs = undefined;
      }
      // Remediation waits for deletions, and one that is held for the other Machines to work.
      if (model.machines.some(({ deletingMs }) => deletingMs !== undefined))
        for (const machine of model.machines) if (!model.works(machine)) machine.deletingMs ??= model.nowMs;
      this.reconcile();
      const works = model.machines.every((machine) => model.works(machine) && !machine.unpromotable);
      quiet = works && model.last?.step.type === "none" ? quiet + 1 : 0;
    }
  }

  get text(): string {
    return this.model.log.slice(-40).join("\n");
  }

  #addMember(votes: boolean, index: number): void {
    const { model } = this;
    const settled = model.members.every(({ learner }) => !learner);
    if (!model.hasQuorum || model.members.length === 0 || (votes && !settled)) return;
    const name = `stray-${index}`;
    model.say(`somebody adds the member ${name}`);
    const revision = votes ? model.acknowledged : 0;
    model.members.push({ id: name, node: name, started: votes, learner: !votes, elsewhere: votes, revision });
  }

  #befall(machine: ModelMachine, type: OfMachine): void {
    const { model } = this;
    switch (type) {
      case "failRegardless":
        if (!machine.alive || !model.initialized) return;
        this.quorumLost ||= !model.keepsQuorumWithout(machine);
        model.fail(machine.name);
        return;
      case "fail":
        // Failures that cost the quorum are a recovery's business.
        if (machine.alive && model.keepsQuorumWithout(machine)) model.fail(machine.name);
        return;
      case "deleteMachine":
        if (machine.deletingMs !== undefined) return;
        model.say(`a person deletes ${machine.name}`);
        machine.deletingMs = model.nowMs;
        return;
      case "markForDeletion":
        machine.deleteAnnotation = true;
        return;
      case "requestRemediation":
        model.say(`a person requests the remediation of ${machine.name}`);
        machine.failedSinceMs ??= model.nowMs - 60_000;
        return;
      case "alarm":
        machine.alarmed = true;
        return;
      case "unreachable":
        machine.unreachable = true;
        return;
      case "flap":
        // The health check has given up, and then the machine is back.
        if (machine.deletingMs === undefined && model.isBorn(machine))
          machine.failedSinceMs = machine.failedSinceMs === undefined ? model.nowMs - 60_000 : undefined;
        return;
      case "memberRemoved": {
        const member = model.members.find(({ node }) => node === machine.node);
        if (member === undefined || !model.keepsQuorumWithout(machine) || model.members.length < 2) return;
        model.say(`somebody removes the member of ${machine.name}`);
        model.removeMember(member.id);
        machine.alive = false;
        machine.failedSinceMs ??= model.nowMs;
        return;
      }
    }
  }

  /** No Machine is created or deleted needlessly, and nothing starts a second cluster. */
  #judge(step: Step): void {
    const { model } = this;
    const { replicas, maxSurge, revision } = model.wanted;
    const lasting = model.machines.filter(({ deletingMs }) => deletingMs === undefined);
    if (step.type === "create") {
      const outdated = lasting.some((machine) => machine.revision !== revision);
      const last = model.machines.length === 1 && lasting.length === 0;
      if (!last && model.machines.length >= replicas + (outdated ? maxSurge : 0))
        this.#fail("a needless Machine is created");
      if (step.mode === "init" && model.members.length > 0) this.#fail("a second cluster is started");
    }
    if (step.type !== "delete") return;
    const machine = model.machine(step.machine);
    if (machine.deletingMs !== undefined) this.#fail(`${machine.name} is deleted twice`);
    const needed = {
      rollout: machine.revision !== revision || lasting.some((each) => each.deleteAnnotation),
      scaleDown: lasting.length > replicas,
      remediation: !model.works(machine),
    };
    if (!needed[step.why]) this.#fail(`${machine.name} is deleted needlessly`);
    if (model.initialized && !model.maySpare(machine))
      this.#fail(`${machine.name} is deleted, but the quorum needs it`);
  }

  #fail(what: string): never {
    throw new Error(`${what}:\n${this.text}`);
  }
}

/** Some stories have one disaster at most: two in a row are rarely survived. */
const events = fc
  .tuple(fc.array(happening, { maxLength: 25 }), fc.option(fc.tuple(disaster, fc.nat(24)), { freq: 5 }))
  .map(([usual, extra]) => (extra === null ? usual : usual.toSpliced(extra[1], 0, extra[0])));

test("no story of scaling, changes, faults and deletions costs the quorum, an acknowledged write or a Machine needlessly, and each one ends as desired", () => {
  const lost = { all: 0, byChance: 0 };
  fc.assert(
    fc.property(events, one("0", "1"), fc.boolean(), (happenings, surge, domains) => {
      const story = new Story(Number(surge), domains);
      const { model } = story;
      for (const [index, event] of happenings.entries()) story.happen(event, index);
      if (story.quorumLost) {
        lost.all++;
        if (!happenings.some(({ type }) => type === "failRegardless")) lost.byChance++;
        story.endWithoutQuorum();
        return;
      }
      story.end();
      const { text } = story;
      expect(model.machines.length, text).toBe(model.wanted.replicas);
      expect(model.members.length, text).toBe(model.wanted.replicas);
      const nodes = new Set(model.machines.map(({ node }) => node));
      expect(
        model.machines.filter((machine) => machine.revision !== model.wanted.revision || !model.works(machine)),
        text,
      ).toEqual([]);
      expect(
        model.members.filter(({ node, learner }) => learner || !nodes.has(node)),
        text,
      ).toEqual([]);
    }),
    { numRuns: STORIES, seed: SEED },
  );
  expect(lost.all / STORIES).toBeLessThan(MAX_LOST);
  expect(lost.byChance, "without a disaster").toBe(0);
}, 600_000);
