import { formatAge } from "@capstan/apimachinery";
import { isTroubled, type ObjectNode, summaryOf } from "@capstan/capi";
import type { TreeNode } from "./tree.ts";

export const DESCRIBE_HEADERS = ["NAME", "STATUS", "REASON", "SINCE", "MESSAGE"];

/** The tree that `describe` prints: workers gathered under one heading, parts of machines only where something is wrong. */
export function describeTree(node: ObjectNode, nowMs: number): TreeNode {
  const workers = node.children.filter((child) => child.role === "Workers");
  const others = node.children.filter(
    (child) => child.role !== "Workers" && (!isMachinePart(child) || isTroubled(child)),
  );
  return {
    name: label(node),
    cells: cells(node, nowMs),
    children: [
      ...others.map((child) => describeTree(child, nowMs)),
      ...(workers.length === 0
        ? []
        : [{ name: "Workers", cells: [], children: workers.map((worker) => describeTree(worker, nowMs)) }]),
    ],
  };
}

function isMachinePart(node: ObjectNode): boolean {
  return node.role === "MachineInfrastructure" || node.role === "BootstrapConfig";
}

function label(node: ObjectNode): string {
  const own = `${node.kind}/${node.name}`;
  return node.role === undefined || node.role === "Workers" ? own : `${node.role} - ${own}`;
}

function cells(node: ObjectNode, nowMs: number): string[] {
  const summary = summaryOf(node);
  if (summary === undefined) return ["-", "", "", "no condition reported yet"];
  const since = formatAge(nowMs - Date.parse(summary.lastTransitionTime));
  return [
    `${summary.type}: ${summary.status}`,
    summary.reason,
    since,
    summary.status === "True" ? "" : summary.message,
  ];
}
