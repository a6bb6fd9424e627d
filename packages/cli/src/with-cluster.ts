import type { ObjectNode } from "@capstan/capi";
import { type ApiTarget, clockOf, openTarget } from "./api-target.ts";
import { readClusterTree } from "./cluster-tree.ts";
import { type CommandInput, UserError } from "./command.ts";
import { namespaceOf } from "./options.ts";

/** Names of a command about one cluster. */
export function clusterNames(input: CommandInput): { namespace: string; name: string } {
  return { namespace: namespaceOf(input), name: input.arguments[0] ?? "" };
}

/** Runs `use` with an open connection and closes it again. */
export async function withTarget<T>(input: CommandInput, use: (target: ApiTarget) => Promise<T>): Promise<T> {
  const target = await openTarget(input);
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

/** Runs `use` with the cluster's tree. */
export function withCluster(
  input: CommandInput,
  use: (tree: ObjectNode, target: ApiTarget) => Promise<number>,
): Promise<number> {
  const { namespace, name } = clusterNames(input);
  return withTarget(input, async (target) => {
    const tree = await readClusterTree(target.client, namespace, name, { nowMs: clockOf(input).now() });
    if (tree === undefined) throw noSuchCluster(target, namespace, name);
    return await use(tree, target);
  });
}
