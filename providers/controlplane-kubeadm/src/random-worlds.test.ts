import { seededRandom } from "@capstan/apimachinery";
import { KubeadmConfig, type Machine } from "@capstan/capi";
import { expect, test } from "vitest";
import { TestMachine } from "../../core/src/testing/test-infrastructure.ts";
import { World } from "./testing/world.ts";

/** `CAPSTAN_WORLDS=100 CAPSTAN_WORLDS_SEED=7` runs others and more of them: each is a whole plane with its controllers. */
const WORLDS = Number(process.env["CAPSTAN_WORLDS"] ?? 5);
const SEED = Number(process.env["CAPSTAN_WORLDS_SEED"] ?? 1);
const EVENTS = 8;

/** One control plane with its real controllers, to which things happen by chance. */
class Chance {
  readonly world: World;
  readonly log: string[] = [];
  readonly #random: ReturnType<typeof seededRandom>;
  #replicas = 3;
  #version = 36;

  constructor(world: World, seed: number) {
    this.world = world;
    this.#random = seededRandom(seed);
  }

  async run(): Promise<void> {
    const { world } = this;
    await world.addCluster();
    await world.addPlane({ replicas: this.#replicas });
    for (let event = 0; event < EVENTS; event++) {
      for (let turn = this.#below(12); turn > 0; turn--) await world.turn(5_000);
      await this.#happen();
    }
    await this.#repair();
    await world.ready(this.#replicas);
    await world.turn(120_000);
  }

  async expectEnd(): Promise<void> {
    const { world, log } = this;
    const text = [...log, ...world.side.calls.slice(-20)].join("\n");
    expect(world.side.quorumLosses, text).toEqual([]);
    const machines = await world.machines();
    expect(machines.length, text).toBe(this.#replicas);
    const nodes = machines.map(({ status }) => status?.nodeRef?.name);
    expect(world.side.members).toHaveLength(nodes.length);
    expect(new Set(world.side.members.map(({ node }) => node)), text).toEqual(new Set(nodes));
    expect(
      machines.map(({ spec }) => spec.version),
      text,
    ).toEqual(machines.map(() => `v1.${this.#version}.2`));
    const names = machines.map(({ metadata }) => metadata.name);
    for (const part of [...(await world.list(KubeadmConfig)), ...(await world.list(TestMachine))])
      expect(names, text).toContain(part.metadata.name);
  }

  async #happen(): Promise<void> {
    const { world } = this;
    const machines = await world.machines();
    const machine = machines[this.#below(Math.max(1, machines.length))];
    switch (this.#below(7)) {
      case 0:
        this.#replicas = [1, 3, 5][this.#below(3)] ?? 3;
        this.log.push(`replicas ${this.#replicas}`);
        return await world.patch({ replicas: this.#replicas });
      case 1:
        if (this.#version > 36) return;
        this.log.push(`version v1.${++this.#version}.2`);
        return await world.patch({ version: `v1.${this.#version}.2` });
      case 2:
        this.log.push("an answer is lost");
        world.side.lostAnswers++;
        return;
      case 3:
        return await this.#restart();
      case 4:
        if (machine === undefined || machine.metadata.deletionTimestamp !== undefined) return;
        this.log.push(`a person deletes ${machine.metadata.name}`);
        await world.user.delete(machine);
        return;
      case 5:
        return await this.#fail(machine);
      default:
        // Whoever looks sees the past until the next member is changed.
        world.side.frozen = !world.side.frozen;
        this.log.push(`frozen: ${world.side.frozen}`);
    }
  }

  /** The manager is killed after one of its next writes, between any two of one step. */
  async #restart(): Promise<void> {
    const { plane } = this.world;
    const writes = 1 + this.#below(12);
    this.log.push(`killed after ${writes} writes`);
    await plane.stopControllers();
    await plane.startControllers(writes);
    for (let turn = 0; turn < 20 && !plane.died; turn++) await this.world.turn(5_000);
    await plane.stopControllers();
    await plane.startControllers();
  }

  /** A Machine stops for good, if the others keep the quorum. */
  async #fail(machine: Machine | undefined): Promise<void> {
    const { side } = this.world;
    const node = machine?.status?.nodeRef?.name;
    const working = side.members.filter((each) => !side.broken.has(each.node) && each.node !== node).length;
    if (machine === undefined || node === undefined || working * 2 <= side.members.length) return;
    this.log.push(`${machine.metadata.name} fails`);
    side.broken.add(node);
    if (side.leader === node) side.leader = side.members.find((each) => !side.broken.has(each.node))?.node;
    await this.world.failHealthCheck(machine);
  }

  /** The last Machine is not remediated: a person repairs it. */
  async #repair(): Promise<void> {
    const { side } = this.world;
    side.frozen = false;
    if ((await this.world.machines()).length === 1) side.broken.clear();
  }

  #below(limit: number): number {
    return (this.#random.bytes(2).reduce((sum, byte) => 256 * sum + byte, 0) % (limit * 64)) % limit;
  }
}

test("real controllers that are killed while things happen keep the quorum, and leave nothing over", async () => {
  for (let seed = SEED; seed < SEED + WORLDS; seed++) {
    const world = await World.start();
    const chance = new Chance(world, seed);
    try {
      await chance.run();
      await chance.expectEnd();
    } catch (error) {
      throw new Error(`world ${seed}: ${chance.log.join("; ")}\n${world.side.calls.slice(-15).join("; ")}`, {
        cause: error,
      });
    } finally {
      await world.close();
    }
  }
}, 3_600_000);
