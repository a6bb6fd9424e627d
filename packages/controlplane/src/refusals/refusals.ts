import type { KubeObject } from "@capstan/apimachinery";
import { DROP_REMOVED_FLAGS_ANNOTATION, type KubeadmConfigSpec } from "@capstan/capi";
import { minor, valid } from "semver";
import { versionFacts } from "../versions.ts";
import { featureGates, flagsOf, kubeadmFeatureGates, type Program } from "./known.ts";

/** A setting with which a program of the version would not start. */
export interface RefusedSetting {
  /** The field below the KubeadmConfigSpec, such as `clusterConfiguration.apiServer.extraArgs[insecure-port]`. */
  readonly field: string;
  /** Why, as the rest of a sentence after the field. */
  readonly why: string;
  /** Whether an earlier version had it; otherwise no recorded version does, or this one has it with another value only. */
  readonly removed: boolean;
}

/** Maximum number of settings that a message lists. */
const LISTED = 5;

/** Whether a person allowed, on one of these objects, to drop what the version rejects. */
export function dropsRemovedFlags(...objects: readonly KubeObject[]): boolean {
  return objects.some(({ metadata }) => metadata.annotations?.[DROP_REMOVED_FLAGS_ANNOTATION] === "true");
}

/** Lists rejected settings in a message, with the path of the KubeadmConfigSpec before their fields. */
export function refusedText(refused: readonly RefusedSetting[], path: string): string {
  const list = refused.slice(0, LISTED).map(({ field, why }) => `${path}.${field}: ${why}`);
  const more = refused.length > LISTED ? `; and ${refused.length - LISTED} more` : "";
  return `${list.join("; ")}${more}`;
}

type Arguments = readonly { readonly name: string; readonly value: string }[];
type Found = (setting: RefusedSetting) => void;

/** Lists what of a kubeadm configuration the programs of a Kubernetes version reject. Versions that are not recorded reject nothing. */
export function refusedSettings(spec: KubeadmConfigSpec, version: string): RefusedSetting[] {
  const refused: RefusedSetting[] = [];
  cleaned(spec, version, (setting) => refused.push(setting));
  return refused;
}

/** Returns the configuration without the rejected settings; everything else stays as it is. */
export function withoutRefusedSettings(spec: KubeadmConfigSpec, version: string): KubeadmConfigSpec {
  return cleaned(spec, version, () => undefined);
}

function cleaned(spec: KubeadmConfigSpec, version: string, found: Found): KubeadmConfigSpec {
  if (valid(version) === null) return spec;
  const { clusterConfiguration, initConfiguration, joinConfiguration } = spec;
  const of = minor(version);
  const next = { ...spec };
  if (clusterConfiguration !== undefined) next.clusterConfiguration = withoutIn(clusterConfiguration, version, found);
  const registration = <T extends Configuration>(given: T, name: string): T => {
    const { nodeRegistration } = given;
    if (nodeRegistration?.kubeletExtraArgs === undefined) return given;
    const field = `${name}.nodeRegistration.kubeletExtraArgs`;
    const clean = (all: Arguments) => cleanArguments(all, "kubelet", of, version, field, found);
    return replaced(given, "nodeRegistration", withArguments(nodeRegistration, "kubeletExtraArgs", clean));
  };
  if (initConfiguration !== undefined) next.initConfiguration = registration(initConfiguration, "initConfiguration");
  if (joinConfiguration !== undefined) next.joinConfiguration = registration(joinConfiguration, "joinConfiguration");
  for (const key of ["clusterConfiguration", "initConfiguration", "joinConfiguration"] as const)
    if (next[key] !== undefined && Object.keys(next[key]).length === 0) delete next[key];
  return next;
}

type Configuration = NonNullable<KubeadmConfigSpec["initConfiguration"] | KubeadmConfigSpec["joinConfiguration"]>;
type ClusterConfiguration = NonNullable<KubeadmConfigSpec["clusterConfiguration"]>;
const COMPONENTS = [
  ["apiServer", "kube-apiserver"],
  ["controllerManager", "kube-controller-manager"],
  ["scheduler", "kube-scheduler"],
] as const;

function withoutIn(given: ClusterConfiguration, version: string, found: Found): ClusterConfiguration {
  const of = minor(version);
  let next = { ...given };
  for (const [name, program] of COMPONENTS) {
    const component = next[name];
    if (component?.extraArgs === undefined) continue;
    const field = `clusterConfiguration.${name}.extraArgs`;
    const clean = (all: Arguments) => cleanArguments(all, program, of, version, field, found);
    next = replaced(next, name, withArguments(component, "extraArgs", clean));
  }
  const local = next.etcd?.local;
  if (next.etcd !== undefined && local?.extraArgs !== undefined) {
    const release = local.imageTag ?? etcdOf(version);
    const etcdMinor = Number(/^v?3\.(\d+)\./.exec(release ?? "")?.[1] ?? Number.NaN);
    const field = "clusterConfiguration.etcd.local.extraArgs";
    const clean = (all: Arguments) => cleanArguments(all, "etcd", etcdMinor, `etcd ${release ?? ""}`, field, found);
    next = replaced(next, "etcd", replaced(next.etcd, "local", withArguments(local, "extraArgs", clean)));
  }
  if (next.featureGates !== undefined) {
    const table = kubeadmFeatureGates();
    const kept = Object.entries(next.featureGates).filter(([gate]) => {
      if (!table.covers(of) || table.find(gate, of) !== undefined) return true;
      found({
        field: `clusterConfiguration.featureGates[${gate}]`,
        ...unknown("kubeadm", gate, "feature gate", version, table.lastBefore(gate, of)),
      });
      return false;
    });
    next = replaced(next, "featureGates", kept.length === 0 ? {} : Object.fromEntries(kept));
  }
  return next;
}

function etcdOf(version: string): string | undefined {
  try {
    return versionFacts(version).etcd;
  } catch {
    return undefined;
  }
}

/** An object with its list of arguments cleaned. */
function withArguments<T extends object, K extends keyof T>(
  owner: T,
  key: K,
  clean: (given: Arguments) => Arguments,
): T {
  return replaced(owner, key, clean(owner[key] as Arguments) as T[K]);
}

/** An object with one property replaced; an empty list or object is removed, because the schemas refuse it. */
function replaced<T extends object, K extends keyof T>(owner: T, key: K, value: T[K]): T {
  const next = { ...owner, [key]: value };
  const size = Array.isArray(value) ? value.length : Object.keys(value as object).length;
  if (size === 0) delete next[key];
  return next;
}

function cleanArguments(
  given: Arguments,
  program: Program,
  of: number,
  version: string,
  field: string,
  found: Found,
): Arguments {
  const table = flagsOf(program);
  return given.flatMap((argument) => {
    const flag = argument.name.replaceAll("_", "-");
    if (table.covers(of) && table.find(flag, of) === undefined) {
      const reason = unknown(program, `--${flag}`, "flag", version, table.lastBefore(flag, of), program === "etcd");
      found({ field: `${field}[${argument.name}]`, ...reason });
      return [];
    }
    if (flag !== "feature-gates" || program === "etcd") return [argument];
    const value = cleanGates(argument.value, of, version, `${field}[${argument.name}]`, found);
    return value === "" ? [] : [{ ...argument, value }];
  });
}

/** `A=true,B=false` without gates that the version does not know, or locks to the other value. */
function cleanGates(value: string, of: number, version: string, field: string, found: Found): string {
  const table = featureGates();
  if (!table.covers(of)) return value;
  const kept = value.split(",").filter((text) => {
    const [gate = "", wanted = ""] = text.trim().split("=");
    if (gate === "") return false;
    const known = table.find(gate, of);
    if (known === undefined) {
      found({ field, ...unknown("Kubernetes", gate, "feature gate", version, table.lastBefore(gate, of)) });
      return false;
    }
    if (known.lockedTo === undefined || known.lockedTo === wanted.toLowerCase()) return true;
    found({ field, why: `${version} locks the feature gate ${gate} to ${known.lockedTo}`, removed: false });
    return false;
  });
  return kept.join(",");
}

function unknown(
  program: string,
  word: string,
  what: string,
  version: string,
  lastMinor: number | undefined,
  etcd = false,
): Omit<RefusedSetting, "field"> {
  const major = etcd ? "v3" : "v1";
  const who = program === "Kubernetes" || etcd ? version : `${program} ${version}`;
  const why = `${who} has no ${what} ${word}`;
  return lastMinor === undefined
    ? { why, removed: false }
    : { why: `${why}: ${major}.${lastMinor + 1} removed it`, removed: true };
}
