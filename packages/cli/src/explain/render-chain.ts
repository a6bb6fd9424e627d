import { formatAge } from "@capstan/apimachinery";
import {
  type Assessment,
  activityText,
  type Cause,
  type Explanation,
  type ObjectNode,
  type ObjectState,
  stateText,
} from "@capstan/capi";

/** A chain of causes, one paragraph for each, indented below what it explains. */
function renderChain(chain: readonly Cause[], nowMs: number): string {
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

/** Formats the state of an object in one line: `Cluster/demo is Degraded for 9s`. */
export function renderState(
  { kind, name }: Pick<ObjectNode, "kind" | "name">,
  state: ObjectState,
  nowMs: number,
): string {
  const known = state.state !== "Healthy" && state.since !== "";
  const since = known ? ` for ${formatAge(Math.max(0, nowMs - Date.parse(state.since)))}` : "";
  return `${kind}/${name} is ${stateText(state)}${since}\n`;
}

/** Formats the state of an object and every cause: the chain of objects, the root cause, and what to do. */
export function renderAssessment(node: ObjectNode, { state, causes, activities }: Assessment, nowMs: number): string {
  const parts = causes.map((cause, at) => renderCause(cause, at, causes.length, nowMs));
  const doing = activities.map((each) => `${each.kind}/${each.name}: ${activityText(each, nowMs)}\n`);
  return [[renderState(node, state, nowMs), ...doing].join(""), ...parts].join("\n");
}

function renderCause(cause: Explanation, at: number, count: number, nowMs: number): string {
  const steps = cause.steps.map((step, index) => `  ${index + 1}. ${step}`);
  const label = count === 1 ? "Cause" : `Cause ${at + 1} of ${count}`;
  return [
    renderChain(cause.chain, nowMs),
    `${label}: ${cause.cause}`,
    ...(cause.alike === undefined ? [] : [alikeLine(cause.alike)]),
    ...(steps.length === 0 ? [] : ["What to do:", ...steps]),
    "",
  ].join("\n");
}

const NAMES_SHOWN = 3;

function alikeLine({ names, count }: NonNullable<Explanation["alike"]>): string {
  const more = count > NAMES_SHOWN ? `, ... (${count - NAMES_SHOWN} more)` : "";
  return `The same: ${names.slice(0, NAMES_SHOWN).join(", ")}${more}`;
}
