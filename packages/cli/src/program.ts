import { type Argument, Command, CommanderError, Option } from "commander";
import {
  type ArgumentDefinition,
  type CommandDefinition,
  type CommandInput,
  type CommandIo,
  detailsOf,
  INTERRUPTED,
  UserError,
} from "./command.ts";
import { COMMANDS, GROUPS } from "./commands/index.ts";
import { GLOBAL_OPTIONS } from "./options.ts";
import { VERSION } from "./version.ts";

/** Parses and runs a command line; returns the exit code. */
export async function runProgram(args: string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  /** The command that runs. */
  let asked = "capstan";
  const [first = ""] = args;
  if (/^[a-z]/.test(first) && first !== "help" && !COMMANDS.some(({ name }) => name.split(" ")[0] === first)) {
    // Programs called capstan-WORD are commands too, as kubectl's users know it.
    const { runPlugin } = await import("./plugin.ts");
    const ended = await runPlugin(args, io);
    if (ended !== undefined) return ended;
  }
  const program = new Command("capstan")
    .description("Kubernetes clusters that mix infrastructure")
    .version(VERSION)
    .helpCommand("help [command]", "Show what a command does and takes");
  settle(program, io, "capstan");
  for (const option of GLOBAL_OPTIONS) program.addOption(optionOf(option));
  const run = async (definition: CommandDefinition, input: CommandInput): Promise<void> => {
    asked = `capstan ${definition.name}`;
    await chooseDataDir(definition, input);
    exitCode = await definition.run(input);
  };
  const helps = ["help", "--help", "-h"].some((word) => args.includes(word));
  for (const definition of COMMANDS) {
    // Only the selected command is built in full: the list of commands needs no more than their names.
    if (args.includes("help") || args.includes(definition.name.split(" ")[0] ?? ""))
      add(program, definition, io, run, helps ? await detailsOf(definition) : undefined);
    else announce(program, definition, io);
  }
  program.addHelpText("after", "\nMore about one: capstan COMMAND --help");
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    return await report(error, io, asked);
  }
  return exitCode;
}

/** Commands that start an instance or a manager choose their data directory themselves. */
const STARTERS = new Set(["up", "manager"]);

/** Without --data the context of the kubeconfig decides, if it is that of an instance. */
async function chooseDataDir(definition: CommandDefinition, { options, io }: CommandInput): Promise<void> {
  const takesData = definition.options?.some(({ flags }) => flags.startsWith("--data ")) === true;
  if (!takesData || STARTERS.has(definition.name) || options["data"] !== undefined) return;
  const { contextDataDir, kubeconfigFiles } = await import("./context/context-data-dir.ts");
  const { kubeconfig, context } = options;
  const files = kubeconfigFiles(typeof kubeconfig === "string" ? kubeconfig : undefined, io.env);
  if (files.length === 0) return;
  const dataDir = await contextDataDir(files, typeof context === "string" ? context : undefined);
  if (dataDir !== undefined) options["data"] = dataDir;
}

/** Sets where a command writes, and keeps commander from exiting the process. */
function settle(command: Command, io: CommandIo, name: string): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError(`next: ${name} --help`)
    .configureOutput({ writeOut: io.out, writeErr: io.err, getOutHelpWidth: () => 100, getErrHelpWidth: () => 100 });
}

/** A command as the list shows it. */
function announce(
  root: Command,
  { name, summary, arguments: words = [], options = [], hidden }: CommandDefinition,
  io: CommandIo,
): void {
  const [first = "", second] = name.split(" ");
  if (root.commands.some((known) => known.name() === first)) return;
  const command = settle(root.command(first, { hidden: hidden === true }), io, `capstan ${first}`);
  command.description(second === undefined ? summary : (GROUPS[first] ?? ""));
  if (second !== undefined) return;
  for (const word of words) command.addArgument(argumentOf(command, word));
  if (options.length > 0) command.option("--any");
}

function argumentOf(command: Command, { name, summary, required, variadic, choices }: ArgumentDefinition): Argument {
  const word = variadic === true ? `${name}...` : name;
  const argument = command.createArgument(required === false ? `[${word}]` : `<${word}>`, summary);
  return choices === undefined ? argument : argument.choices(choices);
}

function add(
  root: Command,
  definition: CommandDefinition,
  io: CommandIo,
  run: (definition: CommandDefinition, input: CommandInput) => Promise<void>,
  details: string | undefined,
): void {
  const words = definition.name.split(" ");
  const parent = words.slice(0, -1).reduce((command, word) => {
    const known = command.commands.find((c) => c.name() === word);
    if (known !== undefined) return known;
    return settle(command.command(word).description(GROUPS[word] ?? ""), io, word).showHelpAfterError(partsOf(word));
  }, root);
  const made = parent.command(words.at(-1) ?? "", { hidden: definition.hidden === true });
  const command = settle(made, io, `capstan ${definition.name}`);
  command.description(definition.summary);
  for (const word of definition.arguments ?? []) command.addArgument(argumentOf(command, word));
  for (const option of definition.options ?? []) command.addOption(optionOf(option));
  const after = [details, examplesText(definition)].filter((part) => part !== undefined);
  if (after.length > 0) command.addHelpText("after", `\n${after.join("\n\n")}`);
  if (definition.hidden === true) command.allowUnknownOption().helpOption(false);
  command.action(async () => {
    const all: Record<string, string | boolean | string[] | undefined> = {
      ...root.opts(),
      ...command.opts(),
      ...givenTo(parent),
    };
    const options: Record<string, string | boolean | undefined> = {};
    const lists: Record<string, string[]> = {};
    for (const [name, value] of Object.entries(all)) {
      if (Array.isArray(value)) lists[name] = value;
      else options[name] = value;
    }
    await run(definition, { arguments: command.args, options, lists, io: coloured(io, options["color"]) });
  });
}

/** `capstan backup` has options of its own: commander gives it also those of `capstan backup create` with the same name. */
function givenTo(parent: Command): Record<string, string | boolean | string[] | undefined> {
  const given = Object.entries(parent.opts()).filter(([name]) => parent.getOptionValueSource(name) === "cli");
  return Object.fromEntries(given);
}

/** The subcommands of a word that is not a command by itself, for a user who left a word out: `describe demo`. */
function partsOf(word: string): string {
  const names = COMMANDS.flatMap(({ name, hidden }) => (name.startsWith(`${word} `) && hidden !== true ? name : []));
  return `next: ${names.map((name) => `capstan ${name}`).join(", ")}`;
}

/** Colours as `--color` wants them. */
function coloured(io: CommandIo, color: unknown): CommandIo {
  if (color !== "always" && color !== "never") return io;
  const colors = { outColors: color === "always", errColors: color === "always" };
  return { ...io, terminal: { redraw: false, columns: 0, ...io.terminal, ...colors } };
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

/** Prints an error and the next step; for an invalid command line that is at least the command's help. */
async function report(error: unknown, io: CommandIo, asked: string): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (io.interrupted?.().aborted === true) return INTERRUPTED;
  const { message, hint, exitCode, prefix } =
    error instanceof UserError
      ? error
      : await import("./explain/explain-error.ts").then((m) => m.explainError(error, io.env));
  io.err(`${prefix}: ${message}\n`);
  const next = hint ?? (exitCode === 2 ? `${asked} --help` : undefined);
  if (next !== undefined) io.err(`next: ${next}\n`);
  return exitCode;
}
