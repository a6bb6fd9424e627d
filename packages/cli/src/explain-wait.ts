import { assess } from "@capstan/capi";
import type { CommandIo } from "./command.ts";
import { renderAssessment } from "./render-chain.ts";
import type { TreeObject } from "./tree-object.ts";

/** Prints to standard error what a wait that timed out is waiting for. */
export function explainWait(io: CommandIo, tree: TreeObject | undefined, namespace: string, nowMs: number): void {
  if (tree === undefined) return;
  const found = assess(tree, { nowMs, namespace });
  if (found.causes.length > 0) io.err(renderAssessment(tree, found, nowMs));
}
