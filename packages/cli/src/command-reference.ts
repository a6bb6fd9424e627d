import { type CommandDefinition, detailsOf, type OptionDefinition } from "./command.ts";
import { COMMANDS } from "./commands/index.ts";
import { API_OPTIONS, GLOBAL_OPTIONS } from "./options.ts";

const INTRODUCTION = `<!-- Written by \`npm run generate\` from the definitions of the commands. -->

# Commands

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 an error, 2 a command line that cannot be meant, 130
interrupted. Colours only on a terminal, and never with \`NO_COLOR\`; \`FORCE_COLOR=1\` always enables them, and \`--color\` overrides both.
\`CAPSTAN_DEBUG=1\` shows where an error came from. Installed as \`kubectl-capstan\` the same commands are \`kubectl capstan …\`. A program
\`capstan-WORD\` of the PATH is the command \`capstan WORD\`.

The API is the one of \`--kubeconfig\`, else \`KUBECONFIG\`, else the instance that runs on this machine, else \`~/.kube/config\`. Commands that
write print it.
`;

/** Renders the reference of all commands as a page. */
export async function commandReference(): Promise<string> {
  const shown = COMMANDS.filter(({ hidden }) => hidden !== true);
  const index = shown.map(({ name, summary }) => `| [\`${name}\`](#${anchor(name)}) | ${cell(summary)} |`);
  const shared = API_OPTIONS.map(({ flags, summary }) => `| \`${flags}\` | ${cell(summary)} |`);
  const everywhere = GLOBAL_OPTIONS.map(({ flags, summary }) => `| \`${flags}\` | ${cell(summary)} |`);
  return [
    INTRODUCTION,
    `| command | does |\n|---|---|\n${index.join("\n")}\n`,
    `Options of every command, before or after its name:\n\n| option | |\n|---|---|\n${everywhere.join("\n")}\n`,
    `Options of every command that talks to an API:\n\n| option | |\n|---|---|\n${shared.join("\n")}\n`,
    ...(await Promise.all(shown.map(section))),
  ].join("\n");
}

async function section(command: CommandDefinition): Promise<string> {
  const { name, summary, examples = [] } = command;
  const details = await detailsOf(command);
  const words = (command.arguments ?? []).map(({ name: word, required, variadic }) => {
    const text = `${word.toUpperCase()}${variadic === true ? "…" : ""}`;
    return required === false ? `[${text}]` : text;
  });
  const options = (command.options ?? []).filter((option) => !API_OPTIONS.includes(option));
  const rows = [
    ...(command.arguments ?? []).map(({ name: word, summary: text, choices }) => [word.toUpperCase(), text, choices]),
    ...options.map((option) => [option.flags, textOf(option), option.choices]),
  ] as [string, string, string[] | undefined][];
  const table = rows.map(([word, text, choices]) => {
    const limit = choices === undefined ? "" : `; one of ${choices.map((choice) => `\`${choice}\``).join(", ")}`;
    return `| \`${word}\` | ${cell(text)}${limit} |`;
  });
  return [
    `## ${name}\n\n${summary}.\n`,
    `    ${["capstan", name, ...words].join(" ")}\n`,
    ...(details === undefined ? [] : [`${details}\n`]),
    ...(table.length === 0 ? [] : [`| | |\n|---|---|\n${table.join("\n")}\n`]),
    ...(examples.length === 0
      ? []
      : [`\`\`\`sh\n${examples.map(({ command: line, does }) => `${line}   # ${does}`).join("\n")}\n\`\`\`\n`]),
  ].join("\n");
}

function textOf({ summary, default: standard }: OptionDefinition): string {
  return standard === undefined ? summary : `${summary} (default: ${standard})`;
}

function anchor(name: string): string {
  return name.replaceAll(" ", "-");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
