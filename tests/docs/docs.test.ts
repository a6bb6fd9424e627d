import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { COMMANDS, commandReference } from "capstan";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { codeBlocks, fileLinks, proofOf, scriptOf, verbsOf } from "./blocks.ts";
import { KUBECTL, Shell } from "./shell.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const main = join(root, "dist/capstan/capstan.js");

const pages = [
  join(root, "README.md"),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => join(root, "docs", path)),
].map((file) => ({ page: relative(root, file), text: readFileSync(file, "utf8") }));

/** The reference is made from the definitions of commands and kinds, which have tests of their own. */
const written = pages.filter(({ page }) => !page.startsWith("docs/reference/"));

describe("pages", () => {
  test.each(pages)("links of $page lead somewhere", ({ page, text }) => {
    const broken = fileLinks(text).filter((address) => !existsSync(join(root, dirname(page), address)));
    expect(broken).toEqual([]);
  });

  test.each(pages)("commands named in $page exist", ({ text }) => {
    const names = new Set(COMMANDS.flatMap(({ name }) => [name, name.split(" ")[0] ?? ""]));
    const used = [...text.matchAll(/(?:^|[`(] ?)(?:npx )?capstan ([a-z]+)(?: ([a-z]+))?/gm)];
    const unknown = used
      .map(([, first = "", second = ""]) => (names.has(`${first} ${second}`) ? `${first} ${second}` : first))
      .filter((name) => !names.has(name));
    expect(unknown).toEqual([]);
  });

  test("the reference of commands is that of the definitions", () => {
    const file = join(root, "docs/reference/cli.md");
    expect(readFileSync(file, "utf8"), "npm run generate").toBe(commandReference());
  });
});

/** What the e2e tests do is partly in files they share. */
const helpers = readdirSync(join(root, "tests/e2e"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .map((path) => readFileSync(join(root, "tests/e2e", path), "utf8"))
  .join("\n");

/** A fence says `sh run` (here), `sh by FILE …` (what needs real hosts or programs), or a language without commands. */
describe("every command is proved", () => {
  const blocks = written.flatMap(({ page, text }) =>
    codeBlocks(page, text).map((block) => ({ ...block, whole: text })),
  );

  test.each(blocks)("$page, line $line", (block) => {
    const proof = proofOf(block);
    if (proof === undefined || proof === "run") return;
    expect(proof, "mark the block: sh run, console run, sh by FILE, or text").not.toEqual([]);
    const texts = proof.map((file) => readFileSync(join(root, file), "utf8"));
    const all = [...texts, ...(proof.some((file) => file.startsWith("tests/e2e/")) ? [helpers] : [])].join("\n");
    const missing = verbsOf(scriptOf(block)).filter((verb) => !new RegExp(`\\b${verb}\\b`).test(all));
    expect(missing, `commands that ${proof.join(", ")} do not use`).toEqual([]);
    for (const file of proof.filter((path) => path.startsWith("tests/e2e/"))) {
      const [, name = ""] = /([\w-]+)\.test\.ts$/.exec(file) ?? [];
      expect(block.whole, "the page tells which test runs this").toMatch(
        new RegExp(`${file.replaceAll(".", "\\.")}|npm run e2e -- ${name}\\b(?!-)`),
      );
    }
  });
});

/** Every block marked `run`, in the order of the pages, against one instance with the demo. */
describe("blocks", () => {
  let shell: Shell;
  let up: ChildProcess;

  beforeAll(async () => {
    // The command as it is installed, which also starts twice as fast.
    const { status } = spawnSync(process.execPath, [join(root, "tools/cli/bundle.mjs")], { stdio: "inherit" });
    expect(status).toBe(0);
    shell = await Shell.make(main, root);
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
