import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "./program.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-program-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.each(["backup create demo", "backup list demo", "backup restore demo b", "recover demo"])(
  "%s --data names the instance",
  async (words) => {
    const kubeconfig = join(dir, "there", "kubeconfig");
    mkdirSync(join(dir, "there"));
    // The instance is this process: when it started is the 22nd field, behind the name of the program.
    const startTime = Number(readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ")[19]);
    const record = { pid: process.pid, startTime, server: "", kubeconfig, startedAt: "", version: "" };
    writeFileSync(join(dir, "there/instance.json"), JSON.stringify(record));
    let errors = "";
    const io = {
      out: () => undefined,
      err: (text: string) => {
        errors += text;
      },
      env: { HOME: dir },
      interactive: false,
    };
    expect(await runProgram([...words.split(" "), "--data", join(dir, "there")], io)).toBe(1);
    // Read, and not there.
    expect(errors).toContain(kubeconfig);
  },
);
