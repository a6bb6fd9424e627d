import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { COMMANDS, commandReference, GLOBAL_OPTIONS } from "capstan";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { codeBlocks, commandsOf, fileLinks, proofOf, root, scriptOf } from "./blocks.ts";
import { typedIn } from "./reader.ts";
import { KUBECTL, Shell } from "./shell.ts";

const main = join(root, "dist/capstan/capstan.js");

const pages = [
  join(root, "README.md"),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => join(root, "docs", path)),
].map((file) => ({ page: relative(root, file), text: readFileSync(file, "utf8") }));

/** What follows `capstan` in blocks and in the text of a page, up to where the command ends. */
function capstanLines(text: string): string[] {
  return [...text.matchAll(/(?:^|[`(] ?|[|&;] )(?:\$ )?(?:npx )?capstan ([a-z][^`\n|&;>#]*)/gm)].map(([, line = ""]) =>
    line.trim(),
  );
}

/** The reference is made from the definitions of commands and kinds, which have tests of their own. */
const written = pages.filter(({ page }) => !page.startsWith("docs/reference/"));

describe("pages", () => {
  test.each(pages)("links of $page lead somewhere", ({ page, text }) => {
    const broken = fileLinks(text).filter((address) => !existsSync(join(root, dirname(page), address)));
    expect(broken).toEqual([]);
  });

  test.each(pages)("commands named in $page exist", ({ text }) => {
    const names = new Set(COMMANDS.flatMap(({ name }) => [name, name.split(" ")[0] ?? ""]));
    const used = [...text.matchAll(/(?:^|[`(] ?)(?:npx )?capstan ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/gm)];
    const unknown = used
      .map(([, first = "", second = ""]) => (names.has(`${first} ${second}`) ? `${first} ${second}` : first))
      .filter((name) => !names.has(name));
    expect(unknown).toEqual([]);
  });

  test.each(pages)("options of capstan named in $page exist", ({ text }) => {
    const unknown = capstanLines(text).flatMap((line) => {
      const [first = "", second = "", ...rest] = line.split(/\s+/);
      const definition = COMMANDS.find(({ name }) => name === `${first} ${second}` || name === first);
      const known = new Set(
        [...(definition?.options ?? []), ...GLOBAL_OPTIONS].flatMap(({ flags }) => flags.match(/--?[\w-]+/g) ?? []),
      );
      // `--wait=false`, `--no-wait`, `-n=x`; a lone `--` ends the options.
      const used = [second, ...rest].flatMap((word) => /^(--?[a-z][\w-]*)(?:=.*)?$/.exec(word)?.[1] ?? []);
      return used.filter((flag) => flag !== "--help" && !known.has(flag)).map((flag) => `capstan ${first}: ${flag}`);
    });
    expect(unknown).toEqual([]);
  });

  test("the reference of commands is that of the definitions", async () => {
    const file = join(root, "docs/reference/cli.md");
    expect(readFileSync(file, "utf8"), "npm run generate").toBe(await commandReference());
  });
});

/**
 * A fence says `sh run` (here), `sh by FILE` (what needs real hosts or programs: that test reads the commands out of the page and types
 * them, or CI has the very command), or a language without commands.
 */
describe("every command is run as it is written", () => {
  const blocks = written.flatMap(({ page, text }) =>
    codeBlocks(page, text).map((block) => ({ ...block, whole: text })),
  );

  test.each(blocks)("$page, line $line", (block) => {
    const proof = proofOf(block);
    if (proof === undefined || proof === "run") return;
    expect(proof, "mark the block: sh run, console run, sh by FILE, or text").toHaveLength(1);
    const [file = ""] = proof;
    const source = readFileSync(join(root, file), "utf8");
    if (file.endsWith(".test.ts")) expect(source, `${file} reads the page`).toContain(`"${block.page}"`);
    expect(commandsOf(block).filter((command) => !isRun(command, block.section, file, source))).toEqual([]);
    const [, name] = /^tests\/e2e\/([\w-]+)\.test\.ts$/.exec(file) ?? [];
    if (name !== undefined)
      expect(block.whole, "the page tells which test runs this").toMatch(
        new RegExp(`${file.replaceAll(".", "\\.")}|npm run e2e -- ${name}\\b(?!-)`),
      );
  });
});

function isRun(command: string, section: string, file: string, source: string): boolean {
  if (file.endsWith(".test.ts"))
    return typedIn(source).some((typed) => typed.section === section && command.includes(typed.words));
  // The stages of CI: each part of the command is the command of a stage.
  return command.split(" && ").every((part) => source.includes(`command: "${part}"`));
}

/** Every block marked `run`, in the order of the pages, against one instance with the demo. */
describe("blocks", () => {
  let shell: Shell;
  let up: ChildProcess;

  beforeAll(async () => {
    // The command as it is installed, which also starts twice as fast.
    const { status } = spawnSync(process.execPath, [join(root, "tools/cli/bundle.mjs")], { stdio: "inherit" });
    expect(status).toBe(0);
    shell = await Shell.make(main);
    up = spawn(process.execPath, [main, "up", "--demo", "--listen", "127.0.0.1:0", "--dashboard", "off"], {
      env: shell.environment,
      cwd: shell.dir,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    up.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    await vi.waitFor(() => expect(text).toContain("Try,"), { timeout: 110_000, interval: 200 });
  }, 120_000);

  afterAll(async () => {
    up.kill("SIGKILL");
    await shell.close();
  });

  const blocks = written
    .flatMap(({ page, text }) => codeBlocks(page, text))
    .filter((block) => proofOf(block) === "run");
  // A page is one story: without kubectl (npm run kubernetes builds it) all of it is left out.
  const withKubectl = new Set(blocks.flatMap((block) => (/\bkubectl /.test(scriptOf(block)) ? block.page : [])));

  for (const block of blocks)
    test.skipIf(KUBECTL === undefined && withKubectl.has(block.page))(
      `${block.page}, line ${block.line}`,
      async () => {
        const { code, errors } = await shell.run(block.page, scriptOf(block));
        expect(code, errors).toBe(0);
      },
      120_000,
    );
});
