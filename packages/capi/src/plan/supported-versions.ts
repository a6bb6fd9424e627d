/** The oldest minor version of Kubernetes 1.x that hosted control planes can run. */
export const OLDEST_MINOR = 28;
/** The newest minor version of Kubernetes 1.x that hosted control planes can run. */
export const NEWEST_MINOR = 37;
/** The Kubernetes version of a new cluster unless another one is requested. */
export const DEFAULT_VERSION = "v1.37.1";
/** A tested patch of every minor version from the oldest one that clusters are upgraded from, newest first. */
export const TESTED_VERSIONS: readonly string[] = [DEFAULT_VERSION, "v1.36.3", "v1.35.4", "v1.34.4"];

/** The last day of fixes by minor version (kubernetes.io/releases). */
const END_OF_LIFE: Readonly<Record<number, string>> = {
  28: "2024-10-22",
  29: "2025-02-28",
  30: "2025-07-15",
  31: "2025-11-11",
  32: "2026-02-28",
  33: "2026-06-28",
  34: "2026-10-27",
  35: "2027-02-28",
  36: "2027-06-28",
  37: "2027-10-28",
};
/** The next minor version is due, and then this version of Capstan does not know it. */
export const NEXT_RELEASE = { minor: NEWEST_MINOR + 1, due: "December 2026" };

const VERSION = /^v(\d+)\.(\d+)\.\d+([-+].*)?$/;
const DAY_MS = 86_400_000;

/**
 * Returns why control planes cannot run a version, or undefined if they can. Old versions are accepted, with the warning of
 * `supportWarning`; refused are those whose images and kubeadm API are unknown (FACTS in packages/controlplane): older than
 * OLDEST_MINOR, and newer than this release.
 */
export function versionProblem(version: string): string | undefined {
  const [, major, minor] = VERSION.exec(version) ?? [];
  if (minor === undefined) return `${version} is not a version like ${DEFAULT_VERSION}`;
  if (major !== "1" || Number(minor) < OLDEST_MINOR || Number(minor) > NEWEST_MINOR)
    return `Kubernetes ${version} is not supported; use v1.${OLDEST_MINOR} to v1.${NEWEST_MINOR}`;
  return undefined;
}

/** Until when the Kubernetes project fixes a minor version. */
export interface SupportPeriod {
  /** `v1.36` */
  readonly minor: string;
  /** The last day, `2027-06-28`. */
  readonly endOfLife: string;
  readonly ended: boolean;
}

/** Returns the support period of a version's minor version, or undefined for one without a known date. */
export function supportPeriod(version: string, now: number): SupportPeriod | undefined {
  const [, major, minor] = VERSION.exec(version) ?? [];
  const endOfLife = major === "1" ? END_OF_LIFE[Number(minor)] : undefined;
  if (endOfLife === undefined) return undefined;
  return { minor: `v1.${minor}`, endOfLife, ended: now >= Date.parse(`${endOfLife}T00:00:00Z`) + DAY_MS };
}

/** Returns the minor versions that the Kubernetes project still fixes, oldest first. */
export function supportWindow(now: number): SupportPeriod[] {
  return Object.keys(END_OF_LIFE)
    .flatMap((minor) => supportPeriod(`v1.${minor}.0`, now) ?? [])
    .filter(({ ended }) => !ended);
}

/** Returns the warning about a version that gets no fixes any more, or undefined. */
export function supportWarning(version: string, now: number): string | undefined {
  const period = supportPeriod(version, now);
  if (period?.ended !== true) return undefined;
  const supported = supportWindow(now).map(({ minor }) => minor);
  const cure = supported.length === 0 ? "" : `; supported: ${supported.join(", ")}`;
  return `Kubernetes ${period.minor} has had no fixes since ${period.endOfLife}${cure}`;
}
