import { findCondition } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf, summarize, withTransitionTimes } from "@capstan/capi";
import type { MetaCluster } from "../kinds/meta-cluster.ts";
import { type Child, unionOfFailureDomains } from "./children.ts";
import { type Endpoint, mismatches } from "./endpoint.ts";

/** Everything that the status of a MetaCluster is computed from. */
export interface StatusInput {
  meta: MetaCluster;
  children: readonly Child[];
  endpoint: Endpoint | undefined;
  paused: ConditionInput;
  /** What deletion is waiting for; undefined if the object is not being deleted. */
  deleting: string | undefined;
  /** Why nothing can be done yet, such as a missing owner. */
  waiting?: { reason: string; message: string };
  nowMs: number;
}

/** Computes the complete status of a MetaCluster. */
export function metaClusterStatus(input: StatusInput): NonNullable<MetaCluster["status"]> {
  const { meta, children } = input;
  const needed = children.filter((child) => child.reference.optional !== true);
  const provisioned =
    meta.status?.initialization?.provisioned === true ||
    (input.waiting === undefined &&
      input.endpoint !== undefined &&
      needed.length > 0 &&
      needed.every((child) => child.provisioned)) ||
    // Only optional ones: there is nothing to wait for.
    (input.waiting === undefined && input.endpoint !== undefined && needed.length === 0);
  const { domains } = unionOfFailureDomains(children);
  return {
    conditions: withTransitionTimes(
      conditions(input, needed),
      conditionsOf(meta),
      input.nowMs,
      meta.metadata.generation,
    ),
    ...(provisioned ? { initialization: { provisioned: true } } : {}),
    ...(domains.length > 0 ? { failureDomains: domains } : {}),
    infrastructures: children.map(childStatus),
    observedGeneration: meta.metadata.generation,
  };
}

function childStatus(child: Child): NonNullable<NonNullable<MetaCluster["status"]>["infrastructures"]>[number] {
  const { kind, name } = child.reference;
  if (child.problem !== undefined) return { kind, name, provisioned: false, ...child.problem };
  const condition = child.object === undefined ? undefined : findCondition(conditionsOf(child.object), "Ready");
  if (condition === undefined) return { kind, name, provisioned: child.provisioned };
  return { kind, name, provisioned: child.provisioned, reason: condition.reason, message: condition.message };
}

function conditions(input: StatusInput, needed: readonly Child[]): ConditionInput[] {
  const endpoint = endpointReady(input);
  const infrastructures = infrastructuresReady(input, needed);
  const deleting: ConditionInput =
    input.deleting === undefined
      ? { type: "Deleting", status: "False", reason: "NotDeleting", message: "" }
      : { type: "Deleting", status: "True", reason: "Deleting", message: input.deleting };
  const ready = summarize(
    "Ready",
    [{ condition: deleting, negative: true }, { condition: endpoint }, { condition: infrastructures }],
    {
      good: "Ready",
      bad: "NotReady",
      unknown: "ReadyUnknown",
    },
  );
  // Before it belongs to a Cluster nothing else is worth saying.
  const summary: ConditionInput = input.waiting === undefined ? ready : { ...ready, ...input.waiting };
  return [summary, endpoint, infrastructures, deleting, input.paused];
}

function endpointReady(input: StatusInput): ConditionInput {
  const type = "EndpointReady";
  if (input.waiting !== undefined) return { type, status: "False", ...input.waiting };
  if (input.endpoint === undefined)
    return {
      type,
      status: "False",
      reason: "WaitingForEndpoint",
      message:
        "No object offers an endpoint yet: set it on the Cluster, on this object, on the control plane, or mark a child controlPlane: true",
    };
  const others = mismatches(input.children, input.endpoint);
  if (others.length === 0) return { type, status: "True", reason: "EndpointReady", message: "" };
  const names = others.map(
    (child) => `${child.reference.kind}/${child.reference.name} has ${child.endpoint?.host}:${child.endpoint?.port}`,
  );
  return {
    type,
    status: "False",
    reason: "EndpointMismatch",
    message: `The cluster's endpoint is ${input.endpoint.host}:${input.endpoint.port}, but ${names.join(", ")}; it is not changed: recreate the child without an endpoint`,
  };
}

function infrastructuresReady(input: StatusInput, needed: readonly Child[]): ConditionInput {
  const type = "InfrastructuresReady";
  const { clashes } = unionOfFailureDomains(input.children);
  if (clashes.length > 0)
    return {
      type,
      status: "False",
      reason: "FailureDomainClash",
      message: `Failure domain ${clashes.join(", ")} exists in more than one infrastructure: rename it in one of them`,
    };
  const missing = needed.filter((child) => !child.provisioned);
  if (missing.length === 0) return { type, status: "True", reason: "InfrastructuresReady", message: "" };
  const lines = missing.map((child) => {
    const state = childStatus(child);
    return `* ${state.kind}/${state.name}: ${state.message === undefined || state.message === "" ? "not provisioned yet" : state.message}`;
  });
  return { type, status: "False", reason: "InfrastructuresNotReady", message: lines.join("\n") };
}
