import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { COMMANDS, commandReference } from "capstan";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { fileLinks, runnableBlocks } from "./blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const main = join(root, "dist/capstan/capstan.js");

const pages = [
  join(root, "README.md"),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => join(root, "docs", path)),
].map((file) => ({ page: relative(root, file), text: readFileSync(file, "utf8") }));

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

/** Every block marked `sh run`, in the order of the pages, against one instance with the demo. */
describe("blocks", () => {
  let dir: string;
  let up: ChildProcess;

  beforeAll(async () => {
    // The command as it is installed, which also starts twice as fast.
    const { status } = spawnSync(process.execPath, [join(root, "tools/cli/bundle.mjs")], { stdio: "inherit" });
    expect(status).toBe(0);
    dir = await mkdtemp(join(tmpdir(), "capstan-docs-"));
    await mkdir(join(dir, "bin"));
    const program = join(dir, "bin", "capstan");
    await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
    await chmod(program, 0o755);
    const options = {
      env: environment(),
      cwd: dir,
      stdio: ["ignore", "pipe", "inherit"] as ["ignore", "pipe", "inherit"],
    };
    up = spawn(program, ["up", "--demo", "--listen", "127.0.0.1:0", "--dashboard", "off"], options);
    let text = "";
    up.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    await vi.waitFor(() => expect(text).toContain("Try,"), { timeout: 110_000, interval: 200 });
  }, 120_000);

  afterAll(async () => {
    up.kill("SIGKILL");
    await rm(dir, { recursive: true, force: true });
  });

  function environment(): Record<string, string | undefined> {
    const { KUBECONFIG: _, ...rest } = process.env;
    return {
      ...rest,
      PATH: `${join(dir, "bin")}:${process.env["PATH"]}`,
      HOME: dir,
      XDG_DATA_HOME: dir,
      NO_COLOR: "1",
    };
  }

  const blocks = pages.flatMap(({ page, text }) => runnableBlocks(page, text));

  test.each(blocks)(
    "$page, line $line",
    async ({ text }) => {
      const shell = spawn("bash", ["-euo", "pipefail", "-c", text], {
        env: environment(),
        cwd: dir,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let errors = "";
      shell.stderr?.on("data", (chunk: Buffer) => {
        errors += chunk.toString();
      });
      const code = await new Promise((resolve) => shell.once("close", resolve));
      expect(code, errors).toBe(0);
    },
    60_000,
  );
});
