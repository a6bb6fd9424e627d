import { why as causesOf } from "@capstan/capi";
import { clockOf } from "../api-target.ts";
import type { CommandInput } from "../command.ts";
import { renderChain } from "../render-chain.ts";
import { withCluster } from "../with-cluster.ts";

export function runWhy(input: CommandInput): Promise<number> {
  return withCluster(input, (tree) => {
    const chain = causesOf(tree);
    input.io.out(
      chain.length === 0 ? `${tree.kind}/${tree.name} is available\n` : renderChain(chain, clockOf(input).now()),
    );
    return Promise.resolve(0);
  });
}
