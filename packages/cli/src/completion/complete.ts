import type { CommandDefinition, CommandIo, Completes, OptionDefinition } from "../command.ts";
import { GLOBAL_OPTIONS } from "../options.ts";
import { liveNames } from "./live-names.ts";

interface ParsedOption {
  names: string[];
  takesValue: boolean;
  definition: OptionDefinition;
}

/** Returns candidates for the last word, one per line with a tab before the description; `:files` and `:directories` defer to the shell. */
export async function completions(
  commands: readonly CommandDefinition[],
  words: readonly string[],
  io: CommandIo,
): Promise<string[]> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const { definition, rest } = findCommand(commands, before);
  if (definition === undefined) return offer(current, nextWords(commands, before));
  const options = [...(definition.options ?? []), ...GLOBAL_OPTIONS].map(parseOption);
  const { waiting, positionals, values } = scan(rest, options);
  const lookUp = (what: Completes): Promise<string[]> => liveNames(what, positionals, values, io);
  if (waiting !== undefined) return await offerValues(current, waiting.definition, lookUp);
  if (current.startsWith("-"))
    return offer(
      current,
      options.flatMap(({ names, definition: { summary } }) => {
        const long = names.find((name) => name.startsWith("--")) ?? names[0] ?? "";
        return [{ value: long, text: summary }];
      }),
    );
  const expected = definition.arguments ?? [];
  const argument = expected[positionals.length] ?? (expected.at(-1)?.variadic === true ? expected.at(-1) : undefined);
  return argument === undefined ? [] : await offerValues(current, argument, lookUp);
}

/** The command that the words begin with: the longest name that fits. */
function findCommand(
  commands: readonly CommandDefinition[],
  words: readonly string[],
): { definition: CommandDefinition | undefined; rest: readonly string[] } {
  const plain = words.slice(0, 3);
  const found = commands
    .filter(({ name, hidden }) => hidden !== true && startsWith(plain, name.split(" ")))
    .sort((a, b) => b.name.length - a.name.length)[0];
  return { definition: found, rest: words.slice(found?.name.split(" ").length ?? 0) };
}

function startsWith(words: readonly string[], name: readonly string[]): boolean {
  return name.every((word, at) => words[at] === word);
}

function nextWords(
  commands: readonly CommandDefinition[],
  before: readonly string[],
): { value: string; text: string }[] {
  const found = new Map<string, string>();
  for (const { name, summary, hidden } of commands) {
    const parts = name.split(" ");
    const next = parts[before.length];
    if (hidden === true || next === undefined || !startsWith(parts, before)) continue;
    // A word that several commands share explains none of them.
    found.set(next, found.has(next) || parts.length > before.length + 1 ? "" : summary);
  }
  return [...found].map(([value, text]) => ({ value, text }));
}

function parseOption(definition: OptionDefinition): ParsedOption {
  const names = definition.flags.split(/[ ,]+/).filter((part) => part.startsWith("-"));
  return { names, takesValue: definition.flags.includes("<"), definition };
}

/** Parses the words so far: an option without its value yet, arguments, and the values of options. */
function scan(
  words: readonly string[],
  options: readonly ParsedOption[],
): { waiting: ParsedOption | undefined; positionals: string[]; values: Record<string, string> } {
  const positionals: string[] = [];
  const values: Record<string, string> = {};
  let waiting: ParsedOption | undefined;
  for (const word of words) {
    if (waiting !== undefined) {
      values[waiting.names.at(-1) ?? ""] = word;
      waiting = undefined;
      continue;
    }
    const [name = "", value] = word.split("=", 2);
    const option = options.find(({ names }) => names.includes(name));
    if (option === undefined) {
      if (!word.startsWith("-")) positionals.push(word);
    } else if (value !== undefined) values[option.names.at(-1) ?? ""] = value;
    else if (option.takesValue) waiting = option;
  }
  return { waiting, positionals, values };
}

async function offerValues(
  current: string,
  { choices, completes }: { choices?: string[]; completes?: Completes },
  lookUp: (what: Completes) => Promise<string[]>,
): Promise<string[]> {
  if (choices !== undefined)
    return offer(
      current,
      choices.map((value) => ({ value, text: "" })),
    );
  if (completes === undefined) return [];
  if (completes === "files" || completes === "directories") return [`:${completes}`];
  return offer(
    current,
    (await lookUp(completes)).map((value) => ({ value, text: "" })),
  );
}

function offer(current: string, values: readonly { value: string; text: string }[]): string[] {
  return values
    .filter(({ value }) => value.startsWith(current))
    .map(({ value, text }) => (text === "" ? value : `${value}\t${text}`));
}
