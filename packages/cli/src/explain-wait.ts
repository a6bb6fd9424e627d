import { explain } from "@capstan/capi";
import type { CommandIo } from "./command.ts";
import { renderExplanation } from "./render-chain.ts";
import type { TreeObject } from "./tree-object.ts";

/** Says on standard error what a wait that took too long waits for. */
export function explainWait(io: CommandIo, tree: TreeObject | undefined, namespace: string, nowMs: number): void {
  const found = tree === undefined ? undefined : explain(tree, namespace);
  if (found !== undefined) io.err(`It waits for:\n${renderExplanation(found, nowMs)}`);
}
