import type { Clock } from "@capstan/apimachinery";
import type { Logger } from "@capstan/runtime";
import { redactText } from "@capstan/runtime";
import type { Kubelet } from "./kubelet.ts";

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 30_000;

/** The steps that a simulated machine runs; a step that fails is retried. */
export interface GuestProgram {
  /** Joins the cluster; once. */
  join(signal: AbortSignal): Promise<Kubelet>;
  /** Registers the Node; once. */
  register(kubelet: Kubelet): Promise<void>;
  /** Posts that the node is alive or silent. */
  post(kubelet: Kubelet, alive: boolean): Promise<void>;
}

/** The simulated operating system of a machine: joins, registers its Node, and posts changes of its health. */
export class Guest {
  readonly #program: GuestProgram;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #changed: () => void;
  readonly #stopping = new AbortController();
  #reachable = true;
  #kubelet: Kubelet | undefined;
  /** What was last posted; undefined before the Node is registered. */
  #posted: boolean | undefined;
  #problem: string | undefined;
  #busy = false;
  #retryMs = FIRST_RETRY_MS;
  #cancelRetry: (() => void) | undefined;

  constructor(program: GuestProgram, deps: { clock: Clock; log: Logger; changed: () => void }) {
    this.#program = program;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#changed = deps.changed;
  }

  /** Why it has not joined, for people; undefined when all is well. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Whether the machine reaches the API and its kubelet runs. */
  set reachable(reachable: boolean) {
    this.#reachable = reachable;
    this.#run();
  }

  /** Powers it off. */
  stop(): void {
    this.#stopping.abort(new Error("the machine was powered off"));
    this.#cancelRetry?.();
  }

  #run(): void {
    if (this.#busy || this.#cancelRetry !== undefined || this.#stopping.signal.aborted) return;
    this.#busy = true;
    this.#steps()
      .then(
        () => this.#tell(undefined),
        (error: unknown) => this.#failed(error),
      )
      .finally(() => {
        this.#busy = false;
      })
      .catch((error: unknown) => this.#log.error("a simulated machine failed", { error }));
  }

  async #steps(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const alive = this.#reachable;
      if (this.#posted === undefined) {
        if (!alive) return;
        this.#kubelet ??= await this.#program.join(this.#stopping.signal);
        await this.#program.register(this.#kubelet);
        this.#posted = true;
      } else if (this.#posted === alive || this.#kubelet === undefined) {
        return;
      } else {
        await this.#program.post(this.#kubelet, alive);
        this.#posted = alive;
      }
      this.#retryMs = FIRST_RETRY_MS;
    }
  }

  #failed(error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    this.#cancelRetry = this.#clock.after(this.#retryMs, () => {
      this.#cancelRetry = undefined;
      this.#run();
    });
    // A signature or a certificate takes a moment: only a lasting problem is reported.
    if (this.#retryMs > 8 * FIRST_RETRY_MS)
      this.#tell(redactText(error instanceof Error ? error.message : String(error)));
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
  }

  #tell(problem: string | undefined): void {
    if (this.#problem === problem) return;
    this.#problem = problem;
    this.#changed();
  }
}
