import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, codeBlocks, commandsOf, proofOf, root } from "./blocks.ts";
import type { Shell } from "./shell.ts";

/** Words of the pages that stand for something of the reader's own. Nothing else of a command may be replaced. */
type Placeholder =
  | "192.168.10.5"
  | "10.0.0.12"
  | "~/.ssh/key"
  | "20261116T030000Z"
  | "https://login.example.com"
  | "demo-x7k2p";

interface Typing {
  /** What the reader puts in the place of the page's words. */
  readonly own?: Partial<Record<Placeholder, string>>;
  /** Options typed after what the page says. */
  readonly more?: string;
  /** Where it is typed, if not in the reader's home. */
  readonly cwd?: string;
}

/** Somebody who reads a page and types what it says: the commands of its blocks marked `by` one test, taken from the page itself. */
export class Reader {
  readonly #shell: Shell | undefined;
  readonly #page: string;
  readonly #blocks: readonly Block[];
  readonly #typed = new Set<string>();

  /** Without a shell the test types the commands itself. */
  constructor(page: string, test: string, shell?: Shell) {
    this.#shell = shell;
    this.#page = page;
    this.#blocks = codeBlocks(page, readFileSync(join(root, page), "utf8")).filter((block) => {
      const proof = proofOf(block);
      return Array.isArray(proof) && proof.includes(test);
    });
  }

  /** The one command of a section that has these words in it, for another program to type. */
  command(section: string, words: string, { own = {}, more }: Typing = {}): string {
    const found = this.#blocks
      .filter((block) => block.section === section)
      .flatMap(commandsOf)
      .filter((command) => command.includes(words));
    const [command, second] = found;
    if (command === undefined || second !== undefined)
      throw new Error(`${this.#page}, ${section}: ${found.length} commands have "${words}"`);
    this.#typed.add(`${section}: ${command}`);
    const typed = Object.entries(own).reduce((text, [word, mine]) => {
      if (!text.includes(word)) throw new Error(`${this.#page}, ${section}: "${text}" has no ${word}`);
      return text.replaceAll(word, mine);
    }, command);
    return more === undefined ? typed : `${typed} ${more}`;
  }

  /** Types that command and gives back what it printed; fails as it fails. */
  async type(section: string, words: string, typing: Typing = {}): Promise<string> {
    if (this.#shell === undefined) throw new Error("no shell to type in");
    const command = this.command(section, words, typing);
    const script = typing.cwd === undefined ? command : `cd "${typing.cwd}"\n${command}`;
    const { code, output, errors } = await this.#shell.run(this.#page, script);
    if (code !== 0) throw new Error(`${this.#page}, ${section}: ${command}: exit code ${code}\n${errors}`);
    return output;
  }

  /** Commands of the page that this test should have typed and has not. */
  untyped(): string[] {
    return this.#blocks
      .flatMap((block) => commandsOf(block).map((command) => `${block.section}: ${command}`))
      .filter((command) => !this.#typed.has(command));
  }
}

/** What a test types, as its source says it: pairs of a section and words of a command. */
export function typedIn(source: string): { section: string; words: string }[] {
  return [...source.matchAll(/\.(?:type|command)\(\s*"([^"]+)",\s*(["'])(.+?)\2/g)].map(
    ([, section = "", , words = ""]) => ({ section, words }),
  );
}
