import { type Condition, findCondition } from "@capstan/apimachinery";
import {
  type Cluster,
  type ContractReference,
  conditionsOf,
  headline,
  isTroubled,
  type ObjectNode,
  why,
} from "@capstan/capi";
import type { Chip, Counts, FleetRow } from "./protocol.ts";
import { providerName } from "./provider-name.ts";

/** Conditions that become chips, in this order. */
const CHIPS = ["Available", "InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable"];
const MAX_MESSAGE = 240;

/** The parts of a cluster that its row is made of. */
export interface FleetParts {
  readonly cluster: Cluster;
  /** The control plane object's version, if it has one. */
  readonly version: string | undefined;
  /** What machines of the cluster are made from. */
  readonly templates: readonly ContractReference[];
}

/** The row of a cluster. */
export function fleetRow({ cluster, version, templates }: FleetParts): FleetRow {
  const conditions = conditionsOf(cluster);
  const { metadata, spec, status } = cluster;
  const deleting = metadata.deletionTimestamp !== undefined;
  const node: ObjectNode = { kind: "Cluster", name: metadata.name ?? "", conditions, deleting, children: [] };
  const problem = isTroubled(node) ? problemOf(node) : undefined;
  const providers = new Set(templates.map((template) => providerName(template.kind)));
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    phase: status?.phase ?? "Pending",
    version: version ?? spec?.topology?.version ?? "",
    chips: chipsOf(conditions),
    controlPlane: countsOf(status?.controlPlane),
    workers: countsOf(status?.workers),
    providers: [...providers].sort(),
    created: metadata.creationTimestamp ?? "",
    ...(spec?.paused === true ? { paused: true } : {}),
    ...(deleting ? { deleting: true } : {}),
    ...(problem === undefined ? {} : { problem }),
  };
}

function chipsOf(conditions: readonly Condition[]): Chip[] {
  return CHIPS.flatMap((type) => {
    const found = findCondition(conditions, type);
    return found === undefined ? [] : [[type, found.status] as const];
  });
}

function countsOf(status: { availableReplicas?: number; desiredReplicas?: number } | undefined): Counts {
  return [status?.availableReplicas ?? 0, status?.desiredReplicas ?? 0];
}

/** The first link of the chain that `why` would show: what a table has room for. */
export function problemOf(node: ObjectNode): { reason: string; message: string } {
  const [cause] = why(node);
  const message = cause === undefined ? "no condition reported yet" : headline(cause.message);
  return {
    reason: cause?.reason ?? "Pending",
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message,
  };
}
