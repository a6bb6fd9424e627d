import { access, constants, readdir } from "node:fs/promises";
import { join } from "node:path";

/** A Kubernetes version in numbers. */
export interface KubernetesVersion {
  major: number;
  minor: number;
  patch: number;
}

/** Reads `v1.34.4`; undefined when it is no version. */
export function parseVersion(text: string): KubernetesVersion | undefined {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

/** Orders versions from old to new; what is no version comes first. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left === undefined || right === undefined) return (left === undefined ? 0 : 1) - (right === undefined ? 0 : 1);
  return left.major - right.major || left.minor - right.minor || left.patch - right.patch;
}

/** Kubernetes' own rule: never down, and at most one minor up. */
export function canUpgrade(from: string, to: string): boolean {
  const [before, after] = [parseVersion(from), parseVersion(to)];
  if (before === undefined || after === undefined) return false;
  return compareVersions(from, to) < 0 && before.major === after.major && after.minor - before.minor <= 1;
}

/** What a control plane as processes runs. */
const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** Versions all of whose programs lie in one of these folders, old to new: an install that was interrupted does not count. */
export async function installedVersions(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(folders.map(completeVersions));
  return [...new Set(found.flat())].sort(compareVersions);
}

async function completeVersions(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const complete = async (name: string): Promise<string[]> => {
    const programs = PROGRAMS.map((program) => access(join(folder, name, "bin", program), constants.X_OK));
    return await Promise.all(programs).then(
      () => [name],
      () => [],
    );
  };
  const versions = names.filter((name) => /^v\d+\.\d+\.\d+$/.test(name));
  return (await Promise.all(versions.map(complete))).flat();
}
