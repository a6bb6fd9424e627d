import { type Clock, formatTime } from "@capstan/apimachinery";
import type { CloudConfigCommand } from "@capstan/userdata";
import { LiveOutput } from "./live-output.ts";
import { lastLine, redact, tail } from "./redact.ts";
import type { RunCommand, RunOptions } from "./run-command.ts";

/** One step of a bootstrap or release, as users see it. */
export interface StepReport {
  name: string;
  /** When it began, while it runs. */
  startedAt?: string;
  exitCode?: number;
  seconds?: number;
  output?: string;
}

/** Receives the progress of steps. */
export interface StepListener {
  /** After each step, and while one runs, at most every other second. */
  onStep?: (steps: readonly StepReport[]) => void;
  /** Everything that was printed, secrets left out, for the log. */
  log?: (text: string) => void;
}

/** As many as a status holds. */
const MAX_STEPS = 60;
/** How long the output of a step is collected before it is reported. */
const PAUSE_MS = 2_000;
/** Output beyond this is not kept. */
const MAX_WAITING = 256 * 1024;

/** Runs steps one after the other and records their outcomes. */
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

  /** Runs a command; returns its error message when it fails. */
  async command(
    title: string,
    command: CloudConfigCommand,
    options: Omit<RunOptions, "clock"> & { run: RunCommand },
  ): Promise<string | undefined> {
    const { run, ...more } = options;
    const name = redact(title).slice(0, 200);
    const started = this.clock.monotonic();
    const live = this.#follow(name);
    const result = await run(command, { clock: this.clock, ...more, onOutput: live.take }).finally(live.end);
    const seconds = this.#secondsSince(started);
    this.#note({ name, exitCode: result.exitCode, seconds, output: tail(result.output) }, live.rest(result.output));
    if (result.timedOut) return `"${name}" did not finish within ${options.timeoutMs / 60_000} minutes`;
    if (result.exitCode === 0) return undefined;
    return `"${name}" exited with code ${result.exitCode}: ${lastLine(result.output)}${cureOf(result.output)}`;
  }

  #note(step: StepReport, said = `$ ${step.name}\n${redact(step.output ?? "")}`): void {
    this.#steps.push(step);
    const code = step.exitCode === undefined ? "" : `, code ${step.exitCode}`;
    this.#listener.log?.(`${said}${said === "" || said.endsWith("\n") ? "" : "\n"}# ${step.seconds} s${code}\n`);
    this.#listener.onStep?.(this.#steps);
  }

  /** Shows a command while it runs: its output in the log, its end among the steps. */
  #follow(name: string): { take: (text: string) => void; end: () => void; rest: (output: string) => string } {
    const startedAt = formatTime(this.clock.now());
    const output = new LiveOutput();
    let waiting = "";
    let shown = "";
    let hasSpoken = false;
    const flush = (): void => {
      cancel = undefined;
      if (waiting !== "") this.#listener.log?.(waiting);
      shown = tail(shown + waiting);
      waiting = "";
      this.#listener.onStep?.([...this.#steps, { name, startedAt, ...(shown === "" ? {} : { output: shown }) }]);
    };
    // A step that takes long is seen even if it says nothing.
    let cancel: (() => void) | undefined = this.clock.after(PAUSE_MS, flush);
    this.#listener.log?.(`$ ${name}\n`);
    return {
      take: (text) => {
        hasSpoken = true;
        waiting = (waiting + output.push(text)).slice(-MAX_WAITING);
        if (waiting !== "") cancel ??= this.clock.after(PAUSE_MS, flush);
      },
      end: () => cancel?.(),
      rest: (whole) => (hasSpoken ? waiting + output.end() : redact(whole)),
    };
  }

  #secondsSince(started: number): number {
    return Math.round((this.clock.monotonic() - started) / 1000);
  }
}

/** Remedies for the most common problems of a host. */
function cureOf(error: unknown): string {
  const code = (error as { code?: string } | undefined)?.code;
  const text = typeof error === "string" ? error : "";
  if (code === "ENOSPC" || /no space left on device/i.test(text))
    return "; the disk is full: free some space; the agent then retries";
  if (code === "EROFS") return "; the file system is read-only: mount it writable; the agent then retries";
  return "";
}
