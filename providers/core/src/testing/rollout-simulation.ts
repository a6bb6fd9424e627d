import { type Random, randomInt } from "@capstan/apimachinery";
import { type PlannedSet, planRollout, type RolloutInput } from "../machine-deployment/rollout-planner.ts";

/** A Machine of a simulated set. */
interface SimulatedMachine {
  name: string;
  state: "starting" | "available" | "broken" | "deleting";
}

/** A simulated MachineSet: what is asked of it, and what it has. */
export interface SimulatedSet {
  name: string;
  replicas: number;
  machines: SimulatedMachine[];
  frozen?: boolean;
}

export interface Simulation {
  input: Omit<RolloutInput, "sets">;
  sets: SimulatedSet[];
  /** The set whose template is wanted. */
  current: string;
  random: Random;
  /** What a user does at the beginning of a turn: scales, deletes, pauses. Returns what to log; "" to be called again. */
  act?(turn: number, simulation: Simulation): string | undefined;
}

const MAX_TURNS = 500;

/** A starting set of Machines that are all available. */
export function simulatedSet(name: string, count: number, broken = 0): SimulatedSet {
  const machines = Array.from(
    { length: count },
    (_, index): SimulatedMachine => ({
      name: `${name}-${index}`,
      state: index < broken ? "broken" : "available",
    }),
  );
  return { name, replicas: count, machines };
}

/**
 * Plays a whole rollout: in every turn the planner decides, then chance lets each set create, start or delete one Machine. Gives
 * back the log of all turns, which the tests compare with the recorded one.
 */
export function simulateRollout(simulation: Simulation): string {
  const lines: string[] = [];
  let made = 0;
  let quiet = 0;
  for (let turn = 0; turn < MAX_TURNS && quiet < 12; turn++) {
    const acted = simulation.act?.(turn, simulation);
    if (acted !== undefined && acted !== "") lines.push(`  user: ${acted}`);
    const before = askedFor(simulation);
    const input = { ...simulation.input, sets: simulation.sets.map((set, i) => planned(set, i, simulation.current)) };
    const plan = planRollout(input);
    for (const set of simulation.sets) set.replicas = plan.replicas.get(set.name) ?? set.replicas;
    checkLimits(simulation, before, lines);
    const events: string[] = [];
    for (const set of simulation.sets) {
      const event = step(set, simulation.random, () => `${set.name}-${set.machines.length}.${made++}`);
      if (event !== undefined) events.push(event);
    }
    if (plan.notes.length === 0 && events.length === 0) {
      if (acted === undefined) quiet++;
      continue;
    }
    quiet = 0;
    lines.push(`${String(turn).padStart(3)} ${simulation.sets.map(describeSet).join("  ")}`);
    for (const note of plan.notes) lines.push(`  plan: ${note}`);
    if (events.length > 0) lines.push(`  then: ${events.join(", ")}`);
  }
  lines.push(`end ${simulation.sets.map(describeSet).join("  ")}`);
  return `${lines.join("\n")}\n`;
}

function planned(set: SimulatedSet, index: number, current: string): PlannedSet {
  return {
    name: set.name,
    current: set.name === current,
    replicas: set.replicas,
    machines: set.machines.length,
    available: set.machines.filter(({ state }) => state === "available").length,
    createdAt: index,
  };
}

function askedFor({ sets }: Simulation): number {
  return sets.reduce((sum, set) => sum + set.replicas, 0);
}

/** A breach is part of the log, where nobody can overlook it. */
function checkLimits(simulation: Simulation, before: number, lines: string[]): void {
  const { input } = simulation;
  const asked = askedFor(simulation);
  if (input.strategy === "RollingUpdate" && asked > before && asked > input.desired + input.maxSurge)
    lines.push(`  BREACH: ${asked} requested, at most ${input.desired + input.maxSurge} allowed`);
}

/** What a set's controller gets done in one turn. */
function step(set: SimulatedSet, random: Random, name: () => string): string | undefined {
  const living = set.machines.filter(({ state }) => state !== "deleting");
  const deleting = set.machines.find(({ state }) => state === "deleting");
  if (randomInt(random, 3) === 0) return undefined;
  if (deleting !== undefined && randomInt(random, 2) === 0) {
    set.machines = set.machines.filter((machine) => machine !== deleting);
    return `${deleting.name} gone`;
  }
  if (set.machines.length > set.replicas && living.length > set.replicas) {
    // Unhealthy Machines go first, as MachineSets choose them.
    const victim = living.find(({ state }) => state !== "available") ?? living[randomInt(random, living.length)];
    if (victim === undefined) return undefined;
    victim.state = "deleting";
    return `${victim.name} deleting`;
  }
  if (set.machines.length < set.replicas && set.frozen !== true) {
    const machine: SimulatedMachine = { name: name(), state: "starting" };
    set.machines.push(machine);
    return `${machine.name} created`;
  }
  const starting = set.machines.find(({ state }) => state === "starting");
  if (starting === undefined) return undefined;
  starting.state = "available";
  return `${starting.name} available`;
}

function describeSet(set: SimulatedSet): string {
  const count = (state: SimulatedMachine["state"]): number => set.machines.filter((m) => m.state === state).length;
  const parts = (["available", "starting", "broken", "deleting"] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  return `${set.name}=${set.replicas} (${parts.length === 0 ? "none" : parts.join(", ")})`;
}
