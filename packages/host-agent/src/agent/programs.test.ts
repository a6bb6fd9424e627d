import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@capstan/apimachinery";
import { silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Programs } from "./programs.ts";
import { isAlive, type ProcessId } from "./work.ts";

let dir: string;
let clock: VirtualClock;
const started: Programs[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-programs-"));
  clock = new VirtualClock();
});
afterEach(async () => {
  const last = started.at(-1);
  for (const programs of started.splice(0)) programs.close();
  const stopping = Promise.all([last?.stop("kubelet"), last?.stop("containerd")]);
  for (let i = 0; i < 20; i++) await clock.advance(200);
  await stopping;
  rmSync(dir, { recursive: true, force: true });
});

// Real processes under a clock of ours: only the looking has time.
function start(): Programs {
  const programs = {
    containerd: { line: "exec sleep 600", needs: [] },
    kubelet: { line: "exec sleep 600", needs: [join(dir, "config")] },
  };
  const made = new Programs({ stateDir: dir, clock, log: silentLogger, programs });
  started.push(made);
  return made;
}

function running(name: string): ProcessId | undefined {
  const saved = JSON.parse(readFileSync(join(dir, "programs.json"), "utf8")) as Record<string, ProcessId | null>;
  const id = saved[name];
  return id !== undefined && id !== null && isAlive(id) ? id : undefined;
}

const until = async (what: () => boolean): Promise<void> => {
  for (let i = 0; i < 1000 && !what(); i++) {
    await clock.advance(1000);
    // The processes are real and need real time to start and to end.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(what()).toBe(true);
};

test("a program starts once its files exist, restarts when it dies, and keeps running when the agent is replaced", async () => {
  const first = start();
  first.want("kubelet");
  await clock.advance(5000);
  expect(running("kubelet")).toBeUndefined();
  writeFileSync(join(dir, "config"), "");
  await until(() => running("kubelet") !== undefined);
  const one = running("kubelet");

  process.kill(one?.pid ?? 0, "SIGKILL");
  await until(() => running("kubelet") !== undefined && running("kubelet")?.pid !== one?.pid);
  const two = running("kubelet");

  first.close();
  const second = start();
  await clock.advance(5000);
  expect(running("kubelet")).toEqual(two);

  const stopping = second.stop("kubelet");
  await until(() => two === undefined || !isAlive(two));
  await clock.advance(1000);
  await stopping;
  await clock.advance(5000);
  expect(running("kubelet")).toBeUndefined();
});
