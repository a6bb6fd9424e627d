export { installedVersions } from "@capstan/kubernetes-install";

/** A parsed Kubernetes version. */
export interface KubernetesVersion {
  major: number;
  minor: number;
  patch: number;
}

/** Parses `v1.34.4`; undefined when it is not a version. */
export function parseVersion(text: string): KubernetesVersion | undefined {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

/** Compares versions for sorting, oldest first; invalid ones come first. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left === undefined || right === undefined) return (left === undefined ? 0 : 1) - (right === undefined ? 0 : 1);
  return left.major - right.major || left.minor - right.minor || left.patch - right.patch;
}

/** Returns whether Kubernetes' version policy allows an upgrade: no downgrade, and at most one minor version up. */
export function canUpgrade(from: string, to: string): boolean {
  const [before, after] = [parseVersion(from), parseVersion(to)];
  if (before === undefined || after === undefined) return false;
  return compareVersions(from, to) < 0 && before.major === after.major && after.minor - before.minor <= 1;
}
