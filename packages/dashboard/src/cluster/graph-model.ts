import { summaryOf } from "@capstan/capi";
import { type Health, healthOf, type TreeNode } from "./tree.ts";

/** A box of the picture: an object, or several alike. */
export interface GraphNode {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly provider?: string;
  readonly health: Health;
  readonly detail: string;
  /** How many objects it stands for. */
  readonly count: number;
}

/** A line from a whole to its part. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
}

/** The picture of a cluster, before anybody decided where things go. */
export interface GraphModel {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** So many equal healthy machines are drawn one by one; more become one box, so that trouble stands out. */
const MAX_ALIKE = 6;
/** Parts of a machine that are only worth a box when something is wrong with them. */
const DETAIL = /^KubeadmConfig$/;

/** What is drawn of a tree: healthy crowds as one box, bootstrap data only when it is in trouble. */
export function graphModel(root: TreeNode): GraphModel {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const visit = (node: TreeNode): void => {
    nodes.push(boxOf(node));
    const shown = node.children.filter((child) => !DETAIL.test(child.kind) || healthOf(child) === "bad");
    const healthy = shown.filter((child) => child.kind === "Machine" && isWell(child));
    const crowd = healthy.length > MAX_ALIKE ? healthy : [];
    for (const child of shown) {
      if (crowd.includes(child)) continue;
      edges.push({ from: node.item.id, to: child.item.id });
      visit(child);
    }
    const [first] = crowd;
    if (first === undefined) return;
    const id = `${node.item.id}/healthy`;
    const provider = first.children.find((part) => part.item.provider !== undefined)?.item.provider;
    edges.push({ from: node.item.id, to: id });
    nodes.push({
      id,
      kind: "Machine",
      title: `${crowd.length} machines`,
      health: "good",
      detail: "all ready",
      count: crowd.length,
      ...(provider === undefined ? {} : { provider }),
    });
  };
  visit(root);
  return { nodes, edges };
}

function isWell(node: TreeNode): boolean {
  return healthOf(node) === "good" && node.children.every(isWell);
}

function boxOf(node: TreeNode): GraphNode {
  const { item } = node;
  const health = healthOf(node);
  return {
    id: item.id,
    kind: item.kind,
    title: item.name,
    health,
    detail: detailOf(node, health),
    count: 1,
    ...(item.provider === undefined ? {} : { provider: item.provider }),
  };
}

function detailOf(node: TreeNode, health: Health): string {
  const { facts } = node.item;
  if (node.deleting) return "deleting";
  if (health !== "good") return summaryOf(node)?.reason ?? "no condition yet";
  if (facts.desired !== undefined) return `${facts.available ?? facts.ready ?? 0} of ${facts.desired}`;
  return facts.node ?? facts.version ?? facts.endpoint ?? "";
}
