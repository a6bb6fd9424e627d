import { assess, CLUSTER_NAME_LABEL, field, type ObjectNode } from "@capstan/capi";
import { type CommandInput, UserError } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { noSuchCluster, withTarget } from "../context/with-cluster.ts";
import { renderAssessment } from "../explain/render-chain.ts";
import { findType } from "../kinds/resource-types.ts";
import { namespaceOf } from "../options.ts";
import { providersOf } from "../providers.ts";
import { readClusterTree, type TreeOptions } from "../tree/cluster-tree.ts";
import { toNode } from "../tree/tree-object.ts";

/** Runs `capstan why`: prints the state of a cluster or one of its objects, every cause of it, and what to do. */
export function runWhy(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const namespace = namespaceOf(input);
    const options = { nowMs: clockOf(input).now(), providers: await providersOf(input) };
    const { node, cluster } = await findNode(input, target, namespace, options);
    input.io.out(renderAssessment(node, assess(node, { ...options, namespace, cluster }), options.nowMs));
    return 0;
  });
}

/** The object that the arguments name, with its parts, and the cluster it belongs to. */
async function findNode(
  input: CommandInput,
  target: ApiTarget,
  namespace: string,
  options: TreeOptions,
): Promise<{ node: ObjectNode; cluster: string }> {
  const [first = "", second] = input.arguments;
  const [word, name] = second === undefined ? splitAtSlash(first) : [first, second];
  const read = (cluster: string): ReturnType<typeof readClusterTree> =>
    readClusterTree(target.client, namespace, cluster, options);
  const type = word === undefined ? undefined : await findType(target.client, word);
  if (type === undefined || type.kind === "Cluster") {
    const tree = await read(name);
    if (tree === undefined) throw noSuchCluster(target, namespace, name);
    return { node: tree, cluster: name };
  }
  const object = await target.client.get(type, type.namespaced ? { namespace, name } : { name });
  if (object === undefined)
    throw new UserError(`${type.kind} ${namespace}/${name} not found in ${target.description}`, {
      hint: `list all with: capstan get ${type.plural} -A`,
    });
  const named = field(object, "spec", "clusterName") ?? object.metadata.labels?.[CLUSTER_NAME_LABEL];
  const cluster = typeof named === "string" ? named : "";
  const tree = cluster === "" ? undefined : await read(cluster);
  const inTree = tree === undefined ? undefined : findPart(tree, type.kind, name);
  return {
    node: inTree ?? toNode({ ...object, kind: type.kind }, options, []),
    cluster: cluster === "" ? name : cluster,
  };
}

function splitAtSlash(text: string): [word: string | undefined, name: string] {
  const at = text.indexOf("/");
  return at < 0 ? [undefined, text] : [text.slice(0, at), text.slice(at + 1)];
}

function findPart(node: ObjectNode, kind: string, name: string): ObjectNode | undefined {
  if (node.kind === kind && node.name === name) return node;
  for (const child of node.children) {
    const found = findPart(child, kind, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
