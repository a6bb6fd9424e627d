import { type ApiResponse, isDns1123Label, isObject, type Transport, type Unstructured } from "@capstan/apimachinery";
import {
  type ClusterPlan,
  clusterObjects,
  hostKindOf,
  type ProviderDescription,
  planWarnings,
  shortages,
} from "@capstan/capi";
import { failure } from "./api-proxy.ts";
import type { PlannedCluster } from "./protocol.ts";

/** Groups of one plan: each of them is matched with every host. */
const MAX_GROUPS = 100;

/** Returns what a plan amounts to: its objects, warnings, and the hosts that it lacks as far as the user may list them. */
export async function plannedCluster(
  transport: Transport,
  text: string,
  providers: readonly ProviderDescription[],
): Promise<ApiResponse> {
  const plan = readPlan(text, providers);
  if (plan === undefined) return failure(400, "the body is not the plan of a cluster");
  const hosts = await hostsOf(transport, plan, providers);
  const body: PlannedCluster = {
    objects: clusterObjects(plan, providers),
    warnings: planWarnings(plan.workers, providers),
    shortages: hosts === undefined ? [] : shortages(plan, hosts, providers),
  };
  return { status: 200, headers: {}, body, warnings: [] };
}

/** The plan in a request: what the functions that read it rely on is checked, the API checks the rest with the objects. */
function readPlan(text: string, providers: readonly ProviderDescription[]): ClusterPlan | undefined {
  let plan: unknown;
  try {
    plan = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(plan) || !isText(plan["name"]) || !isText(plan["namespace"]) || !isText(plan["version"]))
    return undefined;
  const { podCidrs, serviceCidrs, labels, workers, pool } = plan;
  if (!isTexts(podCidrs) || !isTexts(serviceCidrs) || !isTextMap(labels) || !Array.isArray(workers)) return undefined;
  if (workers.length > MAX_GROUPS || (pool !== undefined && !isObject(pool))) return undefined;
  const known = workers.every(
    (group) =>
      isObject(group) &&
      isText(group["name"]) &&
      providers.some(({ name, workers: option }) => option !== undefined && name === group["provider"]) &&
      isTextMap(group["select"]) &&
      isTextMap(group["settings"]),
  );
  return known ? (plan as unknown as ClusterPlan) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isTextMap(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isText);
}

/** The hosts that the plan's groups choose from; undefined if they cannot be read, as with a namespace that is still being typed. */
async function hostsOf(
  transport: Transport,
  plan: ClusterPlan,
  providers: readonly ProviderDescription[],
): Promise<Unstructured[] | undefined> {
  // Such as "..", which would lead to another path.
  if (isDns1123Label(plan.namespace).length > 0) return undefined;
  const kinds = new Set(plan.workers.flatMap((group) => hostKindOf(group, providers) ?? []));
  const hosts: Unstructured[] = [];
  for (const { group, version, plural, kind } of kinds) {
    const path = `/apis/${group}/${version}/namespaces/${encodeURIComponent(plan.namespace)}/${plural}`;
    const { status, body } = await transport.request({ method: "GET", path });
    if (status !== 200) return undefined;
    // Items of a list need not have apiVersion and kind.
    const { items = [] } = body as { items?: Unstructured[] };
    for (const item of items) hosts.push({ ...item, kind });
  }
  return hosts;
}
