import { execFile } from "node:child_process";
import { realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { promisify } from "node:util";
import type { Clock } from "@capstan/apimachinery";
import { CgroupLimits, defaultLimits, type OwnerLimits } from "./cgroup-limits.ts";
import { START_SCRIPT, viewMounts } from "./start-script.ts";

const run = promisify(execFile);
const UNSHARE = ["--mount", "--ipc", "--propagation", "slave", "--"];
/** "nobody" in every distribution, for finding out what works. */
const NOBODY = 65_534;

/** Reports which parts of the isolation between owners do not work on this machine. */
export interface IsolationReport {
  /** A mount view of its own, no new privileges, no capabilities. Undefined when it works. */
  viewProblem?: string;
  /** Limits of memory, CPU and processes that are not enforced. */
  limitProblems: string[];
}

/** The command line that starts a program, isolated or not. */
export interface Launch {
  command: string;
  args: string[];
}

/** Starts programs under their own user IDs so that they cannot access anything of another owner; requires root. */
export class Isolation {
  readonly #hidden: readonly string[];
  readonly #root: string;
  readonly #limits: OwnerLimits;
  readonly #clock: Clock;
  #cgroups: Promise<CgroupLimits> | undefined;
  #view: Promise<string | undefined> | undefined;

  /** `hidden` are directories that no program sees, in addition to the root of all owners. */
  constructor(root: string, clock: Clock, options: { hidden?: readonly string[]; limits?: Partial<OwnerLimits> } = {}) {
    this.#root = root;
    this.#clock = clock;
    this.#hidden = [root, ...(options.hidden ?? [])];
    this.#limits = { ...defaultLimits(), ...options.limits };
  }

  /** Tries everything out once. */
  async report(): Promise<IsolationReport> {
    const owner = "capstan/probe";
    const { problems } = await (await this.#groups()).ensure(owner);
    await (await this.#groups()).remove(owner, { kill: false });
    const viewProblem = await this.#viewProblem();
    return { limitProblems: problems, viewProblem };
  }

  /** How to start an executable with its folder as `user`; undefined where the machine does not allow a view of its own. */
  async launch(owner: string, folder: string, executable: string, user: number): Promise<Launch | undefined> {
    if ((await this.#viewProblem()) !== undefined) return undefined;
    const { groups } = await (await this.#groups()).ensure(owner);
    return await this.#command(folder, executable, user, groups);
  }

  /** The owner's programs have stopped; with `kill` what they have left running is killed. */
  async ended(owner: string, options: { kill: boolean }): Promise<void> {
    await (await this.#groups()).remove(owner, options);
  }

  #groups(): Promise<CgroupLimits> {
    this.#cgroups ??= CgroupLimits.open(this.#root, this.#limits, this.#clock);
    return this.#cgroups;
  }

  /** What has worked once must work from then on: a program is never started without it later. What failed is tried again. */
  async #viewProblem(): Promise<string | undefined> {
    this.#view ??= this.#tryView();
    const problem = await this.#view;
    if (problem !== undefined) this.#view = undefined;
    return problem;
  }

  async #tryView(): Promise<string | undefined> {
    try {
      const { command, args } = await this.#command("/", "/bin/true", NOBODY, []);
      await run(command, args);
      return undefined;
    } catch (error) {
      const { stderr, message } = error as { stderr?: string; message: string };
      return (stderr === undefined || stderr.trim() === "" ? message : stderr).trim().replaceAll("\n", "; ");
    }
  }

  async #command(folder: string, executable: string, user: number, groups: string[]): Promise<Launch> {
    const shell = ["/bin/sh", "-c", START_SCRIPT, "capstan-start"];
    // A link may lead to what is hidden.
    const real = await realpath(executable);
    const mounts = await viewMounts(resolve(folder), dirname(real), this.#hidden);
    return {
      command: "unshare",
      args: [...UNSHARE, ...shell, mounts, basename(real), String(user), ...groups, "--"],
    };
  }
}
