import { findCondition, isReason, ownerReference, parseGroupVersion, type Unstructured } from "@capstan/apimachinery";
import {
  type ConditionInput,
  type ContractObject,
  conditionsOf,
  type Machine,
  MachineHealthCheck,
  objectFromTemplate,
  templatedKind,
} from "@capstan/capi";
import { type Kind, type ReconcileContext, type Request, requestFor } from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";

/** Reasons why no remediation was requested. */
const HINDERED = ["RemediationTemplateNotFound", "RemediationRequestCreationFailed"];

/** Whether an external controller remediates the Machines of a check, and the condition to set on the Machine. */
export interface ExternalRemediation {
  used: boolean;
  condition?: ConditionInput;
}

/**
 * Requests remediation by creating an object from the check's template, named like the Machine, for the infrastructure provider. Deletes it
 * once the Machine is healthy again.
 */
export async function externalRemediation(
  check: MachineHealthCheck,
  machine: Machine,
  wanted: boolean,
  context: ReconcileContext,
): Promise<ExternalRemediation> {
  const reference = check.spec.remediation?.templateRef;
  if (reference === undefined) return { used: false };
  const kinds = await remediationKinds(reference, context);
  if ("problem" in kinds) return wanted ? notFound(kinds.problem) : { used: true };
  const namespace = check.metadata.namespace ?? "";
  const existing = context.cache.get(kinds.request, { namespace, name: machine.metadata.name ?? "" });
  if (!wanted) {
    if (existing !== undefined && existing.metadata.deletionTimestamp === undefined)
      await context.client.delete(existing);
    return { used: true };
  }
  if (existing !== undefined) return askedBefore(machine);
  const template = context.cache.get(kinds.template, { namespace, name: reference.name });
  if (template === undefined) return notFound(`${reference.kind} ${namespace}/${reference.name} does not exist`);
  const request = objectFromTemplate({
    template,
    name: machine.metadata.name ?? "",
    namespace,
    clusterName: machine.spec.clusterName,
    owner: ownerReference(machine),
  });
  if (request === undefined) return notFound(`${reference.kind} ${reference.name} has no spec.template`);
  try {
    await context.client.create(request);
  } catch (error) {
    if (isReason(error, "Invalid", "BadRequest", "Forbidden"))
      return { used: true, condition: failed("RemediationRequestCreationFailed", error.message) };
    if (!isReason(error, "AlreadyExists")) throw error;
  }
  return { used: true, condition: failed("WaitingForRemediation", "") };
}

/** The remediation provider may have reported more since. Without a report, or with an old error, the last write was lost. */
function askedBefore(machine: Machine): ExternalRemediation {
  const said = findCondition(conditionsOf(machine), "ExternallyRemediated");
  if (said !== undefined && !HINDERED.includes(said.reason)) return { used: true };
  return { used: true, condition: failed("WaitingForRemediation", "") };
}

function failed(reason: string, message: string): ConditionInput {
  return { type: "ExternallyRemediated", status: "False", reason, message };
}

function notFound(problem: string): ExternalRemediation {
  return {
    used: true,
    condition: failed("RemediationTemplateNotFound", `Error retrieving remediation template: ${problem}`),
  };
}

type Reference = NonNullable<NonNullable<MachineHealthCheck["spec"]["remediation"]>["templateRef"]>;

interface RemediationKinds {
  template: Kind<ContractObject>;
  request: Kind<ContractObject>;
}

/** Finds both kinds and watches them, so that a template that appears later is noticed. */
async function remediationKinds(
  reference: Reference,
  context: ReconcileContext,
): Promise<RemediationKinds | { problem: string }> {
  const requestKind = templatedKind(reference.kind);
  if (requestKind === undefined) return { problem: `${reference.kind} is not the kind of a template` };
  try {
    parseGroupVersion(reference.apiVersion);
    const template: Kind<ContractObject> = await context.client.kindOf(reference);
    const request: Kind<ContractObject> = await context.client.kindOf({
      apiVersion: reference.apiVersion,
      kind: requestKind,
    });
    await context.watch(template, (object, cache) =>
      cache
        .list(MachineHealthCheck, { namespace: object.metadata.namespace })
        .filter((check) => check.spec.remediation?.templateRef?.name === object.metadata.name)
        .flatMap(requestFor),
    );
    await context.watch(request, checksOfRequest);
    return { template, request };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The checks of the Cluster whose Machine a request is for. */
function checksOfRequest(object: Unstructured, cache: ReconcileContext["cache"]): Request[] {
  const cluster = object.metadata.labels?.["cluster.x-k8s.io/cluster-name"];
  if (cluster === undefined) return [];
  return cache
    .byIndex(MachineHealthCheck, BY_CLUSTER, clusterKey(object.metadata.namespace ?? "", cluster))
    .flatMap(requestFor);
}
