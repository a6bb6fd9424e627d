import { fileURLToPath } from "node:url";

/** The checkout. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** A block of code in a page. */
export interface Block {
  readonly page: string;
  /** The heading it stands below. */
  readonly section: string;
  readonly line: number;
  /** What its fence says: the language, then how its commands are proved. */
  readonly info: string;
  readonly text: string;
}

/** Languages whose blocks hold no commands. */
const NO_COMMANDS = new Set(["text", "yaml", "json", "ts"]);

/** All blocks of a page. `<!-- run: COMMAND -->` is one too: what a reader does by waiting, and a test must do by a command. */
export function codeBlocks(page: string, text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  let section = "";
  for (let at = 0; at < lines.length; at++) {
    section = /^#+ (.*)$/.exec(lines[at] ?? "")?.[1] ?? section;
    const hidden = /^<!-- run: (.*) -->$/.exec(lines[at] ?? "")?.[1];
    if (hidden !== undefined) blocks.push({ page, section, line: at + 1, info: "sh run", text: hidden });
    const info = /^\s*```(.*)$/.exec(lines[at] ?? "")?.[1]?.trim();
    if (info === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === "```");
    blocks.push({ page, section, line: at + 2, info, text: lines.slice(at + 1, end).join("\n") });
    at = end;
  }
  return blocks;
}

/** How the commands of a block are proved: by running them here, by named files, not at all; undefined when it has none. */
export function proofOf({ info }: Block): "run" | readonly string[] | undefined {
  const [language = "", how, ...files] = info.split(" ");
  if (NO_COMMANDS.has(language)) return undefined;
  if (language !== "sh" && language !== "console") return [];
  if (how === "run") return "run";
  return how === "by" ? files : [];
}

/** The commands of a block as a script; of a `console` block the lines after a prompt, without what was answered. */
export function scriptOf({ info, text }: Block): string {
  if (!info.startsWith("console")) return text;
  return text
    .split("\n")
    .flatMap((line) => (line.startsWith("$ ") ? line.slice(2) : []))
    .join("\n");
}

/** The commands of a block one by one: without comments, lines that end in a backslash joined. */
export function commandsOf(block: Block): string[] {
  return scriptOf(block)
    .replaceAll(/ *\\\n */g, " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s+)# .*$/, "").trim())
    .filter((line) => line !== "");
}

/** Addresses of links to files of the repository, without what follows a `#`. Pictures are made by the browser tests and left out. */
export function fileLinks(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, address = ""]) => address.split("#")[0] ?? "")
    .filter((address) => address !== "" && !/^[a-z]+:/.test(address) && !address.endsWith(".png"));
}
