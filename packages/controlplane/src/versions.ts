import { versionProblem } from "@capstan/capi";
import { minor, parse } from "semver";

/** Image tags and kubeadm API version that belong to a Kubernetes minor version, as in its kubeadm. */
export interface VersionFacts {
  /** Tag of etcd's image. */
  etcd: string;
  /** Tag of konnectivity's images, which follow Kubernetes' minor versions. */
  konnectivity: string;
  coreDNS: string;
  pause: string;
  kubeadmApi: "v1beta3" | "v1beta4";
}

const FACTS: Record<number, VersionFacts> = {
  28: { etcd: "3.5.15-0", konnectivity: "v0.28.0", coreDNS: "v1.10.1", pause: "3.9", kubeadmApi: "v1beta3" },
  29: { etcd: "3.5.16-0", konnectivity: "v0.29.0", coreDNS: "v1.11.1", pause: "3.9", kubeadmApi: "v1beta3" },
  30: { etcd: "3.5.15-0", konnectivity: "v0.30.3", coreDNS: "v1.11.3", pause: "3.9", kubeadmApi: "v1beta3" },
  31: { etcd: "3.5.24-0", konnectivity: "v0.31.2", coreDNS: "v1.11.3", pause: "3.10", kubeadmApi: "v1beta4" },
  32: { etcd: "3.5.24-0", konnectivity: "v0.31.2", coreDNS: "v1.11.3", pause: "3.10", kubeadmApi: "v1beta4" },
  33: { etcd: "3.5.24-0", konnectivity: "v0.33.0", coreDNS: "v1.12.0", pause: "3.10", kubeadmApi: "v1beta4" },
  34: { etcd: "3.6.5-0", konnectivity: "v0.34.0", coreDNS: "v1.12.1", pause: "3.10.1", kubeadmApi: "v1beta4" },
  35: { etcd: "3.6.6-0", konnectivity: "v0.35.0", coreDNS: "v1.13.1", pause: "3.10.1", kubeadmApi: "v1beta4" },
  36: { etcd: "3.6.8-0", konnectivity: "v0.36.0", coreDNS: "v1.14.2", pause: "3.10.2", kubeadmApi: "v1beta4" },
  37: { etcd: "3.7.0-0", konnectivity: "v0.36.0", coreDNS: "v1.14.6", pause: "3.10.2", kubeadmApi: "v1beta4" },
};

/** Returns the facts of a version; throws when it is not supported. */
export function versionFacts(version: string): VersionFacts {
  const facts = FACTS[minor(version)];
  if (facts === undefined) throw new Error(versionProblem(version) ?? `no facts about ${version}`);
  return facts;
}

/** Explains why a running control plane cannot be upgraded to a version; undefined when it can. */
export function upgradeProblem(from: string, to: string): string | undefined {
  const a = parse(from);
  const b = parse(to);
  if (a === null || b === null) return versionProblem(to);
  if (b.compare(a) < 0)
    return `${to} is older than the running ${from}: a control plane cannot be downgraded; restore a backup into a new one`;
  if (b.major !== a.major || b.minor - a.minor > 1)
    return `from ${from} to ${to} skips a minor version: go to v${a.major}.${a.minor + 1} first`;
  return undefined;
}
