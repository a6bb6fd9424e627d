import { type ContractObject, field, type MachineSet } from "@capstan/capi";
import semver from "semver";
import type { MachineSetScope } from "./machine-set-scope.ts";

const SKIP_ANNOTATION = "machineset.cluster.x-k8s.io/skip-preflight-checks";
const MAX_MINORS_BEHIND = 3;

type Check = "KubeadmVersionSkew" | "KubernetesVersionSkew" | "ControlPlaneIsStable" | "ControlPlaneVersionSkew";

/** Returns why no Machines should be created now, one sentence each; empty if the control plane is ready for more. */
export function preflightProblems(scope: MachineSetScope): string[] {
  const skipped = skippedChecks(scope.set);
  if (skipped.has("All")) return [];
  const { controlPlane, cluster, set } = scope;
  if (controlPlane.state !== "found") return [];
  const wanted = field(controlPlane.object, "spec", "version");
  // A control plane without versions cannot be compared with.
  if (typeof wanted !== "string" || wanted === "") return [];
  const problems: string[] = [];
  const check = (name: Check, problem: string | undefined): void => {
    if (problem !== undefined && !skipped.has(name)) problems.push(`${problem} ("${name}" preflight check failed)`);
  };
  check("ControlPlaneIsStable", unstable(controlPlane.object, wanted));
  const version = set.spec.template.spec.version;
  if (version !== undefined) {
    check("KubernetesVersionSkew", kubernetesSkew(version, wanted));
    check("KubeadmVersionSkew", kubeadmSkew(set, version, wanted));
    if (cluster?.spec?.topology !== undefined) check("ControlPlaneVersionSkew", exactSkew(version, wanted));
  }
  return problems;
}

function skippedChecks(set: MachineSet): Set<string> {
  const text = set.metadata.annotations?.[SKIP_ANNOTATION] ?? "";
  return new Set(text.split(",").map((name) => name.trim()));
}

/** Returns the versions that a control plane runs: a list in v1beta2 of the contract, a single version in v1beta1. */
export function runningVersions(controlPlane: ContractObject): string[] {
  const list = field(controlPlane, "status", "versions");
  const versions = Array.isArray(list) ? list.map((entry) => field(entry, "version")) : [];
  const single = field(controlPlane, "status", "version");
  return [...versions, ...(versions.length === 0 ? [single] : [])].filter(
    (version) => typeof version === "string" && version !== "",
  ) as string[];
}

function unstable(controlPlane: ContractObject, wanted: string): string | undefined {
  const name = `${controlPlane.kind} ${controlPlane.metadata.name}`;
  const running = runningVersions(controlPlane);
  if (running.length === 0) return `${name} is provisioning`;
  const target = semver.parse(wanted);
  const behind = running.some((version) => {
    const parsed = semver.parse(version);
    return target !== null && parsed !== null && semver.gt(target, parsed);
  });
  return behind ? `${name} is upgrading` : undefined;
}

function kubernetesSkew(version: string, controlPlane: string): string | undefined {
  const own = semver.parse(version);
  const other = semver.parse(controlPlane);
  if (own === null || other === null)
    return `version "${own === null ? version : controlPlane}" is not a version such as v1.34.4`;
  if (own.major !== other.major || own.minor > other.minor || own.minor < other.minor - MAX_MINORS_BEHIND)
    return `MachineSet version (${version}) and control plane version (${controlPlane}) do not conform to the kubernetes version skew policy`;
  return undefined;
}

/** kubeadm joins Nodes of its own minor version only. */
function kubeadmSkew(set: MachineSet, version: string, controlPlane: string): string | undefined {
  if (set.spec.template.spec.bootstrap.configRef?.kind !== "KubeadmConfigTemplate") return undefined;
  const own = semver.parse(version);
  const other = semver.parse(controlPlane);
  if (own === null || other === null || (own.major === other.major && own.minor === other.minor)) return undefined;
  return `MachineSet version (${version}) and control plane version (${controlPlane}) do not conform to kubeadm version skew policy as kubeadm only supports joining with the same major+minor version as the control plane`;
}

function exactSkew(version: string, controlPlane: string): string | undefined {
  return version === controlPlane
    ? undefined
    : `MachineSet version (${version}) is not yet the same as the control plane version (${controlPlane}), waiting for version to be propagated to the MachineSet`;
}
