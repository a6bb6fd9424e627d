import { isDns1123Label } from "@capstan/apimachinery";
import { type ClusterPlan, WORKER_PROVIDERS as PROVIDERS, type ProviderName, type WorkerGroup } from "@capstan/capi";
import { type CommandInput, usageError } from "../command.ts";
import { namespaceOf, textOption } from "../options.ts";

const VERSION = /^v\d+\.\d+\.\d+([-+].*)?$/;
const EXAMPLE = "e.g. --workers name=racks,provider=metal3,replicas=2,image=http://images/node.qcow2";

/** Reads name, flags and worker groups; every mistake is named. */
export function parsePlan(input: CommandInput, defaultVersion: string): ClusterPlan {
  const [name = ""] = input.arguments;
  checkName(name);
  const version = textOption(input, "kubernetesVersion") ?? defaultVersion;
  if (!VERSION.test(version)) throw usageError(`--kubernetes-version ${version} is not a version like v1.34.4`);
  const replicas = textOption(input, "controlPlaneReplicas");
  const endpoint = textOption(input, "endpoint");
  const workers = (input.lists["workers"] ?? []).map(parseWorkers);
  const twice = workers.find((group, at) => workers.findIndex(({ name: other }) => other === group.name) !== at);
  if (twice !== undefined)
    throw usageError(`--workers: two groups are named ${twice.name}`, "give each group a name of its own: name=NAME,…");
  const placement = textOption(input, "placement") ?? defaultPlacement(workers);
  return {
    name,
    namespace: namespaceOf(input),
    version,
    ...(placement === undefined ? {} : { placement }),
    ...(replicas === undefined ? {} : { replicas: parseCount("--control-plane-replicas", replicas) }),
    ...(endpoint === undefined ? {} : { endpoint: parseEndpoint(endpoint) }),
    podCidrs: (textOption(input, "podCidr") ?? "10.244.0.0/16").split(","),
    serviceCidrs: (textOption(input, "serviceCidr") ?? "10.96.0.0/16").split(","),
    labels: Object.fromEntries((input.lists["label"] ?? []).map((text) => parsePair("--label", text))),
    workers,
  };
}

/** A cluster all of whose workers are in memory needs no real control plane. */
function defaultPlacement(workers: readonly WorkerGroup[]): string | undefined {
  return workers.length > 0 && workers.every(({ provider }) => provider === "memory") ? "Embedded" : undefined;
}

/** Refuses what cannot be a cluster's name. */
export function checkName(name: string): void {
  // It becomes a label's value and a part of host names.
  if (isDns1123Label(name).length > 0)
    throw usageError(
      `${JSON.stringify(name)} cannot be a cluster's name: lower-case letters, digits and dashes, at most 63`,
    );
}

/** `name=racks,provider=metal3,replicas=2,select.rack=1,KEY=VALUE`. */
export function parseWorkers(text: string): WorkerGroup {
  const entries = text.split(",").map((part) => parsePair("--workers", part));
  const all = new Map(entries);
  if (all.size !== entries.length) throw usageError(`--workers ${text}: a key is given twice`, EXAMPLE);
  const provider = all.get("provider");
  if (provider === undefined || !Object.hasOwn(PROVIDERS, provider))
    throw usageError(
      provider === undefined ? `--workers ${text}: provider is missing` : `--workers: no provider ${provider}`,
      `providers are: ${Object.keys(PROVIDERS).join(", ")}`,
    );
  const name = all.get("name") ?? provider;
  if (isDns1123Label(name).length > 0 || name.length > 40)
    throw usageError(`--workers: ${JSON.stringify(name)} cannot be a group's name`, EXAMPLE);
  const select: Record<string, string> = {};
  const settings: Record<string, string> = {};
  const known = PROVIDERS[provider as ProviderName].settings;
  for (const [key, value] of all) {
    if (key === "name" || key === "provider" || key === "replicas") continue;
    if (key.startsWith("select.")) select[key.slice("select.".length)] = value;
    else if (Object.hasOwn(known, key)) settings[key] = value;
    else
      throw usageError(
        `--workers: provider ${provider} takes no ${key}`,
        `it takes: ${["name", "replicas", "select.LABEL", ...Object.keys(known)].join(", ")}`,
      );
  }
  const missing = Object.entries(known).find(([key, { required }]) => required === true && settings[key] === undefined);
  if (missing !== undefined)
    throw usageError(`--workers ${text}: ${missing[0]} is missing`, `${missing[0]}: ${missing[1].summary}`);
  return {
    name,
    provider: provider as ProviderName,
    replicas: parseCount("--workers replicas", all.get("replicas") ?? "1"),
    select,
    settings,
  };
}

function parsePair(option: string, text: string): [string, string] {
  const at = text.indexOf("=");
  if (at <= 0) throw usageError(`${option}: ${JSON.stringify(text)} is not KEY=VALUE`, EXAMPLE);
  return [text.slice(0, at), text.slice(at + 1)];
}

function parseCount(option: string, text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw usageError(`${option}: ${JSON.stringify(text)} is not a number`);
  return Number(text);
}

function parseEndpoint(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined) throw usageError(`--endpoint ${text} is not HOST or HOST:PORT`);
  return { host, port: Number(match?.[3] ?? "6443") };
}
