import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { arch, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Footprint } from "./footprint.ts";
import { type InstallPlan, installKubernetes } from "./install.ts";
import { runCommand } from "./run-command.ts";
import { Steps } from "./steps.ts";

let root: string;
let state: string;
let server: Server;
let mirror: string;
let served: Map<string, Buffer>;

const sha = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const program = (name: string): Buffer => Buffer.from(`#!/bin/sh\necho ${name}\n`);
const machine = arch() === "arm64" ? "arm64" : "amd64";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-install-"));
  state = await mkdtemp(join(tmpdir(), "capstan-state-"));
  served = new Map();
  server = createServer((request, response) => {
    const bytes = served.get(request.url ?? "");
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  mirror = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  for (const name of ["kubeadm", "kubelet", "kubectl"]) {
    const path = `/v1.34.4/bin/linux/${machine}/${name}`;
    served.set(path, program(name));
    served.set(`${path}.sha256`, Buffer.from(sha(program(name))));
  }
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  for (const folder of [root, state]) await rm(folder, { recursive: true, force: true });
});

const footprint = (): Footprint => new Footprint(state, root);
const install = (plan: Partial<InstallPlan>) =>
  installKubernetes(
    { version: "v1.34.4", source: mirror, ...plan },
    { steps: new Steps(systemClock), footprint: footprint(), root },
  );
const bin = (): Promise<string[]> => readdir(join(root, "usr/local/bin")).catch(() => []);

test("a mirror's programs are verified, installed, and removed with the machine", async () => {
  await mkdir(join(root, "usr/local/bin"), { recursive: true });
  await writeFile(join(root, "usr/local/bin/kubectl"), "the owner's own", { mode: 0o700 });
  expect(await install({})).toBeUndefined();
  expect(await bin()).toEqual(["kubeadm", "kubectl", "kubelet"]);
  expect((await stat(join(root, "usr/local/bin/kubelet"))).mode & 0o777).toBe(0o755);
  const run = (command: string[]) => runCommand(command, { clock: systemClock, timeoutMs: 1000 });
  expect(await footprint().undo(run)).toEqual([]);
  expect(await bin()).toEqual(["kubectl"]);
  expect(await readFile(join(root, "usr/local/bin/kubectl"), "utf8")).toBe("the owner's own");
});

test("a file with another checksum is refused and never installed", async () => {
  served.set(`/v1.34.4/bin/linux/${machine}/kubelet`, Buffer.from("evil"));
  expect(await install({})).toMatch(/kubelet: checksum [0-9a-f]{64} is not the expected [0-9a-f]{64}/);
  expect(await bin()).toEqual(["kubeadm"]);
});

test.each<[string, Partial<InstallPlan>, RegExp]>([
  ["a version the mirror does not have", { version: "v9.9.9" }, /answered 404: check bundleRepo and the version/],
  ["a mirror that is not there", { source: "http://127.0.0.1:1" }, /cannot be reached.*check the mirror/],
  ["a registry of images", { source: "quay.io/somebody" }, /neither a folder on the host nor an http\(s\) mirror/],
  ["a folder without the programs", { source: "/opt/empty" }, /ENOENT.*kubeadm/],
])("reports %s by name", async (_, plan, message) => {
  expect(await install(plan)).toMatch(message);
});

test("a folder on the host works, flat or laid out as a mirror; checksums next to the files are verified", async () => {
  const put = async (path: string, bytes: Buffer | string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), bytes);
  };
  for (const name of ["kubeadm", "kubelet", "kubectl"]) await put(`opt/k8s/${name}`, program(name));
  expect(await install({ source: "/opt/k8s" })).toBeUndefined();
  expect(await bin()).toEqual(["kubeadm", "kubectl", "kubelet"]);
  await put("opt/k8s/kubelet.sha256", `${"0".repeat(64)}  kubelet\n`);
  expect(await install({ source: "file:///opt/k8s/" })).toContain("is not the expected 0000");
});

test("archives are unpacked, with nothing outside their folder", async () => {
  const build = await mkdtemp(join(tmpdir(), "capstan-tar-"));
  await mkdir(join(build, "bin"));
  await writeFile(join(build, "bin/runc"), "runc", { mode: 0o755 });
  const tar = async (...args: string[]): Promise<Buffer> => {
    await runCommand(["tar", "-czf", join(build, "a.tgz"), "-C", build, ...args], {
      clock: systemClock,
      timeoutMs: 9000,
    });
    return await readFile(join(build, "a.tgz"));
  };
  const good = await tar("bin");
  served.set("/a.tgz", good);
  const file = { name: "a.tgz", path: "/usr/local", unpack: true };
  expect(await install({ files: [{ ...file, sha256: sha(good) }] })).toBeUndefined();
  expect(await bin()).toEqual(["runc"]);
  const bad = await tar("-P", "--transform=s,bin/runc,../../evil,", "bin/runc");
  served.set("/a.tgz", bad);
  expect(await install({ files: [{ ...file, sha256: sha(bad) }] })).toContain("files outside its folder");
  const run = (command: string[]) => runCommand(command, { clock: systemClock, timeoutMs: 1000 });
  expect(await footprint().undo(run)).toEqual([]);
  expect(await bin()).toEqual([]);
  await rm(build, { recursive: true, force: true });
});
