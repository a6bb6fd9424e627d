import { access, chmod, constants, copyFile, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { planesOfVersion } from "@capstan/controlplane-hosted";
import { download, fetchText, InstallError } from "./download.ts";
import { extractFiles } from "./tar.ts";

/** Programs of Kubernetes that a hosted control plane as processes needs. */
const KUBERNETES = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const ETCD = ["etcd", "etcdctl", "etcdutl"];
const VERSION = /^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

export const DEFAULT_KUBERNETES_MIRROR = "https://dl.k8s.io/release";
export const DEFAULT_ETCD_MIRROR = "https://github.com/etcd-io/etcd/releases/download";
/** What Kubernetes 1.34 and later are tested with; older ones accept it too. */
export const DEFAULT_ETCD_VERSION = "v3.6.5";

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
  architecture?: "amd64" | "arm64";
  onProgress?: (what: string, received: number, total: number | undefined) => void;
  signal?: AbortSignal;
}

/** Puts the programs of one Kubernetes version, and etcd, where hosted control planes look for them. Returns their folder. */
export async function installKubernetes(options: InstallOptions): Promise<string> {
  if (!VERSION.test(options.version))
    throw new InstallError(`${options.version} is not a version`, "write it like v1.34.4");
  const target = join(options.into, options.version, "bin");
  await mkdir(dirname(target), { recursive: true });
  if (options.from !== undefined) await copyPrograms(options.from, target);
  else await downloadPrograms(options, target);
  return target;
}

async function copyPrograms(from: string, target: string): Promise<void> {
  const missing: string[] = [];
  for (const name of [...KUBERNETES, "etcd"]) if (!(await isExecutable(join(from, name)))) missing.push(name);
  if (missing.length > 0)
    throw new InstallError(
      `${from} has no ${missing.join(", ")}`,
      "name a folder that has them all, such as the one `npm run kubernetes` prints",
    );
  await inPlace(target, async (dir) => {
    for (const name of [...KUBERNETES, ...ETCD])
      if (await isExecutable(join(from, name))) {
        await copyFile(join(from, name), join(dir, name));
        await chmod(join(dir, name), 0o755);
      }
  });
}

async function downloadPrograms(options: InstallOptions, target: string): Promise<void> {
  const architecture = options.architecture ?? (process.arch === "arm64" ? "arm64" : "amd64");
  // Kept beside the target while incomplete, so that a later run goes on where this one ended.
  const parts = join(dirname(target), "download");
  const base = `${options.mirror ?? DEFAULT_KUBERNETES_MIRROR}/${options.version}/bin/linux/${architecture}`;
  for (const name of KUBERNETES) {
    const sha256 = firstWord(await fetchText(`${base}/${name}.sha256`, options.signal));
    await fetchOnce(`${base}/${name}`, join(parts, name), sha256, name, options);
  }
  const etcd = options.etcdVersion ?? DEFAULT_ETCD_VERSION;
  const archive = `etcd-${etcd}-linux-${architecture}.tar.gz`;
  const etcdBase = `${options.etcdMirror ?? DEFAULT_ETCD_MIRROR}/${etcd}`;
  const sums = await fetchText(`${etcdBase}/SHA256SUMS`, options.signal);
  const line = sums.split("\n").find((text) => text.trim().endsWith(archive));
  if (line === undefined)
    throw new InstallError(`${etcdBase}/SHA256SUMS does not list ${archive}`, "check --etcd-version");
  await fetchOnce(`${etcdBase}/${archive}`, join(parts, archive), firstWord(line), `etcd ${etcd}`, options);
  await inPlace(target, async (dir) => {
    for (const name of KUBERNETES) {
      await rename(join(parts, name), join(dir, name));
      await chmod(join(dir, name), 0o755);
    }
    const extracted = await extractFiles(join(parts, archive), ETCD, dir);
    if (!extracted.includes("etcd")) throw new InstallError(`${archive} has no etcd in it`, "check the mirror");
  });
  await rm(parts, { recursive: true, force: true });
}

async function fetchOnce(
  url: string,
  file: string,
  sha256: string,
  what: string,
  options: InstallOptions,
): Promise<void> {
  if (await exists(file)) return;
  await download({
    url,
    file,
    sha256,
    ...(options.onProgress === undefined
      ? {}
      : { onProgress: (received, total) => options.onProgress?.(what, received, total) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

/** Fills a folder beside the target and gives it its name in one step: a half-filled one is never seen. */
async function inPlace(target: string, fill: (dir: string) => Promise<void>): Promise<void> {
  const made = await mkdtemp(`${target}.new-`);
  try {
    await fill(made);
    await chmod(made, 0o755);
    await rm(target, { recursive: true, force: true });
    await rename(made, target);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

/** Versions installed below a folder, with every program in place. */
export async function listKubernetes(into: string): Promise<string[]> {
  const entries = await readdir(into, { withFileTypes: true }).catch(() => []);
  const versions: string[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || !VERSION.test(entry.name)) continue;
    const programs = [...KUBERNETES, "etcd"].map((name) => isExecutable(join(into, entry.name, "bin", name)));
    if ((await Promise.all(programs)).every(Boolean)) versions.push(entry.name);
  }
  return versions.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/** Removes one version; false when it was not there. What control planes below `clusters` run with is not removed. */
export async function removeKubernetes(into: string, version: string, clusters?: string): Promise<boolean> {
  if (!VERSION.test(version) || !(await exists(join(into, version)))) return false;
  const users = clusters === undefined ? [] : await planesOfVersion(clusters, version);
  if (users.length > 0)
    throw new InstallError(
      `Kubernetes ${version} is used by ${users.slice(0, 5).join(", ")}${users.length > 5 ? ` and ${users.length - 5} more` : ""}`,
      "upgrade or delete them first",
    );
  await rm(join(into, version), { recursive: true, force: true });
  return true;
}

function firstWord(text: string): string {
  return text.trim().split(/\s+/)[0] ?? "";
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
