import { type AssessmentContext, assess } from "@capstan/capi";
import type { CommandIo } from "../command.ts";
import type { TreeObject } from "../tree/tree-object.ts";
import { renderAssessment } from "./render-chain.ts";

/** Prints to standard error what a wait that timed out is waiting for. */
export function printWaitReason(io: CommandIo, tree: TreeObject | undefined, context: AssessmentContext): void {
  if (tree === undefined) return;
  const found = assess(tree, context);
  if (found.causes.length > 0) io.err(renderAssessment(tree, found, context.nowMs));
}
