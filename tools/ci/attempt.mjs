/** Runs the command of a stage once, as a process group that can be terminated with all it started. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { testsIn } from "./report.mjs";

/** Milliseconds for the last output after a stage has exited: a process it left behind may hold the pipe open for ever. */
const LAST_OUTPUT = 2000;

/** @type {Set<number>} */
const running = new Set();

/** Terminates every stage that is running. */
export function terminateAll() {
  for (const pid of running) process.kill(-pid, "SIGKILL");
}

/**
 * @param {import("./stages.mjs").Stage} stage
 * @param {object} options
 * @param {string} options.cwd
 * @param {number} options.secondsLeft The stage is terminated after that.
 * @param {(text: string) => void} options.write
 * @returns {Promise<import("./drive.mjs").Attempt>}
 */
export async function attempt({ name, command }, { cwd, secondsLeft, write }) {
  const start = performance.now();
  const [program = "", ...args] = command.split(" ");
  const child = spawn(program, args, { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      output += text;
      write(text);
    });
  const { pid } = child;
  if (pid !== undefined) running.add(pid);
  const timer = timeout(secondsLeft, () => {
    write(`=== ${name} is terminated: there is no time left\n`);
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  });
  const closed = once(child, "close").catch(() => undefined);
  /** @type {number | null} */
  const code = await once(child, "exit").then(
    ([exitCode]) => exitCode,
    (error) => {
      write(`=== ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
      return null;
    },
  );
  clearTimeout(timer);
  if (pid !== undefined) running.delete(pid);
  await Promise.race([
    closed,
    new Promise((resolve) => timeout(LAST_OUTPUT / 1000, () => resolve(undefined))?.unref()),
  ]);
  child.stdout.destroy();
  child.stderr.destroy();
  const seconds = (performance.now() - start) / 1000;
  const tests = testsIn(stripVTControlCharacters(output));
  // A suite that finds no test of its own has not passed, whatever its exit code.
  return { ok: code === 0 && tests?.passed !== 0, seconds, tests };
}

/**
 * @param {number} seconds
 * @param {() => void} action
 */
function timeout(seconds, action) {
  return Number.isFinite(seconds) ? setTimeout(action, Math.max(seconds, 0) * 1000) : undefined;
}
