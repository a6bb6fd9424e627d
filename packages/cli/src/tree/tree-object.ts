import type { KubeObject } from "@capstan/apimachinery";
import { conditionsOf, field, type NodeContext, type ObjectNode, objectNode } from "@capstan/capi";
import { type Cluster, type Machine } from "../kinds/kinds.ts";

/** Replica counts, as the columns of `describe` show them. */
export interface Counts {
  /** `current/desired`, or a plain number. */
  replicas: string;
  available: number;
  ready: number;
  upToDate: number;
}

/** An object in a cluster's tree, with its replica counts. */
export interface TreeObject extends ObjectNode {
  counts?: Counts;
  children: TreeObject[];
}

/** Builds the tree node of an object, with its state at the time of the context. */
export function toNode(object: KubeObject, context: NodeContext, children: TreeObject[], counts?: Counts): TreeObject {
  return { ...objectNode(object, context), children, ...(counts === undefined ? {} : { counts }) };
}

/** Returns the replica counts of an object with `spec.replicas`; undefined for any other. */
export function replicaCounts(object: KubeObject): Counts | undefined {
  const desired = field(object, "spec", "replicas");
  if (typeof desired !== "number") return undefined;
  const count = (name: string): number => Number(field(object, "status", name) ?? 0);
  // A WorkerPool has no such counter: its current replicas are the desired ones.
  const upToDate = field(object, "status", "upToDateReplicas");
  return {
    replicas: `${count("replicas")}/${desired}`,
    available: count("availableReplicas"),
    ready: count("readyReplicas"),
    upToDate: typeof upToDate === "number" ? upToDate : count("replicas"),
  };
}

/** Returns the sum of the replica counts of control plane and workers. */
export function clusterCounts({ status }: Cluster): Counts | undefined {
  const groups = [status?.controlPlane, status?.workers].filter((group) => group !== undefined);
  if (groups.length === 0) return undefined;
  const sum = (read: (group: (typeof groups)[0]) => number | undefined): number =>
    groups.reduce((total, group) => total + (read(group) ?? 0), 0);
  return {
    replicas: `${sum((group) => group.replicas)}/${sum((group) => group.desiredReplicas)}`,
    available: sum((group) => group.availableReplicas),
    ready: sum((group) => group.readyReplicas),
    upToDate: sum((group) => group.upToDateReplicas),
  };
}

/** Returns the counts of a single Machine. */
export function machineCounts(machine: Machine): Counts {
  const isTrue = (type: string): number =>
    conditionsOf(machine).some((condition) => condition.type === type && condition.status === "True") ? 1 : 0;
  return { replicas: "1", available: isTrue("Available"), ready: isTrue("Ready"), upToDate: isTrue("UpToDate") };
}
