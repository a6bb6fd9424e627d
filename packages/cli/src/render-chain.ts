import { formatAge } from "@capstan/apimachinery";
import type { Cause, Explanation } from "@capstan/capi";

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

/** The chain, then its root in plain words and what to do. */
export function renderExplanation(explanation: Explanation, nowMs: number): string {
  const steps = explanation.steps.map((step, at) => `  ${at + 1}. ${step}`);
  return [
    renderChain(explanation.chain, nowMs),
    `Cause: ${explanation.cause}`,
    ...(steps.length === 0 ? [] : ["What to do:", ...steps]),
    "",
  ].join("\n");
}
