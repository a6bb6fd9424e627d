import type { Condition, KubeObject } from "@capstan/apimachinery";
import {
  type Cluster,
  endpointOf,
  INFRASTRUCTURE_GROUP,
  isHostKind,
  objectId,
  shownConditions,
  simulatedHost,
  type WorkerPool,
} from "@capstan/capi";
import type { EventObject } from "@capstan/runtime";
import type { ObjectFacts, ObjectItem, PoolMember, TimelineItem } from "./protocol.ts";
import { providerName, type ShownProvider } from "./provider-name.ts";

/** What the dashboard needs to know about a kind to address its objects. */
export interface ViewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** The time, and the providers that mark objects. */
export interface ShownContext {
  readonly nowMs: number;
  readonly providers: readonly ShownProvider[];
}

/** Builds an object's item for the dashboard; the caller, which knows the object's parts, adds its state. */
export function objectItem(
  object: KubeObject,
  kind: ViewKind,
  parent: string | undefined,
  context: ShownContext,
): Omit<ObjectItem, "state" | "causes" | "activities"> {
  return {
    type: "object",
    id: objectId(kind.kind, object.metadata.name ?? ""),
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    plural: kind.plural,
    namespace: object.metadata.namespace ?? "",
    name: object.metadata.name ?? "",
    parent,
    ...(kind.group === INFRASTRUCTURE_GROUP || isHostKind(kind.kind)
      ? { provider: providerName(kind.kind, context.providers) }
      : {}),
    conditions: shownConditions(object, context),
    deleting: object.metadata.deletionTimestamp !== undefined,
    created: object.metadata.creationTimestamp ?? "",
    facts: factsOf(object, context.providers),
  };
}

/** Fields that several kinds have under the same name; whatever is not of the expected type is left out. */
interface Loose {
  spec?: {
    replicas?: unknown;
    version?: unknown;
    providerID?: unknown;
    failureDomain?: unknown;
    paused?: unknown;
    template?: { spec?: { version?: unknown } };
  };
  status?: {
    readyReplicas?: unknown;
    availableReplicas?: unknown;
    phase?: unknown;
    nodeRef?: { name?: unknown };
    addresses?: unknown;
    failureDomain?: unknown;
  };
}

function factsOf(object: KubeObject, providers: readonly ShownProvider[]): ObjectFacts {
  const { spec, status } = object as Loose;
  const endpoint = object.kind === "Cluster" ? endpointOf(object as Cluster) : undefined;
  return definedOnly({
    desired: numberIn(spec?.replicas),
    ready: numberIn(status?.readyReplicas),
    available: numberIn(status?.availableReplicas),
    version: textIn(spec?.version) ?? textIn(spec?.template?.spec?.version),
    phase: textIn(status?.phase),
    node: textIn(status?.nodeRef?.name),
    providerID: textIn(spec?.providerID),
    addresses: addressesIn(status?.addresses),
    failureDomain: textIn(status?.failureDomain) ?? textIn(spec?.failureDomain),
    endpoint: endpoint === undefined ? undefined : `${endpoint.host}:${endpoint.port}`,
    paused: spec?.paused === true ? true : undefined,
    simulated: simulatedHost(object, providers),
    ...(object.kind === "WorkerPool" ? poolFacts(object as WorkerPool, providers) : {}),
  });
}

function poolFacts({ spec, status }: WorkerPool, providers: readonly ShownProvider[]): ObjectFacts {
  const members = spec.members.map((member): PoolMember => {
    const state = status?.members?.find((candidate) => candidate.name === member.name);
    return {
      name: member.name,
      provider: providerName(member.infrastructureRef.kind, providers),
      min: member.min ?? 0,
      max: member.max,
      cost: member.cost,
      desired: state?.desired ?? 0,
      available: state?.available ?? 0,
      state: state?.state ?? "Pending",
      ...(state?.message === undefined ? {} : { message: state.message }),
    };
  });
  return { members, strategy: spec.strategy ?? "Cheapest" };
}

/** Builds the timeline entry of an Event. */
export function eventItem(event: EventObject): TimelineItem {
  const count = event.series?.count;
  return {
    type: "event",
    at: event.series?.lastObservedTime ?? event.eventTime ?? event.metadata.creationTimestamp ?? "",
    kind: event.regarding?.kind ?? "",
    name: event.regarding?.name ?? "",
    reason: event.reason ?? "",
    message: event.note ?? "",
    warning: event.type === "Warning",
    ...(count === undefined || count < 2 ? {} : { count }),
  };
}

/** Builds the timeline entry of a condition's last transition. */
export function changeItem(kind: string, name: string, condition: Condition): TimelineItem {
  return {
    type: "change",
    at: condition.lastTransitionTime,
    kind,
    name,
    reason: `${condition.type}: ${condition.status}`,
    message: condition.message === "" ? condition.reason : `${condition.reason}: ${condition.message}`,
    warning: false,
  };
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function addressesIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const addresses = value.flatMap((entry: { address?: unknown }) => textIn(entry?.address) ?? []);
  return addresses.length === 0 ? undefined : addresses;
}

function definedOnly(facts: { [K in keyof ObjectFacts]: ObjectFacts[K] | undefined }): ObjectFacts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as ObjectFacts;
}
