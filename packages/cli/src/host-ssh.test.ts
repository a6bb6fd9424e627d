import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { enrolOverSsh } from "./host-ssh.ts";

let dir: string;
let said: string;
const PATH = process.env["PATH"];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-ssh-"));
  said = "";
  process.env["PATH"] = `${dir}:${PATH}`;
  writeFileSync(join(dir, "agent"), "the agent's program");
});
afterEach(() => {
  process.env["PATH"] = PATH;
  rmSync(dir, { recursive: true, force: true });
});

/** Replaces ssh: records its arguments and its input. */
function standIn(script: string): void {
  const file = join(dir, "ssh");
  writeFileSync(file, `#!/bin/sh\necho "$@" >> ${dir}/calls\ncat >> ${dir}/input\n${script}\n`);
  chmodSync(file, 0o755);
}

const enrol = (more: object = {}) =>
  enrolOverSsh({
    target: "root@192.0.2.7",
    args: ["-p", "2222"],
    agent: join(dir, "agent"),
    line: "TOKEN-TEXT",
    io: { out: () => undefined, err: (text: string) => (said += text), env: {}, interactive: false } as never,
    ...more,
  });

test("copies and enrols the agent; passes the token on standard input, never as an argument", async () => {
  standIn("exit 0");
  await enrol();
  const [copy = "", run = ""] = readFileSync(join(dir, "calls"), "utf8").split("\n");
  expect(copy).toMatch(/-p 2222 root@192\.0\.2\.7 -- umask 077; cat > \/tmp\/capstan-host-agent\.new$/);
  expect(run).toMatch(/sudo -n.*install -m 755 .*\/usr\/local\/bin\/capstan-host-agent --enrol - --service$/);
  expect(copy + run).not.toContain("TOKEN-TEXT");
  expect(readFileSync(join(dir, "input"), "utf8")).toBe("the agent's programTOKEN-TEXT");
});

test.each<[string, string, object, RegExp]>([
  [
    "a host that denies access",
    "echo 'Permission denied (publickey).' >&2; exit 255",
    {},
    /code 255: Permission denied/,
  ],
  [
    "a user without sudo permission",
    "echo 'sudo: a password is required' >&2; exit 1",
    {},
    /code 1: sudo: a password is required/,
  ],
  ["a target that is an option", "exit 0", { target: "-oProxyCommand=x" }, /is not USER@HOST/],
  ["a missing agent program", "exit 0", { agent: "/nowhere/agent" }, /the host agent is not at \/nowhere\/agent/],
])("reports the error of %s", async (_, script, more, message) => {
  standIn(script);
  await expect(enrol(more)).rejects.toThrow(message);
});
