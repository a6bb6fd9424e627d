import { access, chmod, copyFile, mkdir, mkdtemp, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { endianness } from "node:os";
import { basename, dirname, join } from "node:path";
import { lockDirectory, StoreError } from "@capstan/apiserver";
import { downloadFile, Fetcher, fetchText, withoutCredentials } from "@capstan/media";
import { syncDirectory } from "@capstan/os";
import { proxyFromEnvironment } from "@capstan/runtime";
import { asInstallError, InstallError, ifMissing } from "./install-error.ts";
import { extractFiles } from "./tar.ts";
import { versionProblem } from "./version-check.ts";

/** Programs of Kubernetes that a hosted control plane as processes needs. */
const KUBERNETES = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const ETCD = ["etcd", "etcdctl", "etcdutl"];
/** Programs of Kubernetes that nodes need. */
const NODE = ["kubelet", "kubeadm", "kubectl"];
const VERSION = /^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

const DEFAULT_KUBERNETES_MIRROR = "https://dl.k8s.io/release";
const DEFAULT_ETCD_MIRROR = "https://github.com/etcd-io/etcd/releases/download";
/** What kube-apiserver of all supported versions is tested with: clusters keep their etcd when they are upgraded. */
const DEFAULT_ETCD_VERSION = "v3.7.3";

/** Which version to install where, and from which mirror or folder. */
export interface InstallOptions {
  version: string;
  etcdVersion?: string;
  /** Folder that holds `VERSION/bin/PROGRAM`. */
  into: string;
  /** Base addresses laid out as the official ones. */
  mirror?: string;
  etcdMirror?: string;
  /** Takes programs from a local folder instead. */
  from?: string;
  /** CPU architecture as Node.js names it; by default that of this machine. */
  architecture?: string;
  /** Names proxies. */
  env?: Readonly<Record<string, string | undefined>>;
  onProgress?: (what: string, received: number, total: number | undefined) => void;
  signal?: AbortSignal;
}

/** Installs the control-plane binaries of one Kubernetes version and of etcd for hosted control planes. Returns their folder. */
export async function installKubernetes(options: InstallOptions): Promise<string> {
  return await install(options, "bin", async (target) => {
    if (options.from !== undefined) await copyPrograms(options.version, options.from, target);
    else await downloadPrograms(options, target);
  });
}

/** Downloads the programs that nodes of one Kubernetes version run, next to the control-plane binaries. Returns their folder. */
export async function installNodePrograms(options: Omit<InstallOptions, `etcd${string}` | "from">): Promise<string> {
  const target = join(options.into, options.version, "node");
  const there = await Promise.all(NODE.map((name) => isProgram(join(target, name))));
  if (there.every(Boolean)) return target;
  return await install(options, "node", async () => {
    const parts = join(dirname(target), "download-node");
    await withDownloads(options, parts, (fetch) => downloadKubernetes(NODE, options, fetch));
    await inPlace(target, async (dir) => {
      for (const name of NODE) await rename(join(parts, name), join(dir, name));
    });
    await rm(parts, { recursive: true, force: true });
  });
}

async function install(
  options: InstallOptions,
  folder: string,
  fill: (target: string) => Promise<void>,
): Promise<string> {
  if (!VERSION.test(options.version))
    throw new InstallError(`${options.version} is not a version`, "write it like v1.37.1");
  const home = join(options.into, options.version);
  const target = join(home, folder);
  try {
    await makeReadable(options.into, home);
    const unlock = lock(home, options.version);
    try {
      await removeLeftovers(target);
      await fill(target);
    } finally {
      unlock();
    }
  } catch (error) {
    // Nothing was downloaded: leave nothing behind.
    await rmdir(home).catch(() => undefined);
    throw asInstallError(error, options.into);
  }
  return target;
}

/** Control planes run under user ids of their own and must be able to read their binaries, whatever the umask. */
async function makeReadable(into: string, home: string): Promise<void> {
  const first = await mkdir(home, { recursive: true });
  for (const folder of [into, home])
    if (first !== undefined && folder.length >= first.length) await chmod(folder, 0o755);
}

function lock(home: string, version: string): () => void {
  try {
    return lockDirectory(home);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new InstallError(
      `Kubernetes ${version} is being installed already: ${error.message}`,
      "wait until that installation has finished",
    );
  }
}

/** Cleans up after killed runs: removes partial folders and restores the programs that were about to be replaced. */
async function removeLeftovers(target: string): Promise<void> {
  if (!(await exists(target))) await rename(oldOf(target), target).catch(ignoreMissing);
  const folder = dirname(target);
  for (const name of await readdir(folder))
    if (name.startsWith(`${basename(target)}.`)) await rm(join(folder, name), { recursive: true, force: true });
}

async function copyPrograms(version: string, from: string, target: string): Promise<void> {
  const missing: string[] = [];
  for (const name of [...KUBERNETES, "etcd"]) if (!(await isProgram(join(from, name)))) missing.push(name);
  if (missing.length > 0)
    throw new InstallError(
      `${from} does not contain ${missing.join(", ")}`,
      "specify a directory that contains all of them, such as the one that `npm run kubernetes` prints",
    );
  const problem = await versionProblem(join(from, "kube-apiserver"), version);
  if (problem !== undefined) throw problem;
  await inPlace(target, async (dir) => {
    for (const name of [...KUBERNETES, ...ETCD])
      if (await isProgram(join(from, name))) await copyFile(join(from, name), join(dir, name));
  });
}

/** How releases call what Node calls otherwise; those that both Kubernetes and etcd publish. */
const ARCHITECTURES: Record<string, string> = { x64: "amd64", arm64: "arm64", ppc64: "ppc64le", s390x: "s390x" };

function architectureOf(name: string): string {
  const found = name === "ppc64" && endianness() === "BE" ? undefined : ARCHITECTURES[name];
  if (found !== undefined) return found;
  throw new InstallError(
    `no binaries are published for ${name}`,
    "build them (npm run kubernetes) and install them with --from DIR",
  );
}

/** Downloads a file with a checksum, or a text. */
interface Downloads {
  file(url: string, sha256: string, what: string, cure: string): Promise<void>;
  text(url: string, cure: string): Promise<string>;
}

/** Downloads are kept in a folder while they are incomplete, so that a later run resumes them. */
async function withDownloads(
  options: InstallOptions,
  parts: string,
  use: (downloads: Downloads) => Promise<void>,
): Promise<void> {
  const { env = {}, signal, onProgress } = options;
  const fetcher = new Fetcher({
    proxyFor: (url) => proxyFromEnvironment(url, env),
    ...(signal === undefined ? {} : { signal }),
  });
  try {
    await use({
      file: (url, sha256, what, cure) =>
        downloadFile({
          fetcher,
          url,
          file: join(parts, url.slice(url.lastIndexOf("/") + 1)),
          digest: sha256,
          ...(onProgress === undefined ? {} : { onProgress: (received, total) => onProgress(what, received, total) }),
        }).catch(ifMissing(cure)),
      text: (url, cure) => fetchText(fetcher, url).catch(ifMissing(cure)),
    });
  } finally {
    await fetcher.close();
  }
}

async function downloadKubernetes(names: readonly string[], options: InstallOptions, fetch: Downloads): Promise<void> {
  const { version, mirror } = options;
  const architecture = architectureOf(options.architecture ?? process.arch);
  const base = `${baseOf(mirror, DEFAULT_KUBERNETES_MIRROR)}/${version}/bin/linux/${architecture}`;
  const cure = `there is no ${version} for linux/${architecture}: specify a released version, such as capstan kubernetes install v1.37.1, or a --mirror that has it`;
  for (const name of names) {
    const sha256 = checksumIn(await fetch.text(`${base}/${name}.sha256`, cure), `${base}/${name}.sha256`);
    await fetch.file(`${base}/${name}`, sha256, name, cure);
  }
}

async function downloadPrograms(options: InstallOptions, target: string): Promise<void> {
  const architecture = architectureOf(options.architecture ?? process.arch);
  const parts = join(dirname(target), "download");
  const etcd = options.etcdVersion ?? DEFAULT_ETCD_VERSION;
  const archive = `etcd-${etcd}-linux-${architecture}.tar.gz`;
  const etcdBase = `${baseOf(options.etcdMirror, DEFAULT_ETCD_MIRROR)}/${etcd}`;
  await withDownloads(options, parts, async (fetch) => {
    await downloadKubernetes(KUBERNETES, options, fetch);
    const noEtcd = "check --etcd-version and --etcd-mirror";
    const sums = await fetch.text(`${etcdBase}/SHA256SUMS`, noEtcd);
    const line = sums.split("\n").find((text) => text.trim().split(/\s+\*?/)[1] === archive);
    if (line === undefined)
      throw new InstallError(`${withoutCredentials(`${etcdBase}/SHA256SUMS`)} does not list ${archive}`, noEtcd);
    const sha256 = checksumIn(line, `${etcdBase}/SHA256SUMS`);
    await fetch.file(`${etcdBase}/${archive}`, sha256, `etcd ${etcd}`, noEtcd);
  });
  await inPlace(target, async (dir) => {
    // The steps that may fail come first: completed downloads are kept.
    const extracted = await extractFiles(join(parts, archive), ETCD, dir);
    if (!extracted.includes("etcd"))
      throw new InstallError(`${archive} does not contain etcd`, "use another --etcd-mirror");
    for (const name of KUBERNETES) await rename(join(parts, name), join(dir, name));
  });
  await rm(parts, { recursive: true, force: true });
}

function baseOf(mirror: string | undefined, official: string): string {
  return (mirror ?? official).replace(/\/+$/, "");
}

/** The first word of a checksum file; rejects an HTML page that a server sends instead. */
function checksumIn(text: string, url: string): string {
  const word = text.trim().split(/\s+/)[0] ?? "";
  if (/^[0-9a-fA-F]{64}$/.test(word)) return word.toLowerCase();
  throw new InstallError(
    `${withoutCredentials(url)} does not contain a checksum but ${JSON.stringify(word.slice(0, 40))}`,
    "check that address: a proxy may have answered in its place; or use another --mirror",
  );
}

/** Fills a folder next to the target and renames it atomically, so that a partial one is never visible. */
async function inPlace(target: string, fill: (dir: string) => Promise<void>): Promise<void> {
  const made = await mkdtemp(`${target}.new-`);
  const old = oldOf(target);
  try {
    await fill(made);
    for (const name of await readdir(made)) await settle(join(made, name));
    await chmod(made, 0o755);
    await rename(target, old).catch(ignoreMissing);
    await syncDirectory(made);
    await rename(made, target);
    await syncDirectory(dirname(target));
  } finally {
    await rm(made, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
}

const oldOf = (target: string): string => `${target}.old`;

/** Makes a file executable for all users and flushes it to disk. */
async function settle(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.chmod(0o755);
    await file.sync();
  } finally {
    await file.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Returns the versions that are completely installed in a folder, oldest first. */
export async function listKubernetes(into: string): Promise<string[]> {
  const entries = await readdir(into, { withFileTypes: true }).catch(() => []);
  const versions: string[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || !VERSION.test(entry.name)) continue;
    const programs = [...KUBERNETES, "etcd"].map((name) => isProgram(join(into, entry.name, "bin", name)));
    if ((await Promise.all(programs)).every(Boolean)) versions.push(entry.name);
  }
  return versions.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/** Removes one version; returns false when it is not installed. Throws when hosted control planes use it, as `usersOf` reports. */
export async function removeKubernetes(
  into: string,
  version: string,
  usersOf: (version: string) => Promise<readonly string[]>,
): Promise<boolean> {
  if (!VERSION.test(version) || !(await exists(join(into, version)))) return false;
  const users = await usersOf(version);
  if (users.length > 0)
    throw new InstallError(
      `Kubernetes ${version} is used by ${users.slice(0, 5).join(", ")}${users.length > 5 ? ` and ${users.length - 5} more` : ""}`,
      "upgrade or delete them first",
    );
  await rm(join(into, version), { recursive: true, force: true });
  return true;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function isProgram(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && (found.mode & 0o111) !== 0;
}
