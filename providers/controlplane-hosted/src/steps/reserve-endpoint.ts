import { validEndpoint } from "@capstan/capi";
import { requeueAfter } from "@capstan/runtime";
import type { RestoreSource } from "../backup/restore.ts";
import { exposeProblem } from "../network-problem.ts";
import type { OwnedScope } from "../scope.ts";
import { Outcome, RETRY_MS } from "./outcome.ts";
import { refuse } from "./refuse.ts";

/** Deletes the data of an earlier control plane of the same name. */
const LEFTOVER_ANNOTATION = "capstan.dev/leftover-data";

/** The address of the API, and the scope once the spec has it. */
export interface ReservedEndpoint {
  scope: OwnedScope;
  endpoint: { host: string; port: number };
}

/** Reserves the address of the API and writes it to the spec. A restored control plane keeps the address of its backup. */
export async function reserveEndpoint(
  scope: OwnedScope,
  source: RestoreSource | undefined,
): Promise<ReservedEndpoint | Outcome> {
  const { object, cluster, owner, placement } = scope;
  const fixed =
    validEndpoint(object.spec.controlPlaneEndpoint) ??
    validEndpoint(cluster.spec?.controlPlaneEndpoint) ??
    validEndpoint(source?.description.endpoint);
  // The tenant controls the Cluster and the backup too.
  const unfit = exposeProblem({ ...object.spec, ...(fixed === undefined ? {} : { controlPlaneEndpoint: fixed }) });
  if (unfit !== undefined) return await refuse(scope, { reason: "InvalidAddress", message: unfit });
  const reserved = await placement.reserve({
    owner,
    spec: object.spec,
    endpoint: fixed,
    objectUid: object.metadata.uid,
    discardLeftovers: object.metadata.annotations?.[LEFTOVER_ANNOTATION] === "discard",
  });
  if (reserved.type !== "reserved") {
    const { progress } = await refuse(scope, reserved);
    return new Outcome(scope, progress, requeueAfter(RETRY_MS));
  }
  return { scope: await withEndpoint(scope, reserved.endpoint), endpoint: reserved.endpoint };
}

/** Writes the endpoint once. Its event does not trigger another reconcile, unless something else changed as well. */
async function withEndpoint(scope: OwnedScope, endpoint: { host: string; port: number }): Promise<OwnedScope> {
  const { object, context } = scope;
  if (validEndpoint(object.spec.controlPlaneEndpoint) !== undefined) return scope;
  const written = await context.client.patch(object, { spec: { controlPlaneEndpoint: endpoint } });
  return written.metadata.generation === (object.metadata.generation ?? 0) + 1 ? { ...scope, current: written } : scope;
}
