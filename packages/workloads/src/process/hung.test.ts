import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "@capstan/apimachinery";
import { processIdentity } from "@capstan/os";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Program, ProgramState } from "../types.ts";
import { PortAllocator } from "./ports.ts";
import { ProcessWorkloads } from "./process-workloads.ts";
import { Silence } from "./silence.ts";

/** Programs that run and do not answer. Their clock is a thousand times as fast: what is waited for takes minutes. */
let speed = 1000;
const hasty: Clock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() * speed,
  after: (ms, run) => systemClock.after(ms / speed, run),
};
const id = { owner: "default/c1", name: "web" };
let root: string;
let workloads: ProcessWorkloads;

beforeEach(async () => {
  speed = 1000;
  root = await mkdtemp(join(tmpdir(), "capstan-hung-"));
  workloads = new ProcessWorkloads({ root, clock: hasty });
});

afterEach(async () => {
  // At its usual speed: a busy machine takes more than hundredths of a second to end a process.
  speed = 1;
  await workloads.stopAll(() => 0);
  await rm(root, { recursive: true, force: true });
});

/** A server that counts its answers in a file, and after the first one of its first life does what `then` says. */
async function server(then: string): Promise<Program> {
  const ports = await new PortAllocator(root).allocate(id.owner, ["web"], "127.0.0.1");
  const code = `
    const fs = require("fs"), count = process.argv[1] + "/count", again = fs.existsSync(count);
    let answers = 0, status = 200;
    const server = require("http").createServer((request, response) => {
      response.writeHead(status, { connection: "close" }).end("[-]etcd failed");
      fs.writeFileSync(count, String(++answers));
      if (!again) { ${then} }
    }).listen(${ports["web"]}, "127.0.0.1");
    setInterval(() => undefined, 1e6);`;
  const probe = { url: `http://127.0.0.1:${ports["web"]}/readyz` };
  return { id, command: process.execPath, args: ["-e", code, "$DATA"], dataDir: true, probe };
}

/** All states until one is as wanted. */
function until(wanted: (state: ProgramState) => boolean): Promise<ProgramState[]> {
  const seen: ProgramState[] = [];
  return new Promise((resolve) => {
    const look = async (): Promise<void> => {
      const [state] = await workloads.list(id.owner);
      if (state === undefined) return;
      seen.push(state);
      if (!wanted(state)) return;
      unsubscribe();
      resolve(seen);
    };
    const unsubscribe = workloads.subscribe(() => void look());
    void look();
  });
}

const answers = (): Promise<number> => readFile(join(root, "default/c1/web/data/count"), "utf8").then(Number, () => 0);

test("a program that has answered and then does not answer at all is killed, restarted and reported", async () => {
  await workloads.ensure(await server("server.close()"));
  const seen = await until((state) => state.phase === "Ready" && state.restarts === 1);
  const [first] = seen.flatMap(({ pid }) => pid ?? []);
  expect(processIdentity(first ?? 0)).toBeUndefined();
  expect(seen.map(({ message }) => message).join("\n")).toMatch(
    /^did not answer for \d{3} s and was killed, starting again in 0.2 s/m,
  );
});

test("a program that says it is not ready is left alone: what it waits for is not its own fault", async () => {
  await workloads.ensure(await server("status = 500"));
  while ((await answers()) < 50);
  const [state] = await workloads.list(id.owner);
  expect(state).toMatchObject({ phase: "Running", restarts: 0, message: "/readyz answered 500: [-]etcd failed" });
});

test("a program that hangs is found by the next manager too", async () => {
  await workloads.ensure(await server("server.close()"));
  while ((await answers()) < 1);
  workloads.release();
  workloads = new ProcessWorkloads({ root, clock: hasty });
  await workloads.adoptAll();
  await until((state) => state.phase === "Ready" && state.restarts === 1);
});

test("one that never answered is starting; a machine that slept says nothing of a program", () => {
  const starting = new Silence();
  for (let attempt = 0; attempt < 100; attempt++) expect(starting.heard(attempt * 60_000)).toBe(false);
  const slept = new Silence();
  slept.broken(0);
  for (let attempt = 0; attempt < 7; attempt++) expect(slept.heard(10 * 3600_000)).toBe(false);
  expect(slept.heard(10 * 3600_000)).toBe(true);
});
