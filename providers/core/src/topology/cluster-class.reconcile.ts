import { addOwnerReference, ownerReference, parseGroupVersion } from "@capstan/apimachinery";
import {
  ClusterClass,
  type ConditionInput,
  type ContractObject,
  conditionsOf,
  pausedCondition,
  watchKind,
  withTransitionTimes,
} from "@capstan/capi";
import { type Cache, done, type ReconcileContext, type Request, type Result, requestFor } from "@capstan/runtime";
import { classesOfTemplate, templateReferences } from "./indexes.ts";

/** Reconciles a ClusterClass: validates it, publishes its variables and owns its templates. */
export async function reconcileClusterClass(request: Request, context: ReconcileContext): Promise<Result> {
  const one = context.cache.get(ClusterClass, request);
  if (one === undefined || one.metadata.deletionTimestamp !== undefined) return done();
  const paused = pausedCondition(one, undefined);
  if (paused.status === "True") {
    await writeStatus(one, { ...one.status }, [...kept(one), paused], context);
    return done();
  }
  const outdated = await ownTemplates(one, context);
  const external = (one.spec.patches ?? []).filter(
    ({ external: from }) => from?.discoverVariablesExtension !== undefined,
  );
  const variables = (one.spec.variables ?? []).map(({ name, ...definition }) => ({
    name,
    definitions: [{ from: "inline", ...definition }],
  }));
  await writeStatus(
    one,
    {
      ...(variables.length > 0 ? { variables } : {}),
      observedGeneration: one.metadata.generation,
    },
    [variablesReady(external.map(({ name }) => name)), versionsUpToDate(outdated), paused],
    context,
  );
  return done();
}

function kept(one: ClusterClass): ConditionInput[] {
  return conditionsOf(one)
    .filter(({ type }) => type !== "Paused")
    .map(({ type, status, reason, message }) => ({ type, status, reason, message }));
}

function variablesReady(external: readonly string[]): ConditionInput {
  const type = "VariablesReady";
  if (external.length === 0) return { type, status: "True", reason: "VariablesReady", message: "" };
  return {
    type,
    status: "False",
    reason: "VariableDiscoveryFailed",
    message: `Patches ${external.join(", ")} discover variables through extensions, which are not supported: define them in spec.variables`,
  };
}

function versionsUpToDate(outdated: readonly string[]): ConditionInput {
  const type = "RefVersionsUpToDate";
  return outdated.length === 0
    ? { type, status: "True", reason: "RefVersionsUpToDate", message: "" }
    : { type, status: "False", reason: "RefVersionsNotUpToDate", message: outdated.join("\n") };
}

/** Makes the class an owner of its templates; returns references whose version is not the contract's newest. */
async function ownTemplates(one: ClusterClass, context: ReconcileContext): Promise<string[]> {
  const outdated: string[] = [];
  const seen = new Set<string>();
  for (const reference of templateReferences(one)) {
    const key = `${reference.kind}/${reference.name}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const { group, version } = parseGroupVersion(reference.apiVersion);
    const resolved = await watchKind(context, { apiGroup: group, kind: reference.kind }, classRequests);
    if ("problem" in resolved) {
      outdated.push(`* ${reference.kind} ${reference.name}: ${resolved.problem}`);
      continue;
    }
    if (resolved.kind.version !== version)
      outdated.push(`* ${reference.kind} ${reference.name} should use ${group}/${resolved.kind.version}`);
    const { namespace } = one.metadata;
    const template = context.cache.get(resolved.kind, { namespace, name: reference.name });
    if (template === undefined) continue;
    const before = template.metadata.ownerReferences;
    const ownerReferences = addOwnerReference(before, ownerReference(one));
    if (ownerReferences !== before)
      await context.client.patch(template, {
        metadata: { resourceVersion: template.metadata.resourceVersion, ownerReferences },
      });
  }
  return outdated;
}

function classRequests(object: ContractObject, cache: Cache): Request[] {
  return classesOfTemplate(object, cache).flatMap(requestFor);
}

async function writeStatus(
  one: ClusterClass,
  fields: Partial<NonNullable<ClusterClass["status"]>>,
  conditions: ConditionInput[],
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name = "", generation } = one.metadata;
  const { deprecated: _, ...rest } = fields;
  const desired = {
    apiVersion: ClusterClass.apiVersion,
    kind: ClusterClass.kind,
    metadata: { namespace, name },
    status: {
      ...rest,
      conditions: withTransitionTimes(conditions, conditionsOf(one), context.clock.now(), generation),
    },
  } as unknown as ClusterClass;
  await context.ensureStatus(desired, context.cache.get(ClusterClass, { namespace, name }));
}
