import { compileRe2 } from "@capstan/apimachinery";
import type { ManagerOptions } from "@capstan/manager";
import { type CommandInput, usageError } from "../command.ts";

type NodeLabelSync = NonNullable<ManagerOptions["nodeLabelSync"]>;

/** Parses the patterns of Machine labels and annotations to sync to Nodes, given with the same flags as in upstream's manager. */
export function nodeLabelSync(input: Pick<CommandInput, "lists">): NodeLabelSync {
  return {
    labels: patterns(input, "additionalSyncMachineLabels", "--additional-sync-machine-labels"),
    annotations: patterns(input, "additionalSyncMachineAnnotations", "--additional-sync-machine-annotations"),
  };
}

function patterns({ lists }: Pick<CommandInput, "lists">, option: string, flag: string): readonly string[] {
  const given = lists[option] ?? [];
  for (const pattern of given) {
    const problem = compileRe2(pattern);
    if (typeof problem === "string") throw usageError(`${flag} ${pattern}: ${problem}`);
  }
  return given;
}
