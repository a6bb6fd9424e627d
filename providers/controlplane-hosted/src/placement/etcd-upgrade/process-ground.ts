import { access, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { copyDurable, reclaim, removeReclaimed, syncDirectory } from "@capstan/os";
import type { ProgramState } from "@capstan/workloads";
import type { PlaneRecord } from "../plane-record.ts";
import type { ProcessInputs } from "../process/inputs.ts";
import { etcdName, etcdProgram, type ProgramInput } from "../process/programs.ts";
import type { LocalWorkloads } from "../process/workloads.ts";
import { type EtcdDescription, withSettings } from "./description.ts";
import type { EtcdGround, PutBackResult, SaveResult } from "./ground.ts";
import type { EtcdChangeRecord } from "./record.ts";
import { restartsOf } from "./trial.ts";

/** Name of the program of an etcd trial, which runs without data. */
export const ETCD_TRIAL = "etcd-next";

/** What a change of etcd as processes works on. */
export interface EtcdChangeScope {
  owner: string;
  record: PlaneRecord;
  input: ProgramInput;
  /** Returns the folder with the binaries of a version. */
  binDir(version: string): Promise<string>;
  save(): Promise<void>;
}

/** Dependencies of ProcessGround. */
export interface ProcessGroundOptions {
  root: string;
  workloads: LocalWorkloads;
  inputs: ProcessInputs;
}

/** Changes etcd as processes: the trial is an additional process, and the data is saved as a copy next to it. */
export class ProcessGround implements EtcdGround {
  readonly record: PlaneRecord;
  readonly #options: ProcessGroundOptions;
  readonly #owner: string;
  readonly #scope: Omit<EtcdChangeScope, "record" | "owner"> | undefined;

  /** Without a scope the only possible action is a rollback. */
  constructor(options: ProcessGroundOptions, owner: string, record: PlaneRecord, scope?: EtcdChangeScope) {
    this.#options = options;
    this.#owner = owner;
    this.record = record;
    this.#scope = scope;
  }

  async save(): Promise<void> {
    await this.#scope?.save();
  }

  async tryOut(to: EtcdDescription): Promise<ProgramState> {
    const owner = this.#owner;
    const scope = this.#scope;
    if (scope === undefined) throw new Error("cannot start a trial of etcd without its inputs");
    const member = await this.#options.inputs.trialMember(owner);
    const dir = await scope.binDir(to.version);
    const id = { owner, name: ETCD_TRIAL };
    return await this.#options.workloads.ensure({
      ...etcdProgram(described(scope.input, to), dir, 0, member),
      id,
    });
  }

  async endTrial(): Promise<void> {
    await this.#options.workloads.remove({ owner: this.#owner, name: ETCD_TRIAL });
  }

  async restarts(): Promise<number> {
    const states = await this.#options.workloads.list(this.#owner);
    return restartsOf(states.filter(({ id: { name } }) => name === "etcd" || /^etcd-\d+$/.test(name)));
  }

  async keep(change: EtcdChangeRecord, serves: EtcdDescription): Promise<SaveResult> {
    // Several members raise the version of their data only when all of them have changed.
    const needed = change.to.version !== serves.version && (this.record.members ?? []).length === 1;
    if (!needed) return { type: "saved" };
    await this.#stop();
    try {
      await this.release();
      // It belongs to the program's user, to whom the next start gives it back.
      await reclaim(this.#data);
      await copyDurable(this.#data, this.#before, { links: "keep" });
    } catch (error) {
      await this.release();
      const why = error instanceof Error ? error.message : String(error);
      return { type: "failed", why: `its data cannot be saved first: ${why}` };
    }
    return { type: "saved", kept: true };
  }

  async release(): Promise<void> {
    await removeReclaimed(this.#before);
  }

  async putBack(change: EtcdChangeRecord): Promise<PutBackResult> {
    if (change.kept !== true || !(await exists(this.#before))) return { type: "done" };
    await this.#stop();
    await removeReclaimed(this.#data);
    await rename(this.#before, this.#data);
    await syncDirectory(dirname(this.#data));
    return { type: "done" };
  }

  refuseUpgrade(to: EtcdDescription, failure: string, serves: EtcdDescription): boolean {
    const { record } = this;
    if (to.version === serves.version) return false;
    record.refused = { version: to.version, message: `etcd of ${to.version} does not become ready: ${failure}` };
    if (record.etcdVersion === to.version) record.etcdVersion = serves.version;
    return true;
  }

  nameOf(to: EtcdDescription): string {
    return to.version === this.record.etcdServes?.version ? "set in spec.etcd" : `of ${to.version}`;
  }

  async #stop(): Promise<void> {
    await this.#options.workloads.stop({ owner: this.#owner, name: etcdName(0) });
  }

  get #data(): string {
    return join(this.#options.root, this.#owner, etcdName(0), "data");
  }

  get #before(): string {
    return `${this.#data}.before`;
  }
}

/** Returns the input with other settings of etcd than the spec's. */
export function described(input: ProgramInput, { settings }: EtcdDescription): ProgramInput {
  const spec = withSettings(input.plan.spec, settings);
  return { ...input, plan: { ...input.plan, spec }, context: { ...input.context, spec } };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
