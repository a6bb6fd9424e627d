import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newNodeScript, restoreScript } from "./restore-script.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-restore-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const SNAPSHOT = "snapshot";
const SOURCE = {
  url: "https://10.0.0.1:1234/0123abcd",
  caPem: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
  sha256: createHash("sha256").update(SNAPSHOT).digest("hex"),
  dataDir: "/var/lib/etcd",
};

/** Runs the script in a folder instead of the root, with programs that write down how they were called. */
function run(fetched: string): string {
  const bin = join(dir, "bin");
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(dir, "var/lib"), { recursive: true });
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> ${dir}/calls\n${text}\n`, { mode: 0o755 });
  program("curl", `printf %s '${fetched}' > ${dir}/var/lib/capstan-recovery/snapshot.part`);
  const manifest =
    "    - --name=node-7\n    - --initial-advertise-peer-urls=https://10.9.8.7:2380\n    image: etcd:3\n";
  program(
    "kubeadm",
    `mkdir -p ${dir}/etc/kubernetes/manifests\nprintf '${manifest.replaceAll("\n", "\\n")}' > ${dir}/etc/kubernetes/manifests/etcd.yaml`,
  );
  program("etcdutl", `mkdir -p ${dir}/var/lib/etcd/.restored/member`);
  const script = restoreScript(SOURCE)
    .replaceAll("/var/lib", `${dir}/var/lib`)
    .replaceAll("/etc/kubernetes", `${dir}/etc/kubernetes`);
  writeFileSync(join(dir, "run.sh"), script);
  return execFileSync("sh", [join(dir, "run.sh")], {
    encoding: "utf8",
    stdio: "pipe",
    env: { PATH: `${bin}:${process.env["PATH"] ?? ""}` },
  });
}

const calls = (): string => readFileSync(join(dir, "calls"), "utf8");

test("restores with the name and address that kubeadm computes, and only once", () => {
  expect(run(SNAPSHOT)).toContain("etcd is restored");
  expect(calls()).toContain(
    "--name node-7 --initial-cluster node-7=https://10.9.8.7:2380 --initial-advertise-peer-urls https://10.9.8.7:2380 --bump-revision 1000000000 --mark-compacted",
  );
  const before = calls();
  expect(run(SNAPSHOT)).toContain("nothing is restored");
  expect(calls()).toBe(before);
});

test("data on a disk of its own is renamed into place", () => {
  mkdirSync(join(dir, "var/lib/etcd/lost+found"), { recursive: true });
  run(SNAPSHOT);
  expect(readdirSync(join(dir, "var/lib/etcd")).toSorted()).toEqual(["lost+found", "member"]);
  // Says that the data is a copy, until the Node has been replaced.
  expect(readdirSync(join(dir, "var/lib/capstan-recovery"))).toEqual([]);
});

test("replaces the Node that the restored data has under this name, and marks the new one", () => {
  const bin = join(dir, "bin");
  const file = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text, { mode });
  };
  const program = (name: string, text: string): void =>
    file(`bin/${name}`, `#!/bin/sh\necho "${name} $*" >> ${dir}/calls\n${text}\n`, 0o755);
  file("etc/kubernetes/manifests/etcd.yaml", "    - --name=node-7\n");
  file(
    "etc/kubernetes/admin.conf",
    ["certificate-authority-data", "client-certificate-data", "client-key-data"]
      .map((key) => `    ${key}: QQ==\n`)
      .join("") + "    server: https://10.0.0.9:6443\n",
  );
  // The first request finds no API yet.
  program("curl", `if [ -e ${dir}/asked ]; then printf 200; else touch ${dir}/asked; printf 000; exit 7; fi`);
  for (const name of ["systemctl", "pkill", "kubeadm", "sleep"]) program(name, "");
  const script = newNodeScript
    .replaceAll("/var/lib", `${dir}/var/lib`)
    .replaceAll("/etc/kubernetes", `${dir}/etc/kubernetes`);
  file("run.sh", script);
  execFileSync("sh", [join(dir, "run.sh")], { stdio: "pipe", env: { PATH: `${bin}:${process.env["PATH"] ?? ""}` } });
  const words = calls()
    .trim()
    .split("\n")
    .map((line) => line.replace(/--silent.* -X/, ""));
  expect(words.filter((line) => !/^(systemctl|pkill|sleep)/.test(line))).toEqual([
    "curl  DELETE https://10.0.0.9:6443/api/v1/nodes/node-7",
    "curl  DELETE https://10.0.0.9:6443/api/v1/nodes/node-7",
    "curl  GET https://10.0.0.9:6443/api/v1/nodes/node-7",
    "kubeadm init phase mark-control-plane --config /run/kubeadm/kubeadm.yaml",
  ]);
  expect(words.findIndex((line) => /^(systemctl restart|pkill -x) kubelet/.test(line))).toBe(3);
  expect(existsSync(join(dir, "var/lib/capstan-recovery"))).toBe(false);
});

test("restores nothing from a snapshot that was changed on the way", () => {
  expect(() => run("something else")).toThrow(/the snapshot that was fetched is damaged/);
  expect(calls()).not.toContain("etcdutl");
});

test("the address of the snapshot is in no argument", () => {
  run(SNAPSHOT);
  expect(calls()).not.toContain("0123abcd");
});

test.each([{ dataDir: "/var/lib/etcd; rm -rf /" }, { url: "https://h/$(id)" }, { dataDir: "/a b" }])(
  "rejects %j, which a shell would interpret",
  (part) => {
    expect(() => restoreScript({ ...SOURCE, ...part })).toThrow("cannot be part of a script");
  },
);
