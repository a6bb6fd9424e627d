import { why } from "@capstan/capi";
import type { CommandIo } from "./command.ts";
import { renderChain } from "./render-chain.ts";
import type { TreeObject } from "./tree-object.ts";

/** Says on standard error what a wait that took too long waits for. */
export function explainWait(io: CommandIo, tree: TreeObject | undefined, nowMs: number): void {
  const chain = tree === undefined ? [] : why(tree);
  if (chain.length > 0) io.err(`It waits for:\n${renderChain(chain, nowMs)}`);
}
