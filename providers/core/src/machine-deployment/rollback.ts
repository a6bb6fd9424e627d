import { deepCopy } from "@capstan/apimachinery";
import type { MachineDeployment, MachineSet } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { revisionOf } from "./revision.ts";

/**
 * Set on a MachineDeployment to go back to an earlier revision: its number, or "" or "0" for the one before the current. The
 * template of that revision becomes the deployment's, and the annotation is removed in the same write.
 */
export const ROLLBACK_ANNOTATION = "capstan.dev/rollback-to";
/** How many old revisions are kept to go back to; upstream keeps none. */
export const HISTORY_LIMIT_ANNOTATION = "capstan.dev/revision-history-limit";
const DEFAULT_HISTORY_LIMIT = 3;

/** How many old MachineSets without replicas stay. */
export function historyLimit(deployment: MachineDeployment): number {
  const limit = Number(deployment.metadata.annotations?.[HISTORY_LIMIT_ANNOTATION] ?? DEFAULT_HISTORY_LIMIT);
  return Number.isSafeInteger(limit) && limit >= 0 ? limit : DEFAULT_HISTORY_LIMIT;
}

/** The set a rollback leads to, or undefined when there is none of that revision. */
export function rollbackTarget(
  request: string,
  sets: readonly MachineSet[],
  current: MachineSet | undefined,
): MachineSet | undefined {
  const old = sets.filter((set) => set !== current && set.metadata.deletionTimestamp === undefined);
  if (request === "" || request === "0") return old.sort((a, b) => revisionOf(b) - revisionOf(a))[0];
  return sets.find((set) => String(revisionOf(set)) === request);
}

/** Obeys the annotation; true when it was there and the deployment has been written. */
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
