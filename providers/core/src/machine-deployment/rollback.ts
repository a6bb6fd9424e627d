import { deepCopy } from "@capstan/apimachinery";
import type { MachineDeployment, MachineSet } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { revisionOf } from "./revision.ts";

/**
 * Annotation on a MachineDeployment that restores the template of an earlier revision: its number, or "" or "0" for the previous one. The
 * controller removes it in the same update.
 */
export const ROLLBACK_ANNOTATION = "capstan.dev/rollback-to";
/** Annotation on a MachineDeployment: how many old revisions are kept for rollbacks. Upstream keeps none. */
export const HISTORY_LIMIT_ANNOTATION = "capstan.dev/revision-history-limit";
const DEFAULT_HISTORY_LIMIT = 3;

/** Returns how many old MachineSets without replicas are kept. */
export function historyLimit(deployment: MachineDeployment): number {
  const limit = Number(deployment.metadata.annotations?.[HISTORY_LIMIT_ANNOTATION] ?? DEFAULT_HISTORY_LIMIT);
  return Number.isSafeInteger(limit) && limit >= 0 ? limit : DEFAULT_HISTORY_LIMIT;
}

/** Returns the MachineSet of the requested revision, or undefined if there is none. */
export function rollbackTarget(
  request: string,
  sets: readonly MachineSet[],
  current: MachineSet | undefined,
): MachineSet | undefined {
  const old = sets.filter((set) => set !== current && set.metadata.deletionTimestamp === undefined);
  if (request === "" || request === "0") return old.sort((a, b) => revisionOf(b) - revisionOf(a))[0];
  return sets.find((set) => String(revisionOf(set)) === request);
}

/** Performs the rollback that the annotation requests; returns true if it was set and the deployment was updated. */
export async function rollBack(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  current: MachineSet | undefined,
  context: ReconcileContext,
): Promise<boolean> {
  const request = deployment.metadata.annotations?.[ROLLBACK_ANNOTATION];
  if (request === undefined) return false;
  const target = rollbackTarget(request, sets, current);
  const annotations = { [ROLLBACK_ANNOTATION]: null };
  if (target === undefined || target === current) {
    const known = sets
      .map(revisionOf)
      .filter((revision) => revision > 0)
      .sort((a, b) => a - b);
    const note = `There is no revision "${request}" to roll back to; known revisions: ${known.join(", ") || "none"}`;
    context.recorder.event(deployment, "Warning", "RollbackRevisionNotFound", "Rollback", note);
    await context.client.patch(deployment, { metadata: { annotations } });
    return true;
  }
  const { bootstrap, infrastructureRef, version, failureDomain } = deepCopy(target.spec.template.spec);
  // The whole bootstrap is replaced: a JSON merge would leave fields of the newer revision in it.
  await context.client.patch(deployment, [
    { op: "test", path: "/metadata/resourceVersion", value: deployment.metadata.resourceVersion },
    { op: "remove", path: `/metadata/annotations/${ROLLBACK_ANNOTATION.replace("/", "~1")}` },
    ...replaceAll("/spec/template/spec", deployment.spec.template.spec, {
      bootstrap,
      infrastructureRef,
      version,
      failureDomain,
    }),
  ]);
  const note = `Rolled back to revision ${revisionOf(target)} (MachineSet ${target.metadata.name})`;
  context.recorder.event(deployment, "Normal", "Rollback", "Rollback", note);
  return true;
}

function replaceAll(path: string, have: object, wanted: Record<string, unknown>): object[] {
  return Object.entries(wanted).flatMap(([key, value]) => {
    if (value !== undefined) return [{ op: "add", path: `${path}/${key}`, value }];
    return Object.hasOwn(have, key) ? [{ op: "remove", path: `${path}/${key}` }] : [];
  });
}
