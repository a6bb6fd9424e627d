import { readFileSync } from "node:fs";
import {
  findCondition,
  parseYamlDocuments,
  systemClock,
  type Transport,
  type Unstructured,
} from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { Client } from "@capstan/runtime";

const CLUSTERS = { group: "cluster.x-k8s.io", plural: "clusters" };
const MACHINES = { group: "cluster.x-k8s.io", plural: "machines" };
const IN_FLIGHT = 50;

/** The objects of one cluster by its name. */
export type Manifests = (name: string) => Unstructured[];

/**
 * Reads a YAML file of one cluster, in which `${NAME}` and the other variables are replaced. Once: parsing YAML is kubectl's work and not
 * measured.
 */
export function manifests(file: string, variables: Readonly<Record<string, string>> = {}): Manifests {
  let text = readFileSync(new URL(`../../fleet/${file}`, import.meta.url), "utf8");
  for (const [name, value] of Object.entries(variables)) text = text.replaceAll(`\${${name}}`, value);
  const parsed = JSON.stringify(parseYamlDocuments(text));
  return (name) => JSON.parse(parsed.replaceAll("${NAME}", name)) as Unstructured[];
}

/** Creates the objects once per name. */
export async function createClusters(
  transport: Transport,
  manifestsOf: Manifests,
  names: readonly string[],
): Promise<void> {
  const client = new Client(transport, { fieldManager: "fleet", clock: systemClock });
  await each(names, async (name) => {
    for (const object of manifestsOf(name)) await client.create(object);
  });
}

/** Deletes all objects, as `kubectl delete -f` does: all at once. */
export async function deleteClusters(
  transport: Transport,
  manifestsOf: Manifests,
  names: readonly string[],
): Promise<void> {
  const client = new Client(transport, { fieldManager: "fleet", clock: systemClock });
  await each(names, async (name) => {
    for (const object of manifestsOf(name)) await client.delete(object);
  });
}

/** Sets the replicas of a cluster's MachineDeployment. */
export async function scale(
  transport: Transport,
  manifestsOf: Manifests,
  name: string,
  replicas: number,
): Promise<void> {
  const client = new Client(transport, { fieldManager: "fleet", clock: systemClock });
  const deployment = manifestsOf(name).find(({ kind }) => kind === "MachineDeployment");
  if (deployment !== undefined) await client.patch(deployment, { spec: { replicas } });
}

async function each(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let name = names[next++]; name !== undefined; name = names[next++]) await work(name);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/** Resolves when all these Clusters are Available with as many control plane Machines. */
export async function untilAvailable(server: ApiServer, names: readonly string[], machines: number): Promise<void> {
  await follow(
    server,
    CLUSTERS,
    new Set(names),
    (object) => holds(object, "Available") && controlPlaneMachines(object) >= machines,
  );
}

/** Resolves when a cluster has this many Machines with a Ready Node. */
export function untilMachines(server: ApiServer, cluster: string, count: number): Promise<void> {
  const ready = new Set<string>();
  return new Promise((resolve) => {
    const stop = server.internal.watch(MACHINES, ({ name, object }) => {
      const own = object?.metadata.labels?.["cluster.x-k8s.io/cluster-name"] === cluster;
      if (own && holds(object, "Available")) ready.add(name);
      else ready.delete(name);
      if (ready.size < count) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}

/** Resolves when none of these Clusters exists any more. */
export async function untilGone(server: ApiServer, names: readonly string[]): Promise<void> {
  await follow(server, CLUSTERS, new Set(names), (object) => object === undefined);
}

function follow(
  server: ApiServer,
  type: typeof CLUSTERS,
  waiting: Set<string>,
  done: (object: Unstructured | undefined) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const stop = server.internal.watch(type, ({ name, object }) => {
      if (!waiting.has(name) || !done(object)) return;
      waiting.delete(name);
      if (waiting.size > 0) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}

function controlPlaneMachines(object: Unstructured | undefined): number {
  const status = object?.["status"] as { controlPlane?: { availableReplicas?: number } } | undefined;
  return status?.controlPlane?.availableReplicas ?? 0;
}

function holds(object: Unstructured | undefined, type: string): boolean {
  const conditions = (object?.["status"] as { conditions?: Parameters<typeof findCondition>[0] } | undefined)
    ?.conditions;
  return findCondition(conditions ?? [], type)?.status === "True";
}

/** How many objects of each resource exist, but for Leases and Events. */
export function inventory(server: ApiServer): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { group, plural } of server.registry.types()) {
    if (plural === "leases" || plural === "events" || counts.has(`${plural}.${group}`)) continue;
    try {
      counts.set(`${plural}.${group}`, server.internal.list({ group, plural }).length);
    } catch {
      // Not every resource can be listed.
    }
  }
  return counts;
}
