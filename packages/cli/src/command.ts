/** Commands are data: parsing, help, completion and the reference are all made from these values. */
export interface CommandDefinition {
  /** Words that name it, e.g. `describe cluster`. */
  name: string;
  summary: string;
  /** More about it, shown by --help. */
  details?: string;
  arguments?: ArgumentDefinition[];
  options?: OptionDefinition[];
  examples?: { command: string; does: string }[];
  run(input: CommandInput): Promise<number>;
}

export interface ArgumentDefinition {
  name: string;
  summary: string;
  required?: boolean;
}

export interface OptionDefinition {
  /** As commander writes it, e.g. `-n, --namespace <name>`. */
  flags: string;
  summary: string;
  default?: string;
  choices?: string[];
}

export interface CommandInput {
  arguments: string[];
  options: Record<string, string | boolean | undefined>;
  io: CommandIo;
}

/** Where a command reads and writes: the terminal, or a test. Data goes to `out`, everything else to `err`. */
export interface CommandIo {
  out(text: string): void;
  err(text: string): void;
  env: Readonly<Record<string, string | undefined>>;
  interactive: boolean;
}

/** A mistake of the user's or of the world: printed without a stack, with the next step. */
export class UserError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(message: string, options: { hint?: string; exitCode?: number } = {}) {
    super(message);
    this.name = "UserError";
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
  }
}
