import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import { removeReclaimed } from "@capstan/os";
import type { Program, ProgramId, ProgramState, Workloads } from "../types.ts";
import type { OwnerLimits } from "./isolation/cgroup-limits.ts";
import { Isolation, type IsolationReport } from "./isolation/isolation.ts";
import { ownerDir, programPaths } from "./layout.ts";
import { readRecord } from "./record.ts";
import { Supervisor } from "./supervisor.ts";

/** Implements Workloads with supervised local processes below one root folder. */
export class ProcessWorkloads implements Workloads {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #isolation: Isolation;
  readonly #supervisors = new Map<string, Supervisor>();
  readonly #listeners = new Set<(id: ProgramId) => void>();

  /** Programs see neither the root nor the directories that are `hidden`; `limits` hold for all programs of an owner together. */
  constructor(options: { root: string; clock: Clock; hidden?: readonly string[]; limits?: Partial<OwnerLimits> }) {
    this.#root = options.root;
    this.#clock = options.clock;
    this.#isolation = new Isolation(options.root, options.clock, options);
  }

  /** How far programs with a user id of their own are kept apart on this machine; needs root. */
  isolationReport(): Promise<IsolationReport> {
    return this.#isolation.report();
  }

  /** Takes up every process that an earlier manager left running. Call once at start. */
  async adoptAll(): Promise<ProgramId[]> {
    const adopted: ProgramId[] = [];
    for (const namespace of await folders(this.#root))
      for (const name of await folders(join(this.#root, namespace)))
        for (const program of await folders(join(this.#root, namespace, name))) {
          const id = { owner: `${namespace}/${name}`, name: program };
          const record = await readRecord(programPaths(this.#root, id).record);
          if (record !== undefined && (await this.#supervisor({ ...record.program, id }).resume())) adopted.push(id);
        }
    return adopted;
  }

  ensure(program: Program): Promise<ProgramState> {
    return this.#supervisor(program).ensure(program);
  }

  /** Whether the running process matches `program`, so that `ensure` would not restart it; undefined when none is running. */
  matches(program: Program): Promise<boolean | undefined> {
    return this.#supervisor(program).matches(program);
  }

  async remove(id: ProgramId): Promise<void> {
    const record = await readRecord(programPaths(this.#root, id).record);
    const supervisor =
      this.#supervisors.get(keyOf(id)) ??
      (record === undefined ? undefined : this.#supervisor({ ...record.program, id }));
    await supervisor?.stop();
    this.#supervisors.delete(keyOf(id));
    await removeReclaimed(programPaths(this.#root, id).dir);
  }

  /** Stops a program but keeps its folder with its data (hibernation, restore). */
  async stop(id: ProgramId): Promise<void> {
    await this.#supervisors.get(keyOf(id))?.stop();
    await this.#stopped(id.owner);
  }

  /** Removes what is left of an owner after its programs were removed. */
  async removeOwner(owner: string): Promise<void> {
    for (const state of await this.list(owner)) await this.remove(state.id);
    // A program may have started others that its end is nothing to.
    await this.#isolation.ended(owner, { kill: true });
    await removeReclaimed(ownerDir(this.#root, owner));
  }

  async list(owner: string): Promise<ProgramState[]> {
    const states = new Map<string, ProgramState>();
    for (const name of await folders(ownerDir(this.#root, owner))) {
      const id = { owner, name };
      if (this.#supervisors.has(keyOf(id))) continue;
      const record = await readRecord(programPaths(this.#root, id).record);
      if (record !== undefined) states.set(name, this.#supervisor({ ...record.program, id }).state());
    }
    for (const supervisor of this.#supervisors.values()) {
      const state = supervisor.state();
      if (state.id.owner === owner) states.set(state.id.name, state);
    }
    return [...states.values()];
  }

  subscribe(listener: (id: ProgramId) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops every program, in the order given by `stopOrder`: some of one owner may need those of another to the last. */
  async stopAll(stopOrder: (id: ProgramId) => number): Promise<void> {
    const all = [...this.#supervisors.values()].map((supervisor) => ({
      supervisor,
      rank: stopOrder(supervisor.state().id),
    }));
    for (const rank of [...new Set(all.map((each) => each.rank))].toSorted((a, b) => a - b))
      await Promise.all(all.flatMap((each) => (each.rank === rank ? [each.supervisor.stop()] : [])));
    for (const owner of new Set(all.map(({ supervisor }) => supervisor.state().id.owner))) await this.#stopped(owner);
  }

  /** When none of an owner's programs runs, nothing of it needs control groups. */
  async #stopped(owner: string): Promise<void> {
    const states = [...this.#supervisors.values()].map((supervisor) => supervisor.state());
    if (states.some(({ id, pid }) => id.owner === owner && pid !== undefined)) return;
    await this.#isolation.ended(owner, { kill: false });
  }

  /** The manager leaves; the programs stay. */
  release(): void {
    for (const supervisor of this.#supervisors.values()) supervisor.release();
    this.#supervisors.clear();
  }

  #supervisor(program: Program): Supervisor {
    const key = keyOf(program.id);
    let supervisor = this.#supervisors.get(key);
    if (supervisor === undefined) {
      supervisor = new Supervisor(program, programPaths(this.#root, program.id), this.#clock, this.#isolation, () => {
        for (const listener of this.#listeners) listener(program.id);
      });
      this.#supervisors.set(key, supervisor);
    }
    return supervisor;
  }
}

function keyOf(id: ProgramId): string {
  return `${id.owner}/${id.name}`;
}

async function folders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}
