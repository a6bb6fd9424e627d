import type { Clock } from "@capstan/apimachinery";
import type { CloudConfigCommand } from "@capstan/userdata";
import { lastLine, redact, tail } from "./redact.ts";
import type { RunCommand, RunOptions } from "./run-command.ts";

/** One step of what is done to a host, as people see it. */
export interface StepReport {
  name: string;
  exitCode?: number;
  seconds?: number;
  output?: string;
}

/** What is told while steps are taken. */
export interface StepListener {
  /** After each step. */
  onStep?: (steps: readonly StepReport[]) => void;
  /** Everything that was printed, secrets left out, for the log. */
  log?: (text: string) => void;
}

/** As many as a status holds. */
const MAX_STEPS = 60;

/** Takes steps one after the other and keeps what became of them. */
export class Steps {
  readonly clock: Clock;
  readonly #listener: StepListener;
  readonly #steps: StepReport[] = [];

  constructor(clock: Clock, listener: StepListener = {}) {
    this.clock = clock;
    this.#listener = listener;
  }

  /** All so far; of very many the last ones. */
  all(): StepReport[] {
    return this.#steps.slice(-MAX_STEPS);
  }

  /** Does something; returns what went wrong and what to do. */
  async action(title: string, act: () => Promise<unknown>): Promise<string | undefined> {
    const name = redact(title).slice(0, 200);
    const started = this.clock.monotonic();
    try {
      await act();
      this.#note({ name, seconds: this.#secondsSince(started) });
      return undefined;
    } catch (error) {
      const said = redact(error instanceof Error ? error.message : String(error));
      this.#note({ name, exitCode: 1, seconds: this.#secondsSince(started), output: tail(said) });
      return `${name} failed: ${said}${cureOf(error)}`;
    }
  }

  /** Runs a command; returns what went wrong, in the command's own words. */
  async command(
    title: string,
    command: CloudConfigCommand,
    options: Omit<RunOptions, "clock"> & { run: RunCommand },
  ): Promise<string | undefined> {
    const { run, ...more } = options;
    const name = redact(title).slice(0, 200);
    const started = this.clock.monotonic();
    const result = await run(command, { clock: this.clock, ...more });
    const seconds = this.#secondsSince(started);
    this.#note({ name, exitCode: result.exitCode, seconds, output: tail(result.output) }, result.output);
    if (result.timedOut) return `"${name}" did not end within ${options.timeoutMs / 60_000} minutes`;
    if (result.exitCode === 0) return undefined;
    return `"${name}" ended with code ${result.exitCode}: ${lastLine(result.output)}${cureOf(result.output)}`;
  }

  #note(step: StepReport, output = step.output ?? ""): void {
    this.#steps.push(step);
    const code = step.exitCode === undefined ? "" : `, code ${step.exitCode}`;
    this.#listener.log?.(
      `$ ${step.name}\n${redact(output)}${output.endsWith("\n") ? "" : "\n"}# ${step.seconds} s${code}\n`,
    );
    this.#listener.onStep?.(this.#steps);
  }

  #secondsSince(started: number): number {
    return Math.round((this.clock.monotonic() - started) / 1000);
  }
}

/** What a person can do about the commonest troubles of a host. */
function cureOf(error: unknown): string {
  const code = (error as { code?: string } | undefined)?.code;
  const text = typeof error === "string" ? error : "";
  if (code === "ENOSPC" || /no space left on device/i.test(text))
    return "; the disk is full: free some space, and it is tried again";
  if (code === "EROFS") return "; the file system is read-only: mount it writable, and it is tried again";
  return "";
}
