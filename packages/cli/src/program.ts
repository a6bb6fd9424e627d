import { Command, CommanderError, Option } from "commander";
import { type CommandDefinition, type CommandIo, INTERRUPTED, UserError } from "./command.ts";
import { COMMANDS, GROUPS } from "./commands/index.ts";
import { VERSION } from "./version.ts";

/** Parses and runs a command line; returns the exit code. */
export async function runProgram(args: string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  const program = new Command("capstan")
    .description("Kubernetes clusters that mix infrastructure")
    .version(VERSION)
    .helpCommand("help [command]", "Show what a command does and takes");
  settle(program, io);
  for (const definition of COMMANDS) add(program, definition, io, (code) => (exitCode = code));
  program.addHelpText("after", "\nMore about one: capstan COMMAND --help");
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    return await report(error, io);
  }
  return exitCode;
}

/** Where it writes, and that it never ends the process by itself. */
function settle(command: Command, io: CommandIo): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError("(see: --help)")
    .configureOutput({ writeOut: io.out, writeErr: io.err, getOutHelpWidth: () => 100, getErrHelpWidth: () => 100 });
}

function add(root: Command, definition: CommandDefinition, io: CommandIo, done: (code: number) => void): void {
  const words = definition.name.split(" ");
  const parent = words.slice(0, -1).reduce((command, word) => {
    const known = command.commands.find((c) => c.name() === word);
    return known ?? settle(command.command(word).description(GROUPS[word] ?? ""), io);
  }, root);
  const command = settle(parent.command(words.at(-1) ?? "", { hidden: definition.hidden === true }), io);
  command.description(definition.summary);
  for (const { name, summary, required, variadic, choices } of definition.arguments ?? []) {
    const word = variadic === true ? `${name}...` : name;
    const argument = command.createArgument(required === false ? `[${word}]` : `<${word}>`, summary);
    if (choices !== undefined) argument.choices(choices);
    command.addArgument(argument);
  }
  for (const option of definition.options ?? []) command.addOption(optionOf(option));
  const after = [definition.details, examplesText(definition)].filter((part) => part !== undefined);
  if (after.length > 0) command.addHelpText("after", `\n${after.join("\n\n")}`);
  if (definition.hidden === true) command.allowUnknownOption().helpOption(false);
  command.action(async () => {
    const all = command.opts<Record<string, string | boolean | string[] | undefined>>();
    const options: Record<string, string | boolean | undefined> = {};
    const lists: Record<string, string[]> = {};
    for (const [name, value] of Object.entries(all)) {
      if (Array.isArray(value)) lists[name] = value;
      else options[name] = value;
    }
    done(await definition.run({ arguments: command.args, options, lists, io }));
  });
}

function optionOf({
  flags,
  summary,
  default: standard,
  choices,
  repeatable,
}: NonNullable<CommandDefinition["options"]>[0]): Option {
  const made = new Option(flags, summary);
  if (standard !== undefined) made.default(standard);
  if (choices !== undefined) made.choices(choices);
  if (repeatable === true)
    made.argParser<string[]>((value, earlier) => [...(Array.isArray(earlier) ? earlier : []), value]);
  return made;
}

function examplesText({ examples }: CommandDefinition): string | undefined {
  if (examples === undefined || examples.length === 0) return undefined;
  return `Examples:\n${examples.map(({ command, does }) => `  # ${does}\n  ${command}`).join("\n")}`;
}

async function report(error: unknown, io: CommandIo): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (io.interrupted?.().aborted === true) return INTERRUPTED;
  const { message, hint, exitCode, prefix } =
    error instanceof UserError ? error : await import("./explain-error.ts").then((m) => m.explainError(error, io.env));
  io.err(`${prefix}: ${message}\n`);
  if (hint !== undefined) io.err(`next: ${hint}\n`);
  return exitCode;
}
