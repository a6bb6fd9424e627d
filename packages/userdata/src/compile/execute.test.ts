import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dataUrl } from "../render/data-url.ts";
import { compileScript } from "./compile.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-compile-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
  code: number | null;
  output: string;
  report: string | undefined;
}

/** Runs the compiled script with real bash. Its files are below the folder and belong to whoever runs the test. */
function run(config: object, format: "cloud-config" | "ignition" = "cloud-config"): Outcome {
  const content = format === "ignition" ? JSON.stringify(config) : `#cloud-config\n${JSON.stringify(config)}`;
  const result = compileScript({ format, content }, { hostname: "n", instanceData: { instance_id: "i-1" } });
  if ("problems" in result) throw new Error(result.problems.join("; "));
  const [script, report] = [join(folder, "script"), join(folder, "report")];
  writeFileSync(script, result.script);
  // A file: a process that a command leaves running would keep a pipe open.
  const output = openSync(join(folder, "output"), "w");
  const { status } = spawnSync("/bin/bash", [script], {
    stdio: ["ignore", output, output],
    env: { PATH: process.env["PATH"], CAPSTAN_REPORT: report, TMPDIR: folder },
  });
  closeSync(output);
  return { code: status, output: read("output"), report: existsSync(report) ? read("report") : undefined };
}

const owner = userInfo().username;
const at = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(at(name), "utf8");

test("writes files with their bytes and modes, appends, and makes folders", () => {
  const binary = Buffer.from([0, 255, 10, 13, 39]);
  const outcome = run({
    write_files: [
      { path: at("deep/er/a"), owner, permissions: "0640", encoding: "b64", content: binary.toString("base64") },
      { path: at("it's $HOME `x`"), owner, content: "$(id) `id` \\ '\nCAPSTAN_END\n" },
      { path: at("big"), owner, content: "0123456789".repeat(5000) },
      { path: at("log"), owner, content: "1\n" },
      { path: at("log"), owner, content: "2\n", append: true, permissions: "0600" },
    ],
  });
  expect(outcome).toMatchObject({ code: 0, report: undefined });
  expect(readFileSync(at("deep/er/a"))).toEqual(binary);
  expect(statSync(at("deep/er/a")).mode & 0o7777).toBe(0o640);
  expect(read("it's $HOME `x`")).toBe("$(id) `id` \\ '\nCAPSTAN_END\n");
  expect(read("big")).toBe("0123456789".repeat(5000));
  expect(read("log")).toBe("1\n2\n");
  expect(statSync(at("log")).mode & 0o7777).toBe(0o600);
  expect(readdirSync(folder).toSorted(), "nothing of its own is left").toEqual(
    ["big", "deep", "it's $HOME `x`", "log", "output", "script"].toSorted(),
  );
});

test("commands run in one shell, with variables, lists of arguments and lines that continue", () => {
  const outcome = run({
    bootcmd: [`echo "$INSTANCE_ID" > ${at("boot")}`],
    runcmd: [
      "x=1",
      `cd ${folder}`,
      "echo $x > state",
      ["sh", "-c", 'echo "$@" > list', "sh", "it's", "$x", "a  b"],
      "if true; then",
      "echo yes > branch",
      "fi",
      "echo end \\",
      "# a comment",
    ],
  });
  expect(outcome.code).toBe(0);
  expect([read("boot"), read("state"), read("list"), read("branch")]).toEqual([
    "i-1\n",
    "1\n",
    "it's $x a  b\n",
    "yes\n",
  ]);
});

test("commands that are spread over several lines are what cloud-init makes of them", () => {
  const outcome = run({
    runcmd: [
      `cd ${folder}`,
      "if false; then",
      "echo then > branch",
      "elif false; then",
      "echo elif > branch",
      "else",
      "echo else > branch",
      "fi",
      "case b in",
      "a) echo a > case;;",
      "b) echo b > case;;",
      "esac",
      "cat > document << 'EOF'",
      "it's $x",
      "  indented",
      "EOF",
      "for i in 1 2; do",
      ["sh", "-c", 'echo "$1" >> loop', "sh", "x"],
      "done",
      "echo 'two",
      "lines' > quoted",
      "echo a \\",
      "b > continued",
      "true &&",
      "echo and > and",
      "f() {",
      "echo f > function",
      "}",
      "f",
      ["if"],
    ],
  });
  expect(outcome.report).toMatch(/^"if" exited with code 127/);
  expect(["branch", "case", "document", "loop", "quoted", "continued", "and", "function"].map(read)).toEqual([
    "else\n",
    "b\n",
    "it's $x\n  indented\n",
    "x\nx\n",
    "two\nlines\n",
    "a b\n",
    "and\n",
    "f\n",
  ]);
});

test("what looks like the beginning of something longer does not keep later commands from being checked", () => {
  const lines = [
    "echo if case {",
    "echo $((1 << 2)) # it's",
    'echo "$(echo ")")"',
    `a='('; echo "it's"`,
    "echo a;",
    "echo \\'",
  ];
  const outcome = run({ runcmd: [...lines, "false", "touch never"] });
  expect(outcome.report).toMatch(/^"false" exited with code 1/);
});

test("a command with a quote that never ends does not hide the ones before", () => {
  const outcome = run({ runcmd: [`touch ${at("before")}`, "exit 4", "echo 'never", "true"] });
  expect(outcome.code).toBe(4);
  expect(existsSync(at("before"))).toBe(true);
});

test("the first command that fails stops the script; its name, code and output are reported", () => {
  const outcome = run({
    runcmd: ["echo before", "echo no space left >&2; echo really; exit 3", `touch ${at("never")}`],
  });
  expect(outcome.code).toBe(3);
  expect(outcome.report).toBe(
    '"echo no space left >&2; echo really; exit 3" exited with code 3\nno space left\nreally\n',
  );
  expect(outcome.output).toContain("+ echo before\nbefore\n+ echo no space");
  expect(existsSync(at("never"))).toBe(false);
});

test("a file that cannot be written is reported", () => {
  writeFileSync(at("file"), "");
  const outcome = run({ write_files: [{ path: at("file/in-it"), owner, content: "x" }] });
  expect(outcome.code).toBe(1);
  expect(outcome.report).toMatch(/^"write .*\/file\/in-it" exited with code 1\nmkdir: .*(Not a directory|File exists)/);
});

test("the report has the last 2 KiB of the output, from a whole line on", () => {
  const { report = "" } = run({ runcmd: ["i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; false"] });
  const lines = report.trimEnd().split("\n").slice(1);
  expect(lines.at(-1)).toBe("line 1999");
  expect(lines.every((line) => /^line \d+$/.test(line))).toBe(true);
  expect(report.length).toBeLessThan(2400);
  expect(report.length).toBeGreaterThan(1900);
});

test("a command that leaves a process running does not keep the script", () => {
  const outcome = run({ runcmd: [`sleep 20 & echo $! > ${at("pid")}`, "false"] });
  process.kill(Number(read("pid")));
  expect(outcome.report).toBe('"false" exited with code 1\n\n');
});

test("tokens, passwords and keys are neither printed nor reported", () => {
  const key = "-----BEGIN EC PRIVATE KEY-----\nc2VjcmV0\nc2VjcmV0\n-----END EC PRIVATE KEY-----";
  const { output, report } = run({
    runcmd: [
      `cat << E\nkeys: |\n  ${key.replaceAll("\n", "\n  ")}\r\ntoken: abcdef.0123456789abcdef\npassword=hunter2\nhttps://u:hunter2@example.com\n${key}\nafter\nE`,
      "echo --certificate-key c0ffee abcdef.0123456789abcdef; false",
    ],
  });
  for (const text of [output, report]) expect(text).not.toMatch(/0123456789abcdef|hunter2|c2VjcmV0|c0ffee/);
  expect(output).toContain(
    "keys: |\n***\n***\n***\n***\ntoken: ***\npassword=***\nhttps://u:***@example.com\n***\n***\n***\n***\nafter\n",
  );
  expect(report).toMatch(
    /^"echo --certificate-key \*\*\* \*\*\*; false" exited with code 1\n--certificate-key \*\*\* \*\*\*\n$/,
  );
});

test("an Ignition config makes folders, files and links", () => {
  const user = { id: process.getuid?.() ?? 0 };
  const group = { id: process.getgid?.() ?? 0 };
  const outcome = run(
    {
      ignition: { version: "3.4.0" },
      storage: {
        directories: [{ path: at("d"), mode: 0o700, user, group }],
        files: [
          { path: at("d/a"), mode: 0o600, user, group, contents: { source: dataUrl("it's ä\n") } },
          { path: at("d/a"), mode: 0o600, user, group, append: [{ source: "data:;base64,bW9yZQ==" }] },
        ],
        links: [
          { path: at("d/soft"), target: "a", user, group },
          { path: at("d/hard"), target: at("d/a"), hard: true },
        ],
      },
    },
    "ignition",
  );
  expect(outcome).toMatchObject({ code: 0, report: undefined });
  expect(read("d/soft")).toBe("it's ä\nmore");
  expect(statSync(at("d")).mode & 0o7777).toBe(0o700);
  expect(statSync(at("d/hard")).ino).toBe(statSync(at("d/a")).ino);
});
