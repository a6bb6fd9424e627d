import { expect, test } from "vitest";
import { lastErrorLine } from "./log-file.ts";

test.each([
  ["nothing", "", ""],
  ["the last line when none looks like an error", "one\ntwo\n", "two"],
  [
    "klog without its prefix",
    'I1116 03:37:37.1 1158 server.go:152] "x"\nE1116 03:37:37.2    1158 run.go:72] "command failed" err="bad file"\n',
    '"command failed" err="bad file"',
  ],
  ["cobra", "Error: unknown flag: --nonsense\nUsage:\n  etcd\n", "Error: unknown flag: --nonsense"],
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
    "a panic that nobody logged stands for itself",
    '{"level":"panic","msg":"older","error":"x"}\npanic: index out of range\n',
    "panic: index out of range",
  ],
])("%s", (_name, log, expected) => {
  expect(lastErrorLine(log)).toBe(expected);
});
