import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { root } from "../docs/blocks.ts";
import { Reader } from "../docs/reader.ts";

/** Somebody who has never seen the project, with a fresh clone and the README: what it says is typed, and the clock runs. */
const dir = mkdtempSync(join(tmpdir(), "capstan-first-run-"));
const clone = join(dir, "capstan");
const { KUBECONFIG: _, ...mine } = process.env;
const env = { ...mine, XDG_DATA_HOME: join(dir, "data"), NO_COLOR: "1" };
let up: ChildProcess | undefined;

afterAll(async () => {
  if (up?.pid !== undefined) {
    const ended = new Promise((resolve) => up?.once("exit", resolve));
    process.kill(-up.pid, "SIGINT");
    await ended;
  }
  rmSync(dir, { recursive: true, force: true });
});

/** The capstan command as the README says it is there in a checkout. */
const capstan = (...args: string[]): string =>
  execFileSync("npx", ["capstan", ...args], { cwd: clone, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

test("one line leads from a fresh clone to the demo, a page to sign in to, and the cause of what is broken", async () => {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" });
  for (const file of files.split("\0").filter((name) => name !== "")) cpSync(join(root, file), join(clone, file));
  const readme = new Reader("README.md", "tests/first-run/first-run.test.ts");
  const start = new Reader("docs/start.md", "tests/first-run/first-run.test.ts");
  const line = readme.command("Start", "npm ci");
  const install = start.command("Start in five minutes", "npm ci");
  const run = start.command("Start in five minutes", "npm start");
  expect(`${install} && ${run}`, "both pages say the same").toBe(line);
  expect([...readme.untyped(), ...start.untyped()]).toEqual([]);

  const began = Date.now();
  up = spawn("bash", ["-c", `${line} --listen 127.0.0.1:0`], { cwd: clone, env, detached: true });
  let text = "";
  for (const stream of [up.stdout, up.stderr])
    stream?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  await vi.waitFor(
    () => {
      if (up?.exitCode !== null) throw new Error(text);
      expect(text).toContain("Try, in a second terminal:");
    },
    { timeout: 400_000, interval: 100 },
  );
  console.log(`          the demo runs ${((Date.now() - began) / 1000).toFixed(0)} s after the line was typed`);

  const link = new URL(/Dashboard: +(\S+)/.exec(text)?.[1] ?? "");
  expect((await fetch(link)).status).toBe(200);
  expect(capstan("get", "clusters")).toMatch(/^demo /m);
  capstan("demo", "break", "own-1");
  expect(capstan("why", "demo")).toContain("Cause: Host own-1 has gone silent");
});
