/** An action that a keyboard shortcut triggers. */
export type Command = "filter" | "clusters" | "hosts" | "create" | "help";

/** Keyboard shortcuts, in the order in which the help lists them. */
export const KEYS: readonly { readonly keys: string; readonly command: Command; readonly does: string }[] = [
  { keys: "/", command: "filter", does: "Filter the list" },
  { keys: "g c", command: "clusters", does: "Go to clusters" },
  { keys: "g h", command: "hosts", does: "Go to hosts" },
  { keys: "c", command: "create", does: "Create a cluster" },
  { keys: "?", command: "help", does: "Show keyboard shortcuts" },
];

const SEQUENCE_MS = 1_000;

/** Turns key presses into commands; the keys of a sequence must follow each other within a second. */
export class KeySequence {
  #pending = "";
  #at = 0;

  /** The command this key completes, if any. */
  press(key: string, atMs: number): Command | undefined {
    const typed = this.#pending !== "" && atMs - this.#at <= SEQUENCE_MS ? `${this.#pending} ${key}` : key;
    this.#at = atMs;
    const exact = KEYS.find((entry) => entry.keys === typed) ?? KEYS.find((entry) => entry.keys === key);
    const begins = KEYS.some((entry) => entry.keys.startsWith(`${key} `));
    this.#pending = exact === undefined && begins ? key : "";
    return exact?.command;
  }
}
