import { isReason } from "@capstan/apimachinery";
import { NoMatchError } from "@capstan/runtime";
import { type CommandInput, UserError } from "../command.ts";
import { namespaceOf } from "../options.ts";
import { type ApiTarget, openTarget } from "./api-target.ts";

/** Returns namespace and name of the cluster that a command is about. */
export function clusterNames(input: CommandInput): { namespace: string; name: string } {
  return { namespace: namespaceOf(input), name: input.arguments[0] ?? "" };
}

/** Runs `use` with an open connection to the management API and closes it. Within it, `namespaceOf` honours the kubeconfig's namespace. */
export async function withTarget<T>(input: CommandInput, use: (target: ApiTarget) => Promise<T>): Promise<T> {
  const target = await openTarget(input);
  input.options["namespace"] ??= target.namespace;
  try {
    return await use(target);
  } catch (error) {
    throw (await isForeign(target, error)) ? notManagement(target) : error;
  } finally {
    await target.close();
  }
}

/** Whether the requested object is missing because the API is not a management cluster. */
async function isForeign({ client }: ApiTarget, error: unknown): Promise<boolean> {
  const missing = error instanceof UserError || error instanceof NoMatchError || isReason(error, "NotFound");
  if (!missing) return false;
  for (const version of ["v1beta2", "v1beta1"]) {
    try {
      await client.kindOf({ apiVersion: `cluster.x-k8s.io/${version}`, kind: "Cluster" });
      return false;
    } catch (failure) {
      // The first error is more useful than one about this check.
      if (!(failure instanceof NoMatchError)) return false;
    }
  }
  return true;
}

function notManagement({ description }: ApiTarget): UserError {
  return new UserError(`${description} is not a management cluster: it does not serve cluster.x-k8s.io`, {
    hint: "KUBECONFIG or --kubeconfig must name the management plane; see which one runs here: capstan status",
  });
}

/** Creates the error for a cluster that does not exist. */
export function noSuchCluster(target: ApiTarget, namespace: string, name: string): UserError {
  return new UserError(`cluster ${namespace}/${name} not found in ${target.description}`, {
    hint: "list all with: capstan get clusters -A",
  });
}
