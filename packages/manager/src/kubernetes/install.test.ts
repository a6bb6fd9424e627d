import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installKubernetes, listKubernetes, removeKubernetes } from "./install.ts";

/** A mirror on loopback with the layout of the official one, and with faults. */
let server: Server;
let base: string;
let files: Map<string, Buffer>;
/** Paths that are cut after so many bytes, once. */
let cuts: Map<string, number>;
let ranges: string[];
/** Ends the connection that is to be cut. */
let endConnection: () => void;
let into: string;

const sha = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const program = (name: string): Buffer => Buffer.from(`#!/bin/sh\n# ${name}\n${"x".repeat(5000)}\n`);

function tar(entries: Record<string, Buffer>): Buffer {
  const blocks = Object.entries(entries).flatMap(([name, bytes]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${bytes.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("0", 156);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

beforeEach(async () => {
  into = await mkdtemp(join(tmpdir(), "capstan-install-"));
  files = new Map();
  cuts = new Map();
  ranges = [];
  endConnection = () => undefined;
  for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler"]) {
    files.set(`/v1.34.4/bin/linux/amd64/${name}`, program(name));
    files.set(`/v1.34.4/bin/linux/amd64/${name}.sha256`, Buffer.from(sha(program(name))));
  }
  const archive = tar({
    "etcd-v3.6.5/README.md": Buffer.from("no"),
    "etcd-v3.6.5/etcd": program("etcd"),
    "etcd-v3.6.5/etcdutl": program("etcdutl"),
  });
  files.set("/v3.6.5/etcd-v3.6.5-linux-amd64.tar.gz", archive);
  files.set("/v3.6.5/SHA256SUMS", Buffer.from(`${sha(archive)}  etcd-v3.6.5-linux-amd64.tar.gz\n`));
  server = createServer((request, response) => {
    const bytes = files.get(request.url ?? "");
    if (bytes === undefined) return void response.writeHead(404).end();
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
    if (request.headers.range !== undefined) ranges.push(`${request.url} ${request.headers.range}`);
    const rest = bytes.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, { "content-length": rest.length });
    const cut = cuts.get(request.url ?? "");
    if (cut === undefined) return void response.end(rest);
    cuts.delete(request.url ?? "");
    // The rest never comes: the connection ends once the client has taken what was sent.
    response.write(rest.subarray(0, cut));
    endConnection = () => response.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  base = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
});

afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(into, { recursive: true, force: true });
});

const install = (version = "v1.34.4"): Promise<string> =>
  installKubernetes({
    version,
    into,
    mirror: base,
    etcdMirror: base,
    architecture: "amd64",
    onProgress: () => endConnection(),
  });

test("installs Kubernetes and etcd, executable, and lists and removes them", async () => {
  const bin = await install();
  expect(await readFile(join(bin, "etcd"))).toEqual(program("etcd"));
  expect((await stat(join(bin, "kube-apiserver"))).mode & 0o777).toBe(0o755);
  expect(await listKubernetes(into)).toEqual(["v1.34.4"]);
  expect(await removeKubernetes(into, "v1.34.4")).toBe(true);
  expect(await removeKubernetes(into, "v1.34.4")).toBe(false);
  expect(await listKubernetes(into)).toEqual([]);
});

test("a version that a control plane runs with is not removed", async () => {
  await install();
  const clusters = join(into, "clusters");
  await mkdir(join(clusters, "default/demo"), { recursive: true });
  await writeFile(join(clusters, "default/demo/plane.json"), JSON.stringify({ version: "v1.34.4" }));
  await expect(removeKubernetes(into, "v1.34.4", clusters)).rejects.toThrow("v1.34.4 is used by default/demo");
  expect(await listKubernetes(into)).toEqual(["v1.34.4"]);
  await rm(join(clusters, "default/demo"), { recursive: true });
  expect(await removeKubernetes(into, "v1.34.4", clusters)).toBe(true);
});

test("a wrong checksum is refused and nothing is installed", async () => {
  files.set("/v1.34.4/bin/linux/amd64/kube-scheduler.sha256", Buffer.from("0".repeat(64)));
  await expect(install()).rejects.toThrow(/kube-scheduler: checksum [0-9a-f]{64} is not the expected 0{64}/);
  expect(await listKubernetes(into)).toEqual([]);
});

test("a cut transfer is gone on with by the next run", async () => {
  cuts.set("/v1.34.4/bin/linux/amd64/kube-apiserver", 1000);
  await expect(install()).rejects.toMatchObject({ cure: "run the same command again: it goes on where it ended" });
  const bin = await install();
  expect(ranges).toContain("/v1.34.4/bin/linux/amd64/kube-apiserver bytes=1000-");
  expect(await readFile(join(bin, "kube-apiserver"))).toEqual(program("kube-apiserver"));
});

test("a version that does not exist is one clear error", async () => {
  await expect(install("v1.99.0")).rejects.toThrow(/kube-apiserver.sha256 does not exist \(404\)/);
  await expect(install("../../etc")).rejects.toThrow("is not a version");
});

test("local programs are taken with --from, all or none", async () => {
  const from = await mkdtemp(join(tmpdir(), "capstan-from-"));
  for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler"])
    await writeFile(join(from, name), name, { mode: 0o755 });
  await expect(installKubernetes({ version: "v1.34.4", into, from })).rejects.toThrow(/has no etcd$/);
  await writeFile(join(from, "etcd"), "etcd", { mode: 0o755 });
  await mkdir(into, { recursive: true });
  const bin = await installKubernetes({ version: "v1.34.4", into, from });
  expect(await readFile(join(bin, "etcd"), "utf8")).toBe("etcd");
  await rm(from, { recursive: true, force: true });
});
