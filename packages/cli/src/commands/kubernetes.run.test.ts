import { expect, test } from "vitest";
import { progressLines } from "./kubernetes.run.ts";

test("prints a line per 10 % of each file, and per 10 MB of a file of unknown size", () => {
  const lines: string[] = [];
  const progress = progressLines((line) => lines.push(line.trimEnd()));
  for (const received of [1e6, 9e6, 11e6, 19e6, 80e6]) progress("kube-apiserver", received, 80e6);
  for (const received of [1e6, 5e6, 12e6, 19e6, 31e6]) progress("etcd v3.6.5", received, undefined);
  progress("empty", 0, 0);
  expect(lines).toEqual([
    "kube-apiserver: 0 % of 80 MB",
    "kube-apiserver: 10 % of 80 MB",
    "kube-apiserver: 20 % of 80 MB",
    "kube-apiserver: 100 % of 80 MB",
    "etcd v3.6.5: 0 MB",
    "etcd v3.6.5: 10 MB",
    "etcd v3.6.5: 30 MB",
    "empty: 0 MB",
  ]);
});
