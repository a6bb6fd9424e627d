import { type Condition, formatAge } from "@capstan/apimachinery";
import { activityOf, activityText, isTroubled, summaryOf } from "@capstan/capi";
import type { TreeNode } from "./tree.ts";
import type { TreeObject } from "./tree-object.ts";

/** Column headers of `capstan describe cluster`. */
export const DESCRIBE_HEADERS = [
  "NAME",
  "REPLICAS",
  "AVAILABLE",
  "READY",
  "UP TO DATE",
  "STATUS",
  "REASON",
  "SINCE",
  "MESSAGE",
];

/** How much of a tree `capstan describe cluster` shows. */
export interface DescribeOptions {
  /** Show the parts of healthy machines too. */
  echo?: boolean;
  /** Group identical machines into one line. */
  grouping?: boolean;
  /** All conditions of these: `all`, kinds, or `Kind/name`. */
  showConditions?: readonly string[];
}

/** Builds the tree that `describe` prints: workers under one heading, and the parts of a machine only when they have a problem. */
export function describeTree(node: TreeObject, nowMs: number, options: DescribeOptions = {}): TreeNode {
  const shown = node.children.filter((child) => !isMachinePart(child) || options.echo === true || isTroubled(child));
  const workers = shown.filter((child) => child.role === "Workers");
  const others = shown.filter((child) => child.role !== "Workers");
  const conditions = showsConditions(node, options) ? conditionNodes(node, nowMs) : [];
  const below = (children: TreeObject[]): TreeNode[] => {
    const { groups, rest } =
      options.grouping === false || options.echo === true ? { groups: [], rest: children } : group(children, nowMs);
    return [...rest.map((child) => describeTree(child, nowMs, options)), ...groups];
  };
  return {
    name: label(node),
    cells: [...countCells(node), ...(conditions.length > 0 ? ["", "", "", ""] : stateCells(node, nowMs))],
    details: conditions,
    children: [
      ...below(others),
      ...(workers.length === 0 ? [] : [{ name: "Workers", cells: [], children: below(workers) }]),
    ],
  };
}

function isMachinePart(node: TreeObject): boolean {
  return node.role === "MachineInfrastructure" || node.role === "BootstrapConfig" || node.role === "Host";
}

function label(node: TreeObject): string {
  const own = `${node.kind}/${node.name}`;
  const named = node.role === undefined || node.role === "Workers" ? own : `${node.role} - ${own}`;
  return node.deleting ? `!! DELETED !! ${named}` : named;
}

function countCells({ counts }: TreeObject): string[] {
  if (counts === undefined) return ["", "", "", ""];
  return [counts.replicas, String(counts.available), String(counts.ready), String(counts.upToDate)];
}

/** The condition that summarizes an object in one line: Ready for a Machine, as its counters show the rest. */
function headline(node: TreeObject): Condition | undefined {
  const deleting = node.deleting
    ? node.conditions.find(({ type, status }) => type === "Deleting" && status === "True")
    : undefined;
  const ready = node.kind === "Machine" ? node.conditions.find(({ type }) => type === "Ready") : undefined;
  return deleting ?? ready ?? summaryOf(node);
}

function stateCells(node: TreeObject, nowMs: number): string[] {
  const summary = headline(node);
  if (summary === undefined) return node.conditions.length > 0 ? ["", "", "", ""] : ["-", "", "", "no condition yet"];
  const cells = conditionCells(summary, nowMs);
  const doing = (activityOf(node) ?? []).map((activity) => activityText(activity, nowMs));
  return cells.map((cell, at) =>
    at === cells.length - 1 ? [...doing, cell].filter((line) => line !== "").join("\n") : cell,
  );
}

function conditionCells(condition: Condition, nowMs: number): string[] {
  const since = formatAge(nowMs - Date.parse(condition.lastTransitionTime));
  const quiet = condition.status === "True" && condition.type !== "Deleting" && condition.type !== "Paused";
  return [condition.status, condition.reason, since, quiet ? "" : condition.message];
}

function showsConditions(node: TreeObject, { showConditions = [] }: DescribeOptions): boolean {
  const names = ["all", node.kind.toLowerCase(), `${node.kind}/${node.name}`.toLowerCase()];
  return showConditions.some((wanted) => names.includes(wanted.trim().toLowerCase()));
}

function conditionNodes(node: TreeObject, nowMs: number): TreeNode[] {
  return node.conditions.map((condition) => ({
    name: condition.type,
    cells: ["", "", "", "", ...conditionCells(condition, nowMs)],
    children: [],
  }));
}

/** Machines with the same state become one line, unless parts of theirs are shown below. */
function group(children: TreeObject[], nowMs: number): { groups: TreeNode[]; rest: TreeObject[] } {
  const alike = new Map<string, TreeObject[]>();
  const rest: TreeObject[] = [];
  for (const child of children) {
    if (child.kind !== "Machine" || child.deleting) {
      rest.push(child);
      continue;
    }
    const state = headline(child);
    const key = `${state?.status}/${state?.reason}/${state?.status === "True" ? "" : state?.message}`;
    alike.set(key, [...(alike.get(key) ?? []), child]);
  }
  const groups: TreeNode[] = [];
  for (const members of alike.values()) {
    const [first] = members;
    if (first === undefined) continue;
    if (members.length === 1) rest.push(first);
    else groups.push(groupNode(members, nowMs));
  }
  return { groups, rest };
}

const NAMES_SHOWN = 3;

function groupNode(members: TreeObject[], nowMs: number): TreeNode {
  const sum = (read: (member: TreeObject) => number): string =>
    String(members.reduce((total, member) => total + read(member), 0));
  const names = members.map(({ name }) => name);
  const more = names.length > NAMES_SHOWN ? ", ..." : "";
  const latest = members.toSorted((a, b) => transition(b) - transition(a))[0];
  const [status = "-", reason = "", since = "", message = ""] = latest === undefined ? [] : stateCells(latest, nowMs);
  const see = `See ${names.slice(0, NAMES_SHOWN).join(", ")}${more}`;
  return {
    name: `${members.length} Machines...`,
    cells: [
      "",
      sum((member) => member.counts?.available ?? 0),
      sum((member) => member.counts?.ready ?? 0),
      sum((member) => member.counts?.upToDate ?? 0),
      status,
      reason,
      since,
      message === "" ? see : `${message}\n${see}`,
    ],
    children: [],
  };
}

function transition(node: TreeObject): number {
  const time = headline(node)?.lastTransitionTime;
  return time === undefined ? 0 : Date.parse(time);
}
