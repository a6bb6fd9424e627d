import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Program, type ProgramId, type ProgramState, programHash } from "@capstan/workloads";
import type { LocalWorkloads } from "../placement/process/workloads.ts";

interface Running {
  program: Program;
  hash: string;
  state: ProgramState;
}

/** Fake programs: each is ready immediately by default. Actions are recorded in `events`. */
export class FakeWorkloads implements LocalWorkloads {
  readonly events: string[] = [];
  /** Returns the state of a program after its start; ready by default. */
  fate: (program: Program) => Partial<ProgramState> | undefined = () => undefined;
  /** Called after a start, to simulate side effects of a program. */
  onStart: (program: Program) => Promise<void> = async () => undefined;
  readonly running = new Map<string, Running>();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async ensure(program: Program): Promise<ProgramState> {
    const key = keyOf(program.id);
    const hash = programHash(program);
    const old = this.running.get(key);
    if (old?.hash === hash && old.state.phase !== "Stopped") {
      old.program = program;
      old.state = { ...old.state, ...this.fate(program) };
      return old.state;
    }
    this.events.push(`${old === undefined || old.state.phase === "Stopped" ? "start" : "restart"} ${program.id.name}`);
    if (program.dataDir === true)
      await mkdir(join(this.#root, program.id.owner, program.id.name, "data/member"), { recursive: true });
    const state: ProgramState = {
      id: program.id,
      phase: "Ready",
      restarts: 0,
      since: 0,
      message: "",
      ...this.fate(program),
    };
    this.running.set(key, { program, hash, state });
    await this.onStart(program);
    return state;
  }

  async matches(program: Program): Promise<boolean | undefined> {
    const old = this.running.get(keyOf(program.id));
    if (old === undefined || old.state.phase === "Stopped") return undefined;
    return old.hash === programHash(program);
  }

  async stop(id: ProgramId): Promise<void> {
    const old = this.running.get(keyOf(id));
    if (old === undefined || old.state.phase === "Stopped") return;
    this.events.push(`stop ${id.name}`);
    old.state = { ...old.state, phase: "Stopped" };
  }

  async remove(id: ProgramId): Promise<void> {
    if (this.running.delete(keyOf(id))) this.events.push(`remove ${id.name}`);
    await rm(join(this.#root, id.owner, id.name), { recursive: true, force: true });
  }

  async removeOwner(owner: string): Promise<void> {
    for (const { state } of this.running.values()) if (state.id.owner === owner) await this.remove(state.id);
    await rm(join(this.#root, owner), { recursive: true, force: true });
  }

  async list(owner: string): Promise<ProgramState[]> {
    return [...this.running.values()].flatMap(({ state }) => (state.id.owner === owner ? [state] : []));
  }

  subscribe(): () => void {
    return () => undefined;
  }

  /** Arguments of the program with a name. */
  args(owner: string, name: string): string[] {
    return this.running.get(`${owner}/${name}`)?.program.args ?? [];
  }

  /** What happened since the last call. */
  news(): string[] {
    return this.events.splice(0);
  }
}

function keyOf(id: ProgramId): string {
  return `${id.owner}/${id.name}`;
}
