import { mkdtemp, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lastErrorLine, rotateLog } from "./log-file.ts";

test.each([
  ["nothing", "", ""],
  ["the last line when none looks like an error", "one\ntwo\n", "two"],
  [
    "klog without its prefix",
    'I1116 03:37:37.1 1158 server.go:152] "x"\nE1116 03:37:37.2    1158 run.go:72] "command failed" err="bad file"\n',
    '"command failed" err="bad file"',
  ],
  ["cobra", "Error: unknown flag: --nonsense\nUsage:\n  etcd\n", "Error: unknown flag: --nonsense"],
  ...[
    "flag provided but not defined: -nonsense",
    'invalid value "x" for flag -heartbeat-interval: parse error',
    'invalid boolean value "x" for -pre-vote: parse error',
  ].map((line) => [`etcd: ${line}`, `${line}\nUsage:\n\n  etcd [flags]\n    Start an etcd server.\n`, line]),
  [
    "etcd: what it logged says more than what it panics with",
    [
      '{"level":"info","msg":"starting"}',
      '{"level":"panic","caller":"bootstrap.go:663","msg":"failed to create WAL","error":"no space left on device"}',
      "panic: failed to create WAL",
      "",
      "goroutine 1 [running]:",
    ].join("\n"),
    "failed to create WAL: no space left on device",
  ],
  [
    "Go's runtime: the signal, not the last line of the stacks (etcd 3.6.16 with a db cut short)",
    [
      '{"level":"error","msg":"older"}',
      "unexpected fault address 0x7f2f1fe3f000",
      "fatal error: fault",
      "[signal SIGBUS: bus error code=0x2 addr=0x7f2f1fe3f000 pc=0xa3fcaa]",
      "",
      "goroutine 115 gp=0x30363ea9ba40 m=0 mp=0x1dfdea0 [running]:",
      "\tgo.etcd.io/bbolt@v1.4.3/db.go:1246 +0x1ef",
    ].join("\n"),
    "[signal SIGBUS: bus error code=0x2 addr=0x7f2f1fe3f000 pc=0xa3fcaa]",
  ],
  [
    "a panic without a log line stands for itself",
    '{"level":"panic","msg":"older","error":"x"}\npanic: index out of range\n',
    "panic: index out of range",
  ],
])("%s", (_name, log, expected) => {
  expect(lastErrorLine(log)).toBe(expected);
});

test("a log that has grown is emptied under the program that writes it, and the part before is kept once", async () => {
  const dir = await mkdtemp(join(tmpdir(), "capstan-log-"));
  const path = join(dir, "x.log");
  const program = await open(path, "a");
  try {
    await program.write("first\n".padEnd(16 * 1024 * 1024, "x"));
    await rotateLog(path);
    await program.write("second\n");
    expect(await readFile(path, "utf8"), "it continues at the beginning").toBe("second\n");
    expect((await stat(`${path}.1`)).size).toBe(16 * 1024 * 1024);
    await rotateLog(path);
    expect(await readFile(path, "utf8"), "a short one stays").toBe("second\n");
    expect(await readdir(dir)).toEqual(["x.log", "x.log.1"]);
  } finally {
    await program.close();
    await rm(dir, { recursive: true });
  }
});
