import { type Condition, findCondition } from "@capstan/apimachinery";
import { type Cluster, type ContractReference, conditionsOf, type ObjectState } from "@capstan/capi";
import type { Chip, Counts, FleetRow } from "./protocol.ts";
import { providerName, type ShownProvider } from "./provider-name.ts";

/** Conditions that become chips, in this order. */
const CHIPS = ["Available", "InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable"];
const MAX_MESSAGE = 240;

/** What the fleet table's row of a cluster is computed from. */
export interface FleetParts {
  readonly cluster: Cluster;
  /** The state of the cluster with all its parts. */
  readonly state: ObjectState;
  /** The control plane object's version, if it has one. */
  readonly version: string | undefined;
  /** The infrastructure templates of the cluster's machines. */
  readonly templates: readonly ContractReference[];
  readonly providers: readonly ShownProvider[];
}

/** Computes the fleet table's row of a cluster. */
export function fleetRow({ cluster, state, version, templates, providers: known }: FleetParts): FleetRow {
  const conditions = conditionsOf(cluster);
  const { metadata, spec, status } = cluster;
  const providers = new Set(templates.map((template) => providerName(template.kind, known)));
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
    state: shortState(state),
    ...(metadata.deletionTimestamp === undefined ? {} : { deleting: true }),
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

/** Returns a state with its message cut to the length that a table shows. */
export function shortState(state: ObjectState): ObjectState {
  const { message } = state;
  return message.length > MAX_MESSAGE ? { ...state, message: `${message.slice(0, MAX_MESSAGE)}…` } : state;
}
