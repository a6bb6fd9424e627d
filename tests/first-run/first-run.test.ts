import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { root } from "../docs/blocks.ts";
import { Reader } from "../docs/reader.ts";
import { tenRestarts } from "./ten-restarts.ts";

/** A new user with a fresh clone and the README: types its commands, and measures the time. */
const dir = mkdtempSync(join(tmpdir(), "capstan-first-run-"));
const clone = join(dir, "capstan");
const { KUBECONFIG: _, ...mine } = process.env;
const env = { ...mine, XDG_DATA_HOME: join(dir, "data"), NO_COLOR: "1" };
let up: ChildProcess | undefined;
/** Started by node itself, without a shell around it. */
let own = false;

afterAll(async () => {
  if (up?.pid !== undefined && up.exitCode === null && up.signalCode === null) {
    const ended = new Promise((resolve) => up?.once("exit", resolve));
    process.kill(own ? up.pid : -up.pid, "SIGINT");
    await ended;
  }
  rmSync(dir, { recursive: true, force: true });
});

/** The capstan command as the README says it is there in a checkout. */
const capstan = (...args: string[]): string =>
  execFileSync("npx", ["capstan", ...args], { cwd: clone, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** A host of this kind that a machine uses. */
function hostInUse(kind: string, reference: string): string {
  const { items } = JSON.parse(capstan("get", kind, "-o", "json")) as {
    items: { metadata: { name: string }; spec?: Record<string, unknown> }[];
  };
  return items.find(({ spec }) => spec?.[reference] !== undefined)?.metadata.name ?? "";
}

test("one line leads from a fresh clone to the demo, a dashboard to sign in to, an upgrade, and every cause of what is broken", async () => {
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
  expect(capstan("get", "clusters")).toMatch(/^demo +Healthy /m);
  expect(capstan("upgrade", "apply", "demo", "--to", "v1.37.1")).toBe("cluster/demo is upgraded to v1.37.1\n");
  expect(capstan("upgrade", "plan", "demo")).toMatch(/^demo +v1\.37\.1 .* v1\.37\.1 .*up to date/m);
  const versions = capstan("get", "machines", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}");
  expect(versions.trim().split(" ")).toEqual(Array.from({ length: 4 }, () => "v1.37.1"));
  expect(text, "nothing failed on the way").not.toContain("reconcile failed");
  // The upgrade has moved machines between hosts.
  const own = hostInUse("byohosts", "machineRef");
  const metal = hostInUse("baremetalhosts", "consumerRef");
  capstan("demo", "break", own);
  expect(capstan("why", "demo")).toContain(`Cause: Host ${own} has gone silent`);
  // A second fault is a second cause: neither hides the other.
  capstan("demo", "break", metal);
  await vi.waitFor(
    () => {
      const why = capstan("why", "demo");
      expect(why).toMatch(/^Cluster\/demo is Degraded for /);
      expect(why).toMatch(new RegExp(`^Cause 1 of 2: Host ${own} has gone silent`, "m"));
      expect(why).toMatch(new RegExp(`^Cause 2 of 2: Bare-metal host ${metal} has a problem`, "m"));
      expect(why.match(/^What to do:$/gm)).toHaveLength(2);
    },
    { timeout: 60_000, interval: 1000 },
  );
  expect(capstan("events", "demo", "--types", "Warning")).toMatch(new RegExp(`HostBroken +byohost/${own}`));
  for (const host of [own, metal]) capstan("demo", "repair", host);
  await vi.waitFor(() => expect(capstan("get", "clusters")).toMatch(/^demo +Healthy /m), {
    timeout: 180_000,
    interval: 1000,
  });
});

test("ten restarts of the demo, orderly ones and kill -9 in turn, replace no Machine, lose nothing and log no error", async () => {
  if (up === undefined) throw new Error("the demo does not run");
  const demo = { cli: join(clone, "packages/cli/dist/main.js"), dataDir: join(dir, "data", "capstan"), env };
  const { before, after, errors, last } = await tenRestarts(demo, up);
  up = last;
  own = true;
  expect(before.machines).toHaveLength(4);
  expect(after).toEqual(before);
  expect(errors).toBe("");
});
