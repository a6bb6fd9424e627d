import { clockOf } from "../api-target.ts";
import type { CommandInput } from "../command.ts";
import { DESCRIBE_HEADERS, describeTree } from "../describe-tree.ts";
import { renderTree } from "../tree.ts";
import { withCluster } from "../with-cluster.ts";

export function runDescribeCluster(input: CommandInput): Promise<number> {
  return withCluster(input, (tree) => {
    input.io.out(`${renderTree(DESCRIBE_HEADERS, [describeTree(tree, clockOf(input).now())])}\n`);
    return Promise.resolve(0);
  });
}
