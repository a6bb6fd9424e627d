import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

/** The built program as a person runs it; `npm test` builds first. */
const MAIN = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

let dataDir: string;
let first: ChildProcess;

function start(...args: string[]): ReturnType<typeof startWith> {
  return startWith([...args, "--data", dataDir]);
}

function startWith(
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): { child: ChildProcess; text(): string; ended: Promise<number | null> } {
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { child, text: () => text, ended: new Promise((resolve) => child.once("close", (code) => resolve(code))) };
}

async function run(...args: string[]): Promise<{ code: number | null; text: string }> {
  const { ended, text } = start(...args);
  return { code: await ended, text: text() };
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "capstan-up-"));
  const up = start("up", "--listen", "127.0.0.1:0", "--dashboard", "off");
  first = up.child;
  await vi.waitFor(() => expect(up.text()).toContain("Next:"), { timeout: 30_000 });
}, 40_000);

afterAll(async () => {
  first.kill("SIGKILL");
  await rm(dataDir, { recursive: true, force: true });
});

test("a second up on the same data directory explains the conflict and exits", async () => {
  const { code, text } = await run("up", "--listen", "127.0.0.1:0", "--dashboard", "off");
  expect(code).toBe(1);
  expect(text).toMatch(
    /^error: capstan already runs on .* \(pid \d+, https:\/\/127\.0\.0\.1:\d+\)\nnext: use it \(capstan status --data \S+\), stop it \(capstan down --data \S+\)/,
  );
});

test("the exported KUBECONFIG selects the data directory too", async () => {
  const env = { ...process.env, KUBECONFIG: join(dataDir, "kubeconfig") };
  const { ended, text } = startWith(["status"], env);
  expect(await ended).toBe(0);
  expect(text()).toContain(`Data:       ${dataDir}\n`);
});

test("status shows the first instance, commands use it, down stops it", async () => {
  expect(await run("status")).toMatchObject({
    code: 0,
    text: expect.stringContaining("Server:     https://127.0.0.1:"),
  });
  expect(await run("get", "clusters")).toEqual({ code: 0, text: "No resources found in default namespace.\n" });
  expect(await run("down")).toMatchObject({ code: 0, text: expect.stringContaining("Stopped.") });
  expect(await run("status")).toMatchObject({ code: 1 });
});
