import { readFileSync } from "node:fs";
import { findCondition, parseYamlDocuments, systemClock, type Unstructured } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { Client } from "@capstan/runtime";
import type { Plane } from "./plane.ts";

const CLUSTERS = { group: "cluster.x-k8s.io", plural: "clusters" };
const MACHINES = { group: "cluster.x-k8s.io", plural: "machines" };
const IN_FLIGHT = 50;

const template = readFileSync(new URL("../../fleet/cluster.yaml", import.meta.url), "utf8");
/** Read once: parsing YAML is kubectl's work, not what is measured. */
const parsed = JSON.stringify(parseYamlDocuments(template));

/** The objects of one cluster, as in the YAML file. */
function manifestsOf(name: string): Unstructured[] {
  return JSON.parse(parsed.replaceAll("${NAME}", name)) as Unstructured[];
}

/** Applies the YAML file once per name. */
export async function createClusters(plane: Plane, names: readonly string[]): Promise<void> {
  const client = new Client(plane.transport, { fieldManager: "fleet", clock: systemClock });
  await each(names, async (name) => {
    for (const object of manifestsOf(name)) await client.create(object);
  });
}

/** Deletes everything the YAML file made, as `kubectl delete -f` does: all at once. */
export async function deleteClusters(plane: Plane, names: readonly string[]): Promise<void> {
  const client = new Client(plane.transport, { fieldManager: "fleet", clock: systemClock });
  await each(names, async (name) => {
    for (const object of manifestsOf(name)) await client.delete(object);
  });
}

/** Sets the replicas of a cluster's MachineDeployment. */
export async function scale(plane: Plane, name: string, replicas: number): Promise<void> {
  const client = new Client(plane.transport, { fieldManager: "fleet", clock: systemClock });
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

/** Resolves when all these Clusters are Available; says when each was. */
export function untilAvailable(server: ApiServer, names: readonly string[]): Promise<Map<string, number>> {
  return follow(server, CLUSTERS, new Set(names), (object) => holds(object, "Available"));
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
): Promise<Map<string, number>> {
  const at = new Map<string, number>();
  return new Promise((resolve) => {
    const stop = server.internal.watch(type, ({ name, object }) => {
      if (!waiting.has(name) || !done(object)) return;
      waiting.delete(name);
      at.set(name, performance.now());
      if (waiting.size > 0) return;
      resolve(at);
      queueMicrotask(() => stop());
    });
  });
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
