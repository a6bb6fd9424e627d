import { type ApiTarget, openTarget } from "./api-target.ts";
import { type CommandInput, UserError } from "./command.ts";
import { namespaceOf } from "./options.ts";

/** Names of a command about one cluster. */
export function clusterNames(input: CommandInput): { namespace: string; name: string } {
  return { namespace: namespaceOf(input), name: input.arguments[0] ?? "" };
}

/** Runs `use` with an open connection and closes it again. From then on `namespaceOf` knows the kubeconfig's own namespace. */
export async function withTarget<T>(input: CommandInput, use: (target: ApiTarget) => Promise<T>): Promise<T> {
  const target = await openTarget(input);
  input.options["namespace"] ??= target.namespace;
  try {
    return await use(target);
  } finally {
    await target.close();
  }
}

/** The error for a cluster that is not there. */
export function noSuchCluster(target: ApiTarget, namespace: string, name: string): UserError {
  return new UserError(`cluster ${namespace}/${name} not found in ${target.description}`, {
    hint: "list all with: capstan get clusters -A",
  });
}
