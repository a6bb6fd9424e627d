/** The oldest minor version of Kubernetes 1.x that hosted control planes support. */
export const OLDEST_MINOR = 28;
/** The newest minor version of Kubernetes 1.x that hosted control planes support. */
export const NEWEST_MINOR = 36;

const VERSION = /^v(\d+)\.(\d+)\.\d+([-+].*)?$/;

/** Returns why hosted control planes do not support a version, or undefined if they do. */
export function versionProblem(version: string): string | undefined {
  const [, major, minor] = VERSION.exec(version) ?? [];
  if (minor === undefined) return `${version} is not a version like v1.34.4`;
  if (major !== "1" || Number(minor) < OLDEST_MINOR || Number(minor) > NEWEST_MINOR)
    return `Kubernetes ${version} is not supported; use v1.${OLDEST_MINOR} to v1.${NEWEST_MINOR}`;
  return undefined;
}
