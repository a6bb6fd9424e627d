import type { Clock } from "@capstan/apimachinery";
import type { ApiTarget } from "./context/api-target.ts";

/**
 * Describes a command as data, from which parsing, help, completion and the reference are derived. The code that runs it lives next to it
 * in `NAME.run.ts` and is imported only when it runs, so that help and completion stay fast.
 */
export interface CommandDefinition {
  /** Words that name it, e.g. `describe cluster`. */
  name: string;
  summary: string;
  /** More about it, shown by --help; a function where it takes loading what other commands do without. */
  details?: string | (() => Promise<string>);
  arguments?: ArgumentDefinition[];
  options?: OptionDefinition[];
  examples?: { command: string; does: string }[];
  /** For programs only: neither help nor the reference shows it. */
  hidden?: boolean;
  run(input: CommandInput): Promise<number>;
}

/** Returns what --help and the reference show below the summary of a command. */
export async function detailsOf({ details }: CommandDefinition): Promise<string | undefined> {
  return typeof details === "function" ? await details() : details;
}

/** Says what a positional argument or the value of a flag refers to, so that shell completion can offer candidates. */
export type Completes = "clusters" | "namespaces" | "types" | "names" | "files" | "directories";

/** Describes one positional argument of a command for parsing, help and completion. */
export interface ArgumentDefinition {
  name: string;
  summary: string;
  required?: boolean;
  /** Takes all remaining arguments. */
  variadic?: boolean;
  choices?: string[];
  completes?: Completes;
}

/** Describes one flag of a command for parsing, help and completion. */
export interface OptionDefinition {
  /** As commander writes it, e.g. `-n, --namespace <name>`. */
  flags: string;
  summary: string;
  default?: string;
  choices?: string[];
  /** Can be given several times; its values are in `lists`. */
  repeatable?: boolean;
  completes?: Completes;
}

/** The parsed command line that a command runs with, and the I/O it uses. */
export interface CommandInput {
  arguments: string[];
  options: Record<string, string | boolean | undefined>;
  /** Values of options that may be given several times. */
  lists: Record<string, string[]>;
  io: CommandIo;
}

/** The terminal of a command, or a test's replacement for it. Data goes to `out`, everything else to `err`. */
export interface CommandIo {
  out(text: string): void;
  err(text: string): void;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether input and output are a terminal, so that the command may ask questions. */
  interactive: boolean;
  /** Asks the user; returns the typed line without its line end. */
  ask?(question: string): Promise<string>;
  /** All of standard input. */
  stdin?(): Promise<string>;
  /** Aborted when the user interrupts; only commands that wait request it. */
  interrupted?(): AbortSignal;
  /** Whether `out` and `err` take colours, and whether `err` is a terminal whose lines may be drawn again. */
  terminal?: { outColors: boolean; errColors: boolean; redraw: boolean; columns: number };
  /** Real time unless a test says otherwise. */
  clock?: Clock;
  /** The API to use regardless of flags and environment, for tests. */
  target?: ApiTarget;
}

/** An error that the user can act on. It is printed with a hint and without a stack trace. */
export class UserError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number;
  /** What the line begins with: an API server's refusals read as kubectl's users know them. */
  readonly prefix: string;

  constructor(message: string, options: { hint?: string; exitCode?: number; prefix?: string } = {}) {
    super(message);
    this.name = "UserError";
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
    this.prefix = options.prefix ?? "error";
  }
}

/** Creates the error for an invalid command line, which exits with code 2. */
export function usageError(message: string, hint?: string): UserError {
  return new UserError(message, { exitCode: 2, hint });
}

/** Exit code of a command that the user interrupted with Ctrl-C (128 + SIGINT). */
export const INTERRUPTED = 130;
