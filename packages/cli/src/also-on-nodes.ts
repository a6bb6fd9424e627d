import { compileRe2 } from "@capstan/apimachinery";
import type { ManagerOptions } from "@capstan/manager";
import { type CommandInput, usageError } from "./command.ts";

type AlsoOnNodes = NonNullable<ManagerOptions["alsoOnNodes"]>;

/** Which further labels and annotations of Machines go to their Nodes, by the options that upstream's manager has. */
export function alsoOnNodes(input: Pick<CommandInput, "lists">): AlsoOnNodes {
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
