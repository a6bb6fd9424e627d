import { gzipSync } from "node:zlib";
import { UserDataError } from "../errors.ts";
import { PRELUDE } from "./prelude.ts";
import { isReserved, wholeCommands } from "./shell-lines.ts";

/** A file to write, its content decoded. */
export interface ScriptFile {
  readonly path: string;
  readonly content: Buffer;
  /** Octal. */
  readonly mode: string;
  /** `user:group`, either may be missing; empty keeps what it is. */
  readonly owner: string;
  readonly append?: boolean;
}

const LINE_WIDTH = 120;
/** Contents below this are not worth compressing. */
const PACK_FROM = 4096;
const NAME_WIDTH = 200;
const END = "CAPSTAN_END";

/** Builds a script step by step. Every step has a name, which the report shows if it fails. */
export class Script {
  readonly #parts: string[] = [];

  /** Adds a step: bash lines, which may use the helpers of the prelude. */
  step(name: string, ...lines: readonly string[]): this {
    this.#parts.push(`capstan_step ${quote(titleOf(name))}`, ...lines);
    return this;
  }

  /** Adds a step that writes a file. */
  file(file: ScriptFile): this {
    const bytes = file.content;
    const packed = bytes.length < PACK_FROM || file.append === true ? undefined : gzipSync(bytes, { level: 9 });
    const isSmaller = packed !== undefined && packed.length < bytes.length * 0.75;
    const helper = file.append === true ? "append" : isSmaller ? "unpack" : "write";
    const base64 = (isSmaller ? packed : bytes).toString("base64");
    const folded = base64.replace(new RegExp(`(.{${LINE_WIDTH}})(?=.)`, "g"), "$1\n");
    const command = `capstan_${helper} ${[file.path, file.mode, file.owner].map(quote).join(" ")}`;
    return this.step(`write ${file.path}`, withInput(command, folded));
  }

  /** Adds shell commands, each a step; they run in one shell, as cloud-init's do. */
  commands(name: string, commands: readonly (string | readonly string[])[], environment = ""): this {
    if (commands.length === 0) return this;
    const groups = wholeCommands(commands.map((command) => (typeof command === "string" ? command : lineOf(command))));
    let at = 0;
    const lines = groups.flatMap((group) => {
      const title = textOf(commands[at] ?? "");
      at += group.length;
      // The empty line is for a last command that ends with a backslash.
      return [`capstan_step ${quote(titleOf(title))}`, ...group, "", "capstan_check $?"];
    });
    this.#parts.push(withInput(`${environment}capstan_commands ${name}`, lines.join("\n")));
    return this;
  }

  /** The whole script. */
  text(): string {
    const text = [PRELUDE, ...this.#parts, "", "capstan_done=true", ""].join("\n");
    if (text.includes("\0")) throw new UserDataError("a NUL character is in a command or a name");
    return text;
  }
}

/** Quotes a word for a shell. */
export function quote(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A command with its standard input: never an argument, since input may be secret. */
export function withInput(command: string, input: string): string {
  const lines = new Set(input.split("\n"));
  let end = END;
  for (let n = 1; lines.has(end); n++) end = `${END}_${n}`;
  return `${command} << '${end}'\n${input}${input.endsWith("\n") || input === "" ? "" : "\n"}${end}`;
}

function textOf(command: string | readonly string[]): string {
  return typeof command === "string" ? command : command.join(" ");
}

/** A program with its arguments as a line. */
function lineOf([program = "", ...words]: readonly string[]): string {
  return [isReserved(program) ? `'${program}'` : quote(program), ...words.map(quote)].join(" ");
}

/** The first line, not too long: titles are shown in one line. */
function titleOf(name: string): string {
  const [first = "", ...rest] = name.trim().split("\n");
  const line = first.slice(0, NAME_WIDTH);
  return rest.length > 0 || line.length < first.length ? `${line} …` : line;
}
