import { deepEqual } from "@capstan/apimachinery";
import type { MachineDeployment } from "@capstan/capi";

type Template = MachineDeployment["spec"]["template"];

/** The part of a template that Machines cannot change in place: a difference means new Machines. */
export function rolloutFields(template: Template): object {
  const { version, failureDomain, bootstrap, infrastructureRef } = template.spec;
  return {
    ...(version === undefined ? {} : { version }),
    ...(failureDomain === undefined ? {} : { failureDomain }),
    bootstrap,
    infrastructureRef,
  };
}

/** Whether Machines of one template are as good as those of the other. */
export function sameRollout(a: Template, b: Template): boolean {
  return deepEqual(rolloutFields(a), rolloutFields(b));
}

/** What differs, one sentence each, as it is shown in UpToDate and RollingOut. */
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

/** Milliseconds until `rollout.after`: 0 when it has passed, undefined when there is none. */
export function untilRollout(deployment: MachineDeployment, nowMs: number): number | undefined {
  const after = deployment.spec.rollout?.after;
  if (after === undefined) return undefined;
  const at = Date.parse(after);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** Whether something made at this time is too old: `rollout.after` has passed and it was made before. */
export function isExpired(deployment: MachineDeployment, createdAt: string | undefined, nowMs: number): boolean {
  const after = deployment.spec.rollout?.after;
  if (after === undefined || untilRollout(deployment, nowMs) !== 0) return false;
  return createdAt !== undefined && Date.parse(createdAt) < Date.parse(after);
}
