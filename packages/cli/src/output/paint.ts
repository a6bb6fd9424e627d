import { styleText } from "node:util";
import type { PaintCell } from "../tree/tree.ts";

const STATUS_COLORS = { True: "green", False: "red", Unknown: "yellow" } as const;

/** Returns the colours of `describe`, like clusterctl's; no colours unless enabled. */
export function treeColors(enabled: boolean): PaintCell {
  if (!enabled) return (text) => text;
  return (text, header) => {
    if (header !== "STATUS" || !(text in STATUS_COLORS)) return text;
    // The caller knows whether colours are wanted; styleText must not ask the environment again.
    return styleText(STATUS_COLORS[text as keyof typeof STATUS_COLORS], text, { validateStream: false });
  };
}
