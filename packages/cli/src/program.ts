import { Command, CommanderError, Option } from "commander";
import { type CommandDefinition, type CommandIo, UserError } from "./command.ts";
import { COMMANDS } from "./commands/index.ts";
import { VERSION } from "./version.ts";

/** Parses and runs a command line; returns the exit code. */
export async function runProgram(args: string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  const program = new Command("capstan")
    .description("Kubernetes clusters that mix infrastructure")
    .version(VERSION)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err });
  for (const definition of COMMANDS) add(program, definition, io, (code) => (exitCode = code));
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    return report(error, io);
  }
  return exitCode;
}

function add(root: Command, definition: CommandDefinition, io: CommandIo, done: (code: number) => void): void {
  const words = definition.name.split(" ");
  const parent = words
    .slice(0, -1)
    .reduce((command, word) => command.commands.find((c) => c.name() === word) ?? command.command(word), root);
  const command = parent.command(words.at(-1) ?? "").description(definition.summary);
  command.exitOverride().configureOutput({ writeOut: io.out, writeErr: io.err });
  for (const argument of definition.arguments ?? [])
    command.argument(argument.required === false ? `[${argument.name}]` : `<${argument.name}>`, argument.summary);
  for (const option of definition.options ?? []) {
    const made = new Option(option.flags, option.summary);
    if (option.default !== undefined) made.default(option.default);
    if (option.choices !== undefined) made.choices(option.choices);
    command.addOption(made);
  }
  const examples = (definition.examples ?? []).map(({ command: line, does }) => `  ${line}    ${does}`);
  const after = [definition.details, ...(examples.length > 0 ? [`Examples:\n${examples.join("\n")}`] : [])].filter(
    (part) => part !== undefined,
  );
  if (after.length > 0) command.addHelpText("after", `\n${after.join("\n\n")}`);
  command.action(async (...received: unknown[]) => {
    const options = command.opts<Record<string, string | boolean | undefined>>();
    const values = received.slice(0, -2).filter((value): value is string => typeof value === "string");
    done(await definition.run({ arguments: values, options, io }));
  });
}

function report(error: unknown, io: CommandIo): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UserError) {
    io.err(`error: ${error.message}\n`);
    if (error.hint !== undefined) io.err(`next: ${error.hint}\n`);
    return error.exitCode;
  }
  io.err(
    `error: ${error instanceof Error ? (io.env["CAPSTAN_DEBUG"] === undefined ? error.message : (error.stack ?? error.message)) : String(error)}\n`,
  );
  return 1;
}
