import type { KubeObject } from "@capstan/apimachinery";
import { conditionsOf, field, type ObjectNode, objectNode } from "@capstan/capi";
import { type Cluster, type Machine } from "./kinds.ts";

/** How many of something there are, as the columns of `describe` show it. */
export interface Counts {
  /** `current/desired`, or a plain number. */
  replicas: string;
  available: number;
  ready: number;
  upToDate: number;
}

/** An object of a cluster's tree with its counters. */
export interface TreeObject extends ObjectNode {
  counts?: Counts;
  children: TreeObject[];
}

/** The node of an object at a moment. */
export function toNode(object: KubeObject, nowMs: number, children: TreeObject[], counts?: Counts): TreeObject {
  return { ...objectNode(object, nowMs), children, ...(counts === undefined ? {} : { counts }) };
}

/** Counters of anything that keeps replicas. */
export function replicaCounts(object: KubeObject): Counts | undefined {
  const desired = field(object, "spec", "replicas");
  if (typeof desired !== "number") return undefined;
  const count = (name: string): number => Number(field(object, "status", name) ?? 0);
  // A WorkerPool keeps no such counter: what exists of it is what it wants.
  const upToDate = field(object, "status", "upToDateReplicas");
  return {
    replicas: `${count("replicas")}/${desired}`,
    available: count("availableReplicas"),
    ready: count("readyReplicas"),
    upToDate: typeof upToDate === "number" ? upToDate : count("replicas"),
  };
}

/** The sum over control plane and workers. */
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

/** A machine counts as one. */
export function machineCounts(machine: Machine): Counts {
  const isTrue = (type: string): number =>
    conditionsOf(machine).some((condition) => condition.type === type && condition.status === "True") ? 1 : 0;
  return { replicas: "1", available: isTrue("Available"), ready: isTrue("Ready"), upToDate: isTrue("UpToDate") };
}
