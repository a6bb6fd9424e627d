import { isReason, type Unstructured } from "@capstan/apimachinery";
import { type ClusterKey, type WorkloadCalls, WorkloadUnavailable } from "@capstan/capi";
import { type Client, NoMatchError } from "@capstan/runtime";

/** Under this name fields of reconciled objects are owned in workload clusters. */
const FIELD_MANAGER = "capstan-cluster-resource-set";
const MAX_PROBLEMS = 3;

/** Where and with which strategy objects are applied. */
export interface ApplyTarget {
  cluster: ClusterKey;
  client: Client;
  calls: WorkloadCalls;
  strategy: "ApplyOnce" | "Reconcile";
}

/**
 * Applies all objects to a workload cluster, even if some fail, and returns what failed. ApplyOnce only creates missing objects; Reconcile
 * uses server-side apply, which prunes fields that left the manifest and keeps fields of other managers.
 */
export async function applyObjects(objects: readonly Unstructured[], target: ApplyTarget): Promise<string | undefined> {
  const problems: string[] = [];
  for (const object of objects) {
    try {
      const problem = await target.calls.run(target.cluster, (signal) => bring(object, target, signal));
      if (problem !== undefined) problems.push(`${object.kind} ${nameOf(object)}: ${problem}`);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (error instanceof WorkloadUnavailable) return `the workload cluster does not respond: ${text}`;
      problems.push(`${object.kind} ${nameOf(object)}: ${text}`);
    }
  }
  if (problems.length === 0) return undefined;
  const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : "";
  return `${problems.slice(0, MAX_PROBLEMS).join("; ")}${more}`;
}

/** Returns why an object cannot be applied, as far as it is known without a request; errors of the server are thrown. */
async function bring(
  object: Unstructured,
  { client, strategy }: ApplyTarget,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const kind = await client.kindOf(object);
    if (kind.namespaced && (object.metadata.namespace ?? "") === "") return "it has no metadata.namespace; set one";
  } catch (error) {
    if (error instanceof NoMatchError) return error.message;
    throw error;
  }
  if (strategy === "Reconcile") {
    await client.apply(object, { fieldManager: FIELD_MANAGER }, signal);
    return undefined;
  }
  try {
    await client.create(object, { fieldManager: FIELD_MANAGER }, signal);
  } catch (error) {
    if (!isReason(error, "AlreadyExists")) throw error;
  }
  return undefined;
}

function nameOf(object: Unstructured): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? (name ?? "") : `${namespace}/${name}`;
}
