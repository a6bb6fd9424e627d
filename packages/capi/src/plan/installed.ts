import type { ClusterPlan } from "./cluster-plan.ts";

/** Where control planes run, and what of Kubernetes is there. */
export interface Installed {
  /** Where one runs that does not say where. */
  readonly placement: string;
  /** Versions whose programs are there, old to new. */
  readonly versions: readonly string[];
  /** The machine, in words. */
  readonly where: string;
}

/** Why a control plane could not start, and the command that cures it. */
export interface MissingVersion {
  readonly problem: string;
  readonly command: string;
}

/** The version whose programs are not there, if a control plane of this plan needs them; other placements bring their programs along. */
export function missingVersion(
  { version, placement }: Pick<ClusterPlan, "version" | "placement">,
  installed: Installed,
): MissingVersion | undefined {
  const { versions, where } = installed;
  if ((placement ?? installed.placement) !== "Process" || versions.includes(version)) return undefined;
  const others = versions.length === 0 ? "no version is" : `installed: ${versions.join(", ")}`;
  return {
    problem: `Kubernetes ${version} is not installed on ${where} (${others})`,
    command: `capstan kubernetes install ${version}`,
  };
}
