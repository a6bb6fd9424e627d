import { ownerReference, type Random, randomSuffix, scaledValue, stableStringify } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  DEPLOYMENT_NAME_LABEL,
  fnv32a,
  labelValue,
  type MachineDeployment,
  MachineSet,
  TEMPLATE_HASH_LABEL,
} from "@capstan/capi";
import { DISABLE_CREATE_ANNOTATION, MACHINE_SET_FINALIZER } from "../machine-set/machine-set.reconcile.ts";
import { DESIRED_REPLICAS_ANNOTATION, MAX_REPLICAS_ANNOTATION, REVISION_ANNOTATION, revisionOf } from "./revision.ts";
import { HISTORY_LIMIT_ANNOTATION, ROLLBACK_ANNOTATION } from "./rollback.ts";
import { isExpired, rolloutFields, sameRollout } from "./template-diff.ts";

/** Field manager of MachineSets; the same as upstream's. */
export const SET_FIELD_MANAGER = "capi-machinedeployment";

/** Annotations of a deployment that are about itself. */
const OWN_ANNOTATIONS = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  REVISION_ANNOTATION,
  DESIRED_REPLICAS_ANNOTATION,
  MAX_REPLICAS_ANNOTATION,
  ROLLBACK_ANNOTATION,
  HISTORY_LIMIT_ANNOTATION,
]);

const createdAt = (set: MachineSet): number => Date.parse(set.metadata.creationTimestamp ?? "") || 0;

/** Returns the MachineSet that matches the deployment's template; of several the one with the most replicas, then the oldest. */
export function findCurrentSet(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  nowMs: number,
): MachineSet | undefined {
  return sets
    .filter(
      (set) =>
        set.metadata.deletionTimestamp === undefined &&
        sameRollout(set.spec.template, deployment.spec.template) &&
        !isExpired(deployment, set.metadata.creationTimestamp, nowMs),
    )
    .sort(
      (a, b) =>
        (b.spec.replicas ?? 0) - (a.spec.replicas ?? 0) ||
        createdAt(a) - createdAt(b) ||
        ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1),
    )[0];
}

/** Name and template hash of a MachineSet. */
export interface SetIdentity {
  name: string;
  /** Value of the label that distinguishes this set's Machines from those of other sets. */
  hash: string;
}

/** Returns the name and hash of a new MachineSet. A random part distinguishes sets with equal templates. */
export function newSetIdentity(deployment: MachineDeployment, random: Random): SetIdentity {
  const suffix = randomSuffix(random);
  const hash = fnv32a(stableStringify(rolloutFields(deployment.spec.template)));
  return { name: `${(deployment.metadata.name ?? "").slice(0, 57)}-${suffix}`, hash: `${hash}-${suffix}` };
}

/** Everything that the desired state of a MachineSet is computed from. */
export interface DesiredSetInput {
  deployment: MachineDeployment;
  identity: SetIdentity;
  existing: MachineSet | undefined;
  replicas: number;
  revision: number;
  /** An old set that must not create Machines (strategy OnDelete). */
  frozen: boolean;
  desired: number;
  maxSurge: number;
}

/** Computes the desired state of a MachineSet: fields that require new Machines are kept, all others follow the deployment. */
export function desiredMachineSet(input: DesiredSetInput): MachineSet {
  const { deployment, identity, existing } = input;
  const { spec } = deployment;
  const own = spec.template.spec;
  const kept = (existing ?? { spec }).spec.template.spec;
  const labels = {
    ...spec.template.metadata?.labels,
    [CLUSTER_NAME_LABEL]: spec.clusterName,
    [DEPLOYMENT_NAME_LABEL]: labelValue(deployment.metadata.name ?? ""),
    ...(identity.hash === "" ? {} : { [TEMPLATE_HASH_LABEL]: identity.hash }),
  };
  const templateAnnotations = spec.template.metadata?.annotations;
  const { namespace } = deployment.metadata;
  return {
    apiVersion: MachineSet.apiVersion,
    kind: MachineSet.kind,
    metadata: {
      name: identity.name,
      namespace,
      labels,
      annotations: {
        ...handedOn(deployment),
        [REVISION_ANNOTATION]: String(input.revision),
        [DESIRED_REPLICAS_ANNOTATION]: String(input.desired),
        [MAX_REPLICAS_ANNOTATION]: String(input.desired + input.maxSurge),
        [DISABLE_CREATE_ANNOTATION]: String(input.frozen),
      },
      finalizers: [MACHINE_SET_FINALIZER],
      ownerReferences: [ownerReference(deployment, { controller: true })],
    },
    spec: {
      clusterName: spec.clusterName,
      replicas: input.replicas,
      deletion: spec.deletion,
      machineNaming: spec.machineNaming,
      selector: existing?.spec.selector ?? {
        ...spec.selector,
        matchLabels: { ...spec.selector.matchLabels, [TEMPLATE_HASH_LABEL]: identity.hash },
      },
      template: {
        metadata: { labels, annotations: templateAnnotations },
        spec: {
          clusterName: spec.clusterName,
          bootstrap: kept.bootstrap,
          infrastructureRef: kept.infrastructureRef,
          version: kept.version,
          failureDomain: kept.failureDomain,
          minReadySeconds: own.minReadySeconds,
          readinessGates: own.readinessGates,
          deletion: own.deletion,
          taints: own.taints,
        },
      },
    },
  };
}

function handedOn(deployment: MachineDeployment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key)),
  );
}

/** Returns the revision of the current set: unchanged while it is the newest, incremented when a set becomes current (again). */
export function currentRevision(current: MachineSet | undefined, sets: readonly MachineSet[]): number {
  const newest = Math.max(0, ...sets.filter((set) => set !== current).map(revisionOf));
  const own = current === undefined ? 0 : revisionOf(current);
  return own > newest ? own : newest + 1;
}

/** Returns maxSurge and maxUnavailable as numbers, rounded like upstream; at least one is positive. */
export function rolloutLimits(deployment: MachineDeployment): { maxSurge: number; maxUnavailable: number } {
  const rolling = deployment.spec.rollout?.strategy?.rollingUpdate;
  const desired = deployment.spec.replicas ?? 0;
  const resolve = (value: number | string | undefined, fallback: number, up: boolean): number => {
    try {
      return Math.max(0, scaledValue(value ?? fallback, desired, up));
    } catch {
      // Neither number nor percentage: admission rejects it, and an existing one counts as not set.
      return fallback;
    }
  };
  const maxSurge = resolve(rolling?.maxSurge, 1, true);
  const maxUnavailable = Math.min(resolve(rolling?.maxUnavailable, 0, false), desired);
  return maxSurge === 0 && maxUnavailable === 0 ? { maxSurge, maxUnavailable: 1 } : { maxSurge, maxUnavailable };
}
