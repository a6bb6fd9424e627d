import type { Cluster } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";

/** The kubelet version that must already be on a host if no installer installs it. */
export interface WantedKubelet {
  readonly version: string;
  /** `minor`: the Machine's minor version, so that an upgrade completes; `not-newer`: at most the control plane's version. */
  readonly match: "minor" | "not-newer";
}

/** Returns the kubelet version that a machine requires; undefined if neither its version nor the control plane's is known. */
export function wantedKubelet(version: string | undefined, { status }: Cluster): WantedKubelet | undefined {
  if (version !== undefined) return { version, match: "minor" };
  const oldest = status?.controlPlane?.versions?.[0]?.version;
  return oldest === undefined ? undefined : { version: oldest, match: "not-newer" };
}

/**
 * Returns a host's kubelet version if a machine cannot use it. Patch versions may differ; a host that reports none is accepted, because its
 * bootstrap data may install one.
 */
export function wrongKubelet(host: ByoHost, wanted: WantedKubelet | undefined): string | undefined {
  const found = host.status?.hostinfo?.kubeletVersion;
  if (found === undefined || wanted === undefined) return undefined;
  const difference = minorOf(found) - minorOf(wanted.version);
  return (wanted.match === "minor" ? difference === 0 : difference <= 0) ? undefined : found;
}

const MAX_NAMES = 5;

/** Describes which hosts were skipped because of their kubelet, and how to fix that. */
export function kubeletCure(skipped: readonly ByoHost[], wanted: WantedKubelet | undefined): string {
  const named = skipped
    .map((host) => `${host.metadata.name} has kubelet ${wrongKubelet(host, wanted)}`)
    .sort()
    .slice(0, MAX_NAMES);
  const more = skipped.length > named.length ? ` and ${skipped.length - named.length} more` : "";
  const [minor] = /^v?\d+\.\d+/.exec(wanted?.version ?? "") ?? [];
  const needed = wanted?.match === "minor" ? `${minor} is needed` : `${minor} is the newest allowed`;
  return `${named.join(", ")}${more}, but ${needed}; set installerRef in the ByoMachineTemplate to a K8sInstallerConfigTemplate, install that kubelet on the host, or add a host that has it with: capstan host add NAME`;
}

function minorOf(version: string): number {
  const [, major = "0", minor = "0"] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) * 1000 + Number(minor);
}
