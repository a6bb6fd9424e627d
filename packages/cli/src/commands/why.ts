import { formatAge, systemClock } from "@capstan/apimachinery";
import { type Cause, why as causesOf } from "@capstan/capi";
import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS, withCluster } from "./with-cluster.ts";

export const why: CommandDefinition = {
  name: "why",
  summary: "Tell why a cluster is not available: the chain of causes down to the root, and what to do",
  arguments: [CLUSTER_ARGUMENT],
  options: CLUSTER_OPTIONS,
  run: (input) =>
    withCluster(input, async (tree) => {
      const chain = causesOf(tree);
      if (chain.length === 0) {
        input.io.out(`${tree.kind}/${tree.name} is available\n`);
        return 0;
      }
      input.io.out(renderChain(chain, systemClock.now()));
      return 0;
    }),
};

/** One cause a paragraph, each indented below what it explains. */
export function renderChain(chain: readonly Cause[], nowMs: number): string {
  return chain
    .map((cause, depth) => {
      const lead = depth === 0 ? "" : `${"   ".repeat(depth - 1)}└─ `;
      const indent = " ".repeat(lead.length + 3);
      const since = formatAge(nowMs - Date.parse(cause.since));
      const head = `${lead}${cause.kind}/${cause.name}: ${cause.condition} is ${cause.status} for ${since} (${cause.reason})`;
      const text = cause.message.split("\n").filter((line) => line !== "");
      return [head, ...text.map((line) => `${indent}${line}`)].join("\n");
    })
    .join("\n")
    .concat("\n");
}
