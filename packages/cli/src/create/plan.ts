import { isDns1123Label } from "@capstan/apimachinery";
import {
  type ClusterPlan,
  CONTROL_PLANE_GROUP,
  type ControlPlanePlan,
  controlPlaneOption,
  controlPlaneOptions,
  onlyInMemory,
  POOL_STRATEGIES,
  type PoolPlan,
  type PoolShare,
  versionProblem,
  type WorkerGroup,
  type WorkerOption,
  type WorkerSetting,
  workerOptions,
} from "@capstan/capi";
import { type CommandInput, usageError } from "../command.ts";
import { namespaceOf, textOption } from "../options.ts";
import type { Providers } from "../providers.ts";

/** Keys of a group that is a member of a pool. */
const SHARE_KEYS = ["min", "max", "cost", "weight"];

/** An example of --workers, of the provider that requires most settings. */
function example(providers: Providers): string {
  const requiredBy = ({ settings }: WorkerOption): [string, WorkerSetting][] =>
    Object.entries(settings).filter(([, { required }]) => required === true);
  const groups = [...workerOptions(providers)].map(([provider, option]) => {
    const settings = requiredBy(option).map(([key, { usual }]) => `${key}=${usual ?? key.toUpperCase()}`);
    return [`provider=${provider}`, "replicas=2", ...settings];
  });
  const [longest = []] = groups.sort((a, b) => b.length - a.length);
  return `e.g. --workers name=racks,${longest.join(",")}`;
}

/** Parses the name, flags and worker groups of `capstan create cluster` into a plan; throws a usage error for invalid ones. */
export function parsePlan(input: CommandInput, defaultVersion: string, providers: Providers): ClusterPlan {
  const [name = ""] = input.arguments;
  checkName(name);
  const version = textOption(input, "kubernetesVersion") ?? defaultVersion;
  const unusable = versionProblem(version);
  if (unusable !== undefined)
    throw usageError(`--kubernetes-version: ${unusable}`, "see what is installed: capstan kubernetes list");
  const replicas = textOption(input, "controlPlaneReplicas");
  const endpoint = textOption(input, "endpoint");
  const workers = (input.lists["workers"] ?? []).map((text) => parseWorkers(text, providers));
  const twice = workers.find((group, at) => workers.findIndex(({ name: other }) => other === group.name) !== at);
  if (twice !== undefined)
    throw usageError(`--workers: two groups are named ${twice.name}`, "give each group a name of its own: name=NAME,…");
  const pool = textOption(input, "pool");
  if (pool === undefined && workers.some(({ share }) => share !== undefined))
    throw usageError("--workers: min, max, cost and weight belong to a pool", "add --pool replicas=N");
  if (pool !== undefined && workers.length === 0)
    throw usageError("--pool spreads machines over groups, and there is none", example(providers));
  const controlPlane = parseControlPlane(input, providers);
  if (controlPlane !== undefined) {
    if (workers.some((group) => group.name === CONTROL_PLANE_GROUP))
      throw usageError(`--workers: ${CONTROL_PLANE_GROUP} is the group of the control plane`, "choose another name");
    const inMemory = workerOptions(providers).get(controlPlane.machines.provider)?.inMemory === true;
    if (endpoint === undefined && !inMemory)
      throw usageError(
        "--endpoint is missing: the address of the load balancer or virtual IP in front of the control plane machines",
        "--endpoint 10.0.0.10:6443",
      );
  }
  // A cluster all of whose workers are in memory needs no real control plane.
  const memoryOnly = controlPlane === undefined && onlyInMemory(workers, providers);
  const usual = memoryOnly ? controlPlaneOption(providers).inMemoryPlacement : undefined;
  const placement = textOption(input, "placement") ?? usual;
  return {
    name,
    namespace: namespaceOf(input),
    version,
    placement,
    ...(replicas === undefined ? {} : { replicas: parseCount("--control-plane-replicas", replicas) }),
    ...(endpoint === undefined ? {} : { endpoint: parseEndpoint(endpoint) }),
    podCidrs: (textOption(input, "podCidr") ?? "10.244.0.0/16").split(","),
    serviceCidrs: (textOption(input, "serviceCidr") ?? "10.96.0.0/16").split(","),
    labels: Object.fromEntries((input.lists["label"] ?? []).map((text) => parsePair("--label", text))),
    workers,
    controlPlane,
    ...(pool === undefined ? {} : { pool: parsePool(pool) }),
  };
}

/** The control plane on Machines that the flags describe; undefined for a hosted one. */
function parseControlPlane(input: CommandInput, providers: Providers): ControlPlanePlan | undefined {
  const options = controlPlaneOptions(providers);
  const type = textOption(input, "controlPlane") ?? controlPlaneOption(providers).name;
  const option = options.get(type);
  if (option === undefined)
    throw usageError(`--control-plane: there is no ${type}`, `one of: ${[...options.keys()].join(", ")}`);
  const machines = textOption(input, "controlPlaneMachines");
  const provider = textOption(input, "controlPlaneProvider");
  if (option.onMachines !== true) {
    const [flag] = [machines && "--control-plane-machines", provider && "--control-plane-provider"].filter(Boolean);
    if (flag !== undefined && flag !== "")
      throw usageError(`${flag}: a ${type} control plane has no machines`, "add --control-plane kubeadm");
    return undefined;
  }
  for (const [option, flag] of [
    ["placement", "--placement"],
    ["controlPlaneReplicas", "--control-plane-replicas"],
  ] as const)
    if (input.options[option] !== undefined)
      throw usageError(
        `${flag} belongs to hosted control planes`,
        "--control-plane-machines is the number of machines",
      );
  if (provider === undefined)
    throw usageError(
      "--control-plane-provider is missing",
      `providers are: ${[...workerOptions(providers).keys()].join(", ")}`,
    );
  const count = parseCount("--control-plane-machines", machines ?? "1");
  // An even number tolerates no more failures than the odd one below it.
  if (count % 2 === 0)
    throw usageError(`--control-plane-machines ${count}: etcd needs an odd number of members`, "1, 3 or 5");
  const group = parseWorkers(`name=${CONTROL_PLANE_GROUP},replicas=${count},provider=${provider}`, providers);
  if (group.share !== undefined)
    throw usageError("--control-plane-provider: min, max, cost and weight belong to a pool");
  return { type, machines: group };
}

/** `replicas=4,strategy=Cheapest,name=general`. */
function parsePool(text: string): PoolPlan {
  const all = new Map(text.split(",").map((part) => parsePair("--pool", part)));
  const name = all.get("name") ?? "workers";
  if (isDns1123Label(name).length > 0 || name.length > 40)
    throw usageError(`--pool: ${JSON.stringify(name)} cannot be a pool's name`);
  const wanted = all.get("strategy") ?? "Cheapest";
  const strategy = POOL_STRATEGIES.find((known) => known.toLowerCase() === wanted.toLowerCase());
  if (strategy === undefined)
    throw usageError(`--pool: no strategy ${wanted}`, `strategies are: ${POOL_STRATEGIES.join(", ")}`);
  for (const key of all.keys())
    if (!["name", "replicas", "strategy"].includes(key))
      throw usageError(`--pool takes no ${key}`, "it takes: name, replicas, strategy");
  return { name, replicas: parseCount("--pool replicas", all.get("replicas") ?? "1"), strategy };
}

/** Throws a usage error when a text cannot be the name of a cluster. */
export function checkName(name: string): void {
  // It becomes a label's value and a part of host names.
  if (isDns1123Label(name).length === 0) return;
  const near = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replaceAll(/^-|-$/g, "");
  throw usageError(
    `${JSON.stringify(name)} cannot be a cluster's name: lower-case letters, digits and dashes, at most 63`,
    near === "" ? undefined : `for example ${near}`,
  );
}

/** Parses a worker group: `name=racks,provider=metal3,replicas=2,select.rack=1,KEY=VALUE`. */
export function parseWorkers(text: string, providers: Providers): WorkerGroup {
  const offered = workerOptions(providers);
  const entries = text.split(",").map((part) => parsePair("--workers", part, example(providers)));
  const all = new Map(entries);
  if (all.size !== entries.length) throw usageError(`--workers ${text}: a key is given twice`, example(providers));
  const provider = all.get("provider");
  const option = provider === undefined ? undefined : offered.get(provider);
  if (provider === undefined || option === undefined)
    throw usageError(
      provider === undefined ? `--workers ${text}: provider is missing` : `--workers: no provider ${provider}`,
      `providers are: ${[...offered.keys()].join(", ")}`,
    );
  const name = all.get("name") ?? provider;
  if (isDns1123Label(name).length > 0 || name.length > 40)
    throw usageError(`--workers: ${JSON.stringify(name)} cannot be a group's name`, example(providers));
  const select: Record<string, string> = {};
  const settings: Record<string, string> = {};
  const known = option.settings;
  for (const [key, value] of all) {
    if (key === "name" || key === "provider" || key === "replicas" || SHARE_KEYS.includes(key)) continue;
    if (key.startsWith("select.")) select[key.slice("select.".length)] = value;
    else if (Object.hasOwn(known, key)) settings[key] = value;
    else
      throw usageError(
        `--workers: provider ${provider} takes no ${key}`,
        `it takes: ${["name", "replicas", "select.LABEL", ...Object.keys(known), ...SHARE_KEYS].join(", ")}`,
      );
  }
  const missing = Object.entries(known).find(([key, { required }]) => required === true && settings[key] === undefined);
  if (missing !== undefined)
    throw usageError(`--workers ${text}: ${missing[0]} is missing`, `${missing[0]}: ${missing[1].summary}`);
  return {
    name,
    provider,
    replicas: parseCount("--workers replicas", all.get("replicas") ?? "1"),
    select,
    settings,
    ...(SHARE_KEYS.some((key) => all.has(key)) ? { share: parseShare(all) } : {}),
  };
}

/** The member settings of a group in a pool. */
function parseShare(all: ReadonlyMap<string, string>): PoolShare {
  const count = (key: string): number | undefined =>
    all.has(key) ? parseCount(`--workers ${key}`, all.get(key) ?? "") : undefined;
  const [min, max, weight, cost] = [count("min"), count("max"), count("weight"), all.get("cost")];
  if (cost !== undefined && !/^\d+(\.\d+)?$/.test(cost))
    throw usageError(`--workers cost: ${JSON.stringify(cost)} is not a decimal number`);
  return {
    min,
    max,
    cost,
    weight,
  };
}

function parsePair(option: string, text: string, hint?: string): [string, string] {
  const at = text.indexOf("=");
  if (at <= 0) throw usageError(`${option}: ${JSON.stringify(text)} is not KEY=VALUE`, hint);
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
