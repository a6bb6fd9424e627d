import type { Condition, KubeObject } from "@capstan/apimachinery";
import { PAUSED_ANNOTATION } from "../contract/constants.ts";
import { field } from "../contract/fields.ts";
import { hostDescription, type NodeContext, shownConditions } from "./host-trouble.ts";

/** An object and its parts, as `describe`, `why` and the dashboard see it. */
export interface ObjectNode {
  kind: string;
  name: string;
  /** What it is to its parent, e.g. `ControlPlane`. */
  role?: string;
  conditions: readonly Condition[];
  /** Whether it is being deleted. */
  deleting: boolean;
  children: ObjectNode[];
  /** When it was created, and when its deletion was requested. */
  created?: string;
  deletedAt?: string;
  /** How many machines or control plane instances it wants and has. */
  replicas?: ReplicaCounts;
  /** The Kubernetes version it wants. */
  version?: string;
  /** It has worked before, so a failure now is not part of its startup. */
  initialized?: boolean;
  /** It is paused itself, or as a Cluster with all its parts. */
  paused?: boolean;
  /** When its conditions become stale, without any further event. */
  changesAtMs?: number;
}

/** Counters of an object that keeps replicas. */
export interface ReplicaCounts {
  desired: number;
  current: number;
  available: number;
  /** Absent when the kind does not count it. */
  upToDate?: number;
}

/** The node of an object. A host that has gone silent or has failed gets the condition that says so in place of what it last reported. */
export function objectNode(object: KubeObject, context: NodeContext, children: ObjectNode[] = []): ObjectNode {
  const { metadata, kind } = object;
  const replicas = replicasOf(object);
  const version = field(object, "spec", "version") ?? field(object, "spec", "template", "spec", "version");
  const changesAtMs = hostDescription(object, context.providers)?.troubleAtMs?.(object, context.nowMs);
  return {
    kind,
    name: metadata.name ?? "",
    conditions: shownConditions(object, context),
    deleting: metadata.deletionTimestamp !== undefined,
    children,
    created: metadata.creationTimestamp,
    deletedAt: metadata.deletionTimestamp,
    replicas,
    ...(typeof version === "string" ? { version } : {}),
    ...(isInitialized(object) ? { initialized: true } : {}),
    ...(isPaused(object) ? { paused: true } : {}),
    changesAtMs,
  };
}

function replicasOf(object: KubeObject): ReplicaCounts | undefined {
  const desired = field(object, "spec", "replicas");
  if (typeof desired !== "number" || object.kind === "MachineSet") return undefined;
  const count = (name: string): number | undefined => {
    const value = field(object, "status", name);
    return typeof value === "number" ? value : undefined;
  };
  const upToDate = count("upToDateReplicas");
  return {
    desired,
    current: count("replicas") ?? 0,
    available: count("availableReplicas") ?? 0,
    upToDate,
  };
}

function isInitialized(object: KubeObject): boolean {
  return (
    field(object, "status", "initialization", "controlPlaneInitialized") === true ||
    field(object, "status", "nodeRef") !== undefined
  );
}

function isPaused(object: KubeObject): boolean {
  return (
    (object.kind === "Cluster" && field(object, "spec", "paused") === true) ||
    object.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined
  );
}
