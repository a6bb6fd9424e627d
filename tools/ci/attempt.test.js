import { expect, test, vi } from "vitest";
import { attempt } from "./attempt.mjs";

/**
 * Runs a stage whose command is one argument of `node -e`; the commands of stages have no quotes, so it must not have spaces.
 * @param {string} script
 * @param {number} [secondsLeft]
 */
async function run(script, secondsLeft = Number.POSITIVE_INFINITY) {
  let text = "";
  const write = (/** @type {string} */ more) => {
    text += more;
  };
  const command = `${process.execPath} -e ${script}`;
  const result = await attempt({ name: "x", command }, { cwd: process.cwd(), secondsLeft, write });
  return { ...result, text };
}

test("passes with the exit code and counts the tests in coloured output", async () => {
  const result = await run(String.raw`console.log("\x1b[32m4\x20passed,\x200\x20failed\x1b[0m")`);
  expect(result).toMatchObject({ ok: true, tests: { passed: 4, failed: 0, skipped: 0 } });
  expect(result.text).toContain("4 passed, 0 failed");
});

test("fails with the exit code, without a program, and without tests", async () => {
  expect(await run("process.exit(3)")).toMatchObject({ ok: false, tests: undefined });
  expect(await run(String.raw`console.log("0\x20passed,\x200\x20failed")`)).toMatchObject({ ok: false });
  const missing = { name: "x", command: "/no/such/program" };
  const write = () => undefined;
  expect(await attempt(missing, { cwd: "/", secondsLeft: 10, write })).toMatchObject({ ok: false });
});

test("terminates the stage and what it started when there is no time left", async () => {
  // The stage prints the process id of its child, then both wait for ever.
  const script = `const{spawn}=require("node:child_process");console.log(spawn(process.execPath,["-e","setInterval(()=>0,1e6)"]).pid);setInterval(()=>0,1e6)`;
  const { ok, text } = await run(script, 1);
  expect(ok).toBe(false);
  expect(text).toContain("x is terminated: there is no time left");
  const [, child] = /^(\d+)$/m.exec(text) ?? [];
  // Until init has reaped it.
  await vi.waitFor(() => expect(() => process.kill(Number(child), 0)).toThrow("ESRCH"), { timeout: 15_000 });
});

test("does not wait for a process that the stage left behind", async () => {
  const script = `const{spawn}=require("node:child_process");const{pid}=spawn("sleep",["60"],{stdio:"inherit",detached:true});console.log(pid);process.exit(0)`;
  const { ok, seconds, text } = await run(script);
  process.kill(Number(text.trim()), "SIGKILL");
  expect(ok).toBe(true);
  expect(seconds).toBeLessThan(30);
});
