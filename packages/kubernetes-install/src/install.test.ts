import { execFileSync } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type InstallOptions,
  installKubernetes,
  installNodePrograms,
  listKubernetes,
  removeKubernetes,
} from "./install.ts";
import { program, ReleaseMirror, tar } from "./testing/release-mirror.ts";

let mirror: ReleaseMirror;
let scratch: string;
let into: string;
const VERSION = "v1.34.4";
const folder = `/${VERSION}/bin/linux/amd64`;
const again = "run the same command again to resume the download";

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "capstan-install-"));
  into = join(scratch, "kubernetes");
  mirror = new ReleaseMirror();
  mirror.publish(VERSION);
  await mirror.open();
});

afterEach(async () => {
  await mirror.close();
  await rm(scratch, { recursive: true, force: true });
});

const install = (options: Partial<InstallOptions> = {}): Promise<string> =>
  installKubernetes({
    version: VERSION,
    into,
    mirror: mirror.base,
    etcdMirror: mirror.base,
    architecture: "x64",
    onProgress: () => mirror.endConnection(),
    ...options,
  });
const left = (): Promise<string[]> => readdir(into, { recursive: true }).catch(() => []);

const noUsers = async (): Promise<string[]> => [];

test("installs Kubernetes and etcd, executable, and lists and removes them", async () => {
  const bin = await install();
  expect(await readFile(join(bin, "etcd"))).toEqual(program("etcd amd64"));
  for (const name of ["kube-apiserver", "etcd", "etcdutl"])
    expect((await stat(join(bin, name))).mode & 0o777).toBe(0o755);
  expect(await listKubernetes(into)).toEqual([VERSION]);
  expect(await readdir(join(into, VERSION)), "nothing else").toEqual(["bin"]);
  expect(await removeKubernetes(into, VERSION, noUsers)).toBe(true);
  expect(await removeKubernetes(into, VERSION, noUsers)).toBe(false);
  expect(await listKubernetes(into)).toEqual([]);
});

test("downloads the programs of nodes once, next to those of control planes", async () => {
  const options = { version: VERSION, into, mirror: mirror.base, architecture: "x64" };
  const bin = await install();
  const node = await installNodePrograms(options);
  expect(await readdir(node)).toEqual(["kubeadm", "kubectl", "kubelet"]);
  expect(await readFile(join(node, "kubelet"), "utf8")).toContain("kubelet v1.34.4 amd64");
  expect((await stat(join(node, "kubeadm"))).mode & 0o777).toBe(0o755);
  mirror.asked.length = 0;
  expect(await installNodePrograms(options)).toBe(node);
  expect(mirror.asked).toEqual([]);
  expect(await readdir(join(into, VERSION)), "nothing else").toEqual(["bin", "node"]);
  expect(await readdir(bin)).not.toContain("kubelet");
});

test("a program of nodes with a wrong checksum is not installed", async () => {
  mirror.files.set(`${folder}/kubelet.sha256`, Buffer.from("0".repeat(64)));
  const node = installNodePrograms({ version: VERSION, into, mirror: mirror.base, architecture: "x64" });
  await expect(node).rejects.toThrow(/kubelet: checksum [0-9a-f]{64} is not the expected 0{64}/);
  expect((await left()).filter((path) => path.includes("/node"))).toEqual([]);
});

test("does not follow a link in etcd's archive", async () => {
  const bin = await install();
  await expect(lstat(join(bin, "etcdctl"))).rejects.toThrow("ENOENT");
});

test("lets control planes with other user ids run the binaries, whatever the umask", async () => {
  const before = process.umask(0o077);
  try {
    const bin = await install();
    for (const path of [into, join(into, VERSION), bin, join(bin, "kube-apiserver"), join(bin, "etcd")])
      expect((await stat(path)).mode & 0o777, path).toBe(0o755);
  } finally {
    process.umask(before);
  }
});

test("refuses to remove a version that a control plane uses", async () => {
  await install();
  const demo = async (version: string): Promise<string[]> => (version === VERSION ? ["default/demo"] : []);
  await expect(removeKubernetes(into, VERSION, demo)).rejects.toThrow("v1.34.4 is used by default/demo");
  expect(await listKubernetes(into)).toEqual([VERSION]);
  expect(await removeKubernetes(into, VERSION, noUsers)).toBe(true);
});

test("installs binaries for the machine's architecture, and refuses unpublished ones", async () => {
  mirror.publish(VERSION, "arm64");
  const bin = await install({ architecture: "arm64" });
  expect(await readFile(join(bin, "kube-scheduler"), "utf8")).toContain("kube-scheduler v1.34.4 arm64");
  expect(await readFile(join(bin, "etcd"))).toEqual(program("etcd arm64"));
  await expect(install({ architecture: "riscv64" })).rejects.toThrow("no binaries are published for riscv64");
});

test("does not resume a partial download of another architecture", async () => {
  mirror.publish(VERSION, "arm64");
  mirror.files.delete("/v3.7.3/SHA256SUMS");
  await expect(install()).rejects.toThrow("SHA256SUMS does not exist");
  mirror.publish(VERSION, "arm64");
  const bin = await install({ architecture: "arm64" });
  expect(await readFile(join(bin, "kube-apiserver"), "utf8")).toContain("kube-apiserver v1.34.4 arm64");
});

test("rejects a wrong checksum and installs nothing", async () => {
  mirror.files.set(`${folder}/kube-scheduler.sha256`, Buffer.from("0".repeat(64)));
  await expect(install()).rejects.toThrow(/kube-scheduler: checksum [0-9a-f]{64} is not the expected 0{64}/);
  expect(await listKubernetes(into)).toEqual([]);
});

test("rejects a wrong checksum of etcd and keeps what was downloaded of Kubernetes", async () => {
  const [sums, name] = ["/v3.7.3/SHA256SUMS", "etcd-v3.7.3-linux-amd64.tar.gz"];
  const right = mirror.files.get(sums) ?? Buffer.alloc(0);
  mirror.files.set(sums, Buffer.from(`${"0".repeat(64)}  ${name}\n`));
  await expect(install()).rejects.toThrow(/amd64.tar.gz: checksum .* is not the expected 0{64}/);
  mirror.files.set(sums, right);
  mirror.asked.length = 0;
  await install();
  expect(mirror.asked.filter((path) => path.startsWith(`${folder}/`) && !path.endsWith(".sha256"))).toEqual([]);
});

test("reports an HTML page in place of a checksum before it downloads anything large", async () => {
  mirror.files.set(`${folder}/kube-apiserver.sha256`, Buffer.from("<!doctype html> Please sign in"));
  await expect(install()).rejects.toThrow('kube-apiserver.sha256 does not contain a checksum but "<!doctype"');
  expect(mirror.asked).toEqual([`${folder}/kube-apiserver.sha256`]);
});

test("reports an etcd archive that is damaged or does not contain etcd", async () => {
  mirror.files.delete("/v3.7.3/SHA256SUMS");
  mirror.publishEtcd(Buffer.from("no archive"));
  await expect(install()).rejects.toMatchObject({ cure: "use another --etcd-mirror" });
  mirror.files.delete("/v3.7.3/SHA256SUMS");
  mirror.publishEtcd(tar({ "etcd-v3.7.3/README.md": { bytes: Buffer.from("no") } }));
  await expect(install()).rejects.toThrow("etcd-v3.7.3-linux-amd64.tar.gz does not contain etcd");
  expect(await listKubernetes(into)).toEqual([]);
});

test("reports a version that does not exist with its cure, and leaves nothing behind", async () => {
  await expect(install({ version: "v1.99.0" })).rejects.toMatchObject({
    message: expect.stringMatching(/kube-apiserver.sha256 does not exist \(404\)$/),
    cure: expect.stringContaining("there is no v1.99.0 for linux/amd64: specify a released version"),
  });
  await expect(install({ version: "../../etc" })).rejects.toThrow("is not a version");
  await expect(install({ etcdVersion: "v3.9.9" })).rejects.toMatchObject({
    cure: "check --etcd-version and --etcd-mirror",
  });
  expect(await left()).not.toContain("v1.99.0");
});

test("reports what to do about a mirror that fails", async () => {
  mirror.instead = (_request, response) => (response.writeHead(503).end(), true);
  await expect(install()).rejects.toMatchObject({ cure: "try again later, or use another --mirror" });
  await expect(install({ mirror: "mirror.example.org" })).rejects.toMatchObject({
    cure: expect.stringContaining("https://mirror.example.org/kubernetes"),
  });
  const { base } = mirror;
  await mirror.close();
  await expect(install({ mirror: base })).rejects.toMatchObject({ cure: expect.stringContaining("--from DIR") });
  await mirror.open();
});

test.skipIf(process.getuid?.() !== 0)("reports a full disk and resumes the download afterwards", async () => {
  await mkdir(into, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", into]);
  try {
    await expect(install()).rejects.toMatchObject({
      message: expect.stringContaining(`no space left on device for ${into}: ENOSPC`),
      cure: expect.stringMatching(/^free some .* to resume the download$/),
    });
    execFileSync("mount", ["-o", "remount,size=64m", into]);
    expect(await install()).toBe(join(into, VERSION, "bin"));
  } finally {
    execFileSync("umount", ["-l", into]);
  }
});

test("reports a directory that is not writable, with its cure", async () => {
  // Not even root makes folders there.
  await expect(install({ into: "/sys/capstan" })).rejects.toMatchObject({
    message: expect.stringMatching(/^\/sys\/capstan is not writable: E/),
    cure: expect.stringContaining("run it as the user that runs capstan up"),
  });
});

test("asks the second of two concurrent installations to wait", async () => {
  const second: unknown[] = [];
  let asked = false;
  await install({
    onProgress: () => {
      if (asked) return;
      asked = true;
      void install().catch((error: unknown) => second.push(error));
    },
  });
  expect(second).toEqual([
    expect.objectContaining({
      message: expect.stringContaining("Kubernetes v1.34.4 is being installed already"),
      cure: "wait until that installation has finished",
    }),
  ]);
  expect(await listKubernetes(into)).toEqual([VERSION]);
});

test("cleans up after a killed run and restores the binaries it was about to replace", async () => {
  const bin = await install();
  const home = join(into, VERSION);
  await mkdir(join(home, "bin.new-abc"));
  await writeFile(join(home, "bin.new-abc/etcd"), "half");
  await rename(bin, join(home, "bin.old"));
  // No process has this number.
  await writeFile(join(home, "lock"), JSON.stringify({ pid: 2 ** 22 + 1, started: "1", boot: "x" }));
  mirror.files.clear();
  await expect(install()).rejects.toThrow("404");
  expect(await listKubernetes(into), "what was there before the kill").toEqual([VERSION]);
  expect(await readdir(home)).toEqual(["bin"]);
  mirror.publish(VERSION);
  await install();
  expect(await readdir(home)).toEqual(["bin"]);
});

test("resumes an interrupted download in the next run", async () => {
  mirror.cuts.set(`${folder}/kube-apiserver`, 1000);
  await expect(install()).rejects.toMatchObject({ cure: again });
  const bin = await install();
  expect(mirror.asked).toContain(`${folder}/kube-apiserver bytes=1000-`);
  expect(await readFile(join(bin, "kube-apiserver"), "utf8")).toContain("kube-apiserver v1.34.4 amd64");
});

test("installs local binaries with --from, all or none", async () => {
  const from = join(scratch, "from");
  await mkdir(from);
  for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler"])
    await writeFile(join(from, name), "#!/bin/sh\necho Kubernetes v1.34.4+own\n", { mode: 0o755 });
  await mkdir(join(from, "etcd"));
  await expect(install({ from }), "a folder is no program").rejects.toThrow(/does not contain etcd$/);
  expect(await left()).toEqual([]);
  await rm(join(from, "etcd"), { recursive: true });
  // Where binaries are links, their targets are copied.
  await writeFile(join(scratch, "other"), "etcd", { mode: 0o700 });
  await symlink("../other", join(from, "etcd"));
  const bin = await install({ from });
  expect((await lstat(join(bin, "etcd"))).isFile()).toBe(true);
  expect((await stat(join(bin, "etcd"))).mode & 0o777).toBe(0o755);
  expect(await readFile(join(bin, "etcd"), "utf8")).toBe("etcd");
  expect(mirror.asked).toEqual([]);
});

test("refuses local binaries of another version or another architecture", async () => {
  const from = join(scratch, "from");
  await mkdir(from);
  for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"])
    await writeFile(join(from, name), "#!/bin/sh\necho Kubernetes v1.33.1\n", { mode: 0o755 });
  await expect(install({ from })).rejects.toMatchObject({
    message: expect.stringMatching(/kube-apiserver is v1.33.1, not v1.34.4$/),
    cure: "install it under its own version: capstan kubernetes install v1.33.1 --from DIR",
  });
  expect(await listKubernetes(into)).toEqual([]);
});
