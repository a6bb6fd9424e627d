import { isReason } from "@capstan/apimachinery";
import type { MapFunction, ReconcileContext } from "@capstan/runtime";
import type { ContractObject } from "./builtin-kinds.ts";
import { type ResolvedKind, resolveKind } from "./resolve-kind.ts";
import type { ContractReference } from "./types.ts";

/**
 * Lets the controller watch a kind, in the version its CRD offers for the contract. Never throws because of what a user wrote or
 * did not install: a kind that cannot be watched is a problem to report. Once it can be, its objects trigger a reconcile.
 */
export async function watchKind(
  context: ReconcileContext,
  reference: Pick<ContractReference, "apiGroup" | "kind">,
  map: MapFunction<ContractObject>,
): Promise<ResolvedKind> {
  const resolved = resolveKind(context.cache, reference);
  if ("problem" in resolved) return resolved;
  try {
    await context.watch(resolved.kind, map);
    return resolved;
  } catch (error) {
    if (isReason(error, "Forbidden"))
      return {
        problem:
          `the manager has no permission to read ${resolved.kind.plural}.${resolved.kind.group}: its provider must install a ClusterRole for ` +
          "them with the label cluster.x-k8s.io/aggregate-to-manager=true",
      };
    // A kind whose CRD has just appeared or is being removed; the CRD's next change triggers a reconcile.
    if (!isReason(error, "NotFound", "MethodNotAllowed")) throw error;
    return { problem: `cannot watch ${reference.kind}: ${error instanceof Error ? error.message : String(error)}` };
  }
}
