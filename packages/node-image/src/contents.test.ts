import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KUBEADM_FILES } from "./contents.ts";

let folder: string;
/** Installs the script below a folder of the test, around a kubeadm that only prints its arguments. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-kubeadm-"));
  for (const [path, text] of Object.entries(KUBEADM_FILES)) {
    const name = path === "usr/local/bin/kubeadm" ? "script" : basename(path);
    writeFileSync(join(folder, name), text.replaceAll("/usr/local/lib", folder));
  }
  writeFileSync(join(folder, "kubeadm"), '#!/bin/sh\necho "$*"\n');
  for (const name of ["script", "kubeadm"]) chmodSync(join(folder, name), 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const call = (...args: string[]): string =>
  spawnSync(join(folder, "script"), args, { encoding: "utf8" }).stdout.trimEnd();
const ignored = existsSync("/sys/fs/cgroup/cgroup.controllers") ? "" : " --ignore-preflight-errors=SystemVerification";

describe("kubeadm of machines that share a kernel", () => {
  test.each([
    ["join --config /x --v 5", `join --config /x --v 5${ignored}`],
    ["init phase certs all", "init phase certs all"],
    ["version -o short", "version -o short"],
  ])("%s", (given, called) => {
    expect(call(...given.split(" "))).toBe(called);
  });

  test("gives kubelets and kube-proxy settings that the configuration does not have", () => {
    const file = join(folder, "config.yaml");
    const given = "kind: InitConfiguration\n---\napiVersion: kubeproxy.config.k8s.io/v1alpha1\nmode: nftables";
    writeFileSync(file, given);
    expect(call("init", "--config", file)).toBe(`init --config ${file}${ignored}`);
    const added = "---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nfailCgroupV1: false\n";
    expect(readFileSync(file, "utf8")).toBe(`${given}\n${added}`);
    call("init", "--config", file);
    expect(readFileSync(file, "utf8"), "once").toBe(`${given}\n${added}`);
  });
});
