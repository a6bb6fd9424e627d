import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommandIo } from "./command.ts";
import { findPlugin } from "./plugin.ts";
import { runProgram } from "./program.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-plugin-"));
  writeFileSync(join(folder, "capstan-hello"), "#!/bin/sh\nexit 7\n", { mode: 0o755 });
  writeFileSync(join(folder, "capstan-hello-big_world"), "#!/bin/sh\nexit 8\n", { mode: 0o755 });
  writeFileSync(join(folder, "capstan-notes"), "not a program", { mode: 0o644 });
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  [["hello"], "capstan-hello", []],
  [["hello", "you", "--loud"], "capstan-hello", ["you", "--loud"]],
  [["hello", "big-world", "x"], "capstan-hello-big_world", ["x"]],
  [["hello", "../../bin/sh"], "capstan-hello", ["../../bin/sh"]],
])("%j", (words, program, rest) => {
  expect(findPlugin(words, folder)).toEqual({ path: join(folder, program), rest });
});

test.each([[["notes"]], [["unknown"]], [["--hello"]], [[]]])("finds no plugin for %j", (words) => {
  expect(findPlugin(words, folder)).toBeUndefined();
});

test("returns the plugin's exit code; built-in commands take precedence", async () => {
  let err = "";
  const io: CommandIo = {
    out: () => undefined,
    err: (text) => {
      err += text;
    },
    env: { PATH: folder },
    interactive: false,
  };
  expect(await runProgram(["hello"], io)).toBe(7);
  expect(await runProgram(["helo"], io)).toBe(2);
  expect(err).toContain("unknown command 'helo'");
});
