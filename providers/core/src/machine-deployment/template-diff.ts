import { deepEqual } from "@capstan/apimachinery";
import type { MachineDeployment } from "@capstan/capi";

type Template = MachineDeployment["spec"]["template"];

/** Returns the part of a template that cannot change in place; a difference requires new Machines. */
export function rolloutFields(template: Template): object {
  const { version, failureDomain, bootstrap, infrastructureRef } = template.spec;
  return {
    version,
    failureDomain,
    bootstrap,
    infrastructureRef,
  };
}

/** Reports whether two templates differ only in fields that can change in place. */
export function sameRollout(a: Template, b: Template): boolean {
  return deepEqual(rolloutFields(a), rolloutFields(b));
}

/** Describes the differences, one sentence each, for UpToDate and RollingOut. */
export function rolloutDifferences(current: Template, wanted: Template): string[] {
  const differences: string[] = [];
  const a = current.spec;
  const b = wanted.spec;
  if (a.version !== b.version) differences.push(`Version ${a.version ?? ""}, ${b.version ?? ""} required`);
  if (a.failureDomain !== b.failureDomain)
    differences.push(`Failure domain ${a.failureDomain ?? ""}, ${b.failureDomain ?? ""} required`);
  if (!deepEqual(a.bootstrap, b.bootstrap))
    differences.push(
      a.bootstrap.configRef?.kind !== undefined && a.bootstrap.configRef.kind === b.bootstrap.configRef?.kind
        ? `${a.bootstrap.configRef.kind} is not up-to-date`
        : "spec.bootstrap is not up-to-date",
    );
  if (!deepEqual(a.infrastructureRef, b.infrastructureRef))
    differences.push(
      a.infrastructureRef.kind === b.infrastructureRef.kind
        ? `${a.infrastructureRef.kind} is not up-to-date`
        : `${a.infrastructureRef.kind}, ${b.infrastructureRef.kind} required`,
    );
  return differences;
}

/** Returns the milliseconds until `rollout.after`: 0 if it has passed, undefined if it is not set. */
export function untilRollout(deployment: MachineDeployment, nowMs: number): number | undefined {
  const after = deployment.spec.rollout?.after;
  if (after === undefined) return undefined;
  const at = Date.parse(after);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** Reports whether an object was created before `rollout.after` and that time has passed. */
export function isExpired(deployment: MachineDeployment, createdAt: string | undefined, nowMs: number): boolean {
  const after = deployment.spec.rollout?.after;
  if (after === undefined || untilRollout(deployment, nowMs) !== 0) return false;
  return createdAt !== undefined && Date.parse(createdAt) < Date.parse(after);
}
