import type { ClusterPlan } from "./cluster-plan.ts";

/** Where control planes run, and which Kubernetes versions are installed there. */
export interface Installed {
  /** Default placement. */
  readonly placement: string;
  /** Installed versions, oldest first. */
  readonly versions: readonly string[];
  /** Description of the machine. */
  readonly where: string;
}

/** Why a control plane could not start, and the command that solves it. */
export interface MissingVersion {
  readonly problem: string;
  readonly command: string;
}

/** The missing version, if a control plane of this plan needs its programs; other placements bring their own. */
export function missingVersion(
  { version, placement, controlPlane }: Pick<ClusterPlan, "version" | "placement" | "controlPlane">,
  installed: Installed,
): MissingVersion | undefined {
  const { versions, where } = installed;
  // Machines bring their programs.
  if (controlPlane !== undefined) return undefined;
  if ((placement ?? installed.placement) !== "Process" || versions.includes(version)) return undefined;
  const others = versions.length === 0 ? "no version is" : `installed: ${versions.join(", ")}`;
  return {
    problem: `Kubernetes ${version} is not installed on ${where} (${others})`,
    command: `capstan kubernetes install ${version}`,
  };
}
