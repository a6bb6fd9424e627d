/** Minor versions of Kubernetes 1 that hosted control planes can run. */
export const OLDEST_MINOR = 28;
export const NEWEST_MINOR = 36;

const VERSION = /^v(\d+)\.(\d+)\.\d+([-+].*)?$/;

/** Why a version cannot be run, or undefined when it can. */
export function versionProblem(version: string): string | undefined {
  const [, major, minor] = VERSION.exec(version) ?? [];
  if (minor === undefined) return `${version} is not a version like v1.34.4`;
  if (major !== "1" || Number(minor) < OLDEST_MINOR || Number(minor) > NEWEST_MINOR)
    return `Kubernetes ${version} is not supported; use v1.${OLDEST_MINOR} to v1.${NEWEST_MINOR}`;
  return undefined;
}
