import { type CommandDefinition, usageError } from "../command.ts";

/** Defines `capstan completion`, which prints the completion script for bash, zsh or fish. */
export const completion: CommandDefinition = {
  name: "completion",
  summary: "Print a script that completes commands, options and names in a shell",
  details: "The candidates come from the definitions of the commands and from the selected API.",
  arguments: [{ name: "shell", summary: "Which shell", choices: ["bash", "zsh", "fish"] }],
  examples: [
    { command: "source <(capstan completion bash)", does: "in this bash; put the line into ~/.bashrc to keep it" },
    { command: "capstan completion zsh > ~/.zfunc/_capstan", does: "zsh, with fpath+=~/.zfunc before compinit" },
    { command: "capstan completion fish > ~/.config/fish/completions/capstan.fish", does: "fish" },
  ],
  run: async ({ arguments: [shell = ""], io }) => {
    const { completionScript } = await import("../completion/scripts.ts");
    const script = completionScript(shell);
    if (script === undefined) throw usageError(`no completion for ${shell}`);
    io.out(script);
    return 0;
  },
};

/** Defines the hidden command that completion scripts call with the words typed so far; it prints the candidates for the last one. */
export const complete: CommandDefinition = {
  name: "__complete",
  summary: "Print the candidates for the last word",
  hidden: true,
  arguments: [{ name: "words", summary: "Words of the command line", required: false, variadic: true }],
  run: async (input) => {
    const { completions } = await import("../completion/complete.ts");
    const { COMMANDS } = await import("./index.ts");
    for (const line of await completions(COMMANDS, input.arguments, input.io)) input.io.out(`${line}\n`);
    return 0;
  },
};
