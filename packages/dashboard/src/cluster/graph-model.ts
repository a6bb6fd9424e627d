import type { Tone } from "../ui/tone.ts";
import { healthOf, type TreeNode } from "./tree.ts";

/** A box of the graph: one object, or several of the same kind and state. */
export interface GraphNode {
  readonly id: string;
  readonly kind: string;
  /** Its whole name. */
  readonly name: string;
  /** The part of the name that distinguishes it from its siblings. */
  readonly title: string;
  readonly provider?: string;
  readonly health: Tone;
  readonly detail: string;
  /** How many objects it stands for. */
  readonly count: number;
}

/** A line from an object to its part, coloured by the state of the part. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly health: Tone;
}

/** The graph of a cluster before layout. */
export interface GraphModel {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Up to this many healthy machines of a group are drawn one by one; more become one box, so that problems stand out. */
const MAX_ALIKE = 6;

/** Decides what the graph of a tree shows: many healthy machines as one box, and the parts of a machine only when they are unhealthy. */
export function graphModel(root: TreeNode): GraphModel {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const visit = (node: TreeNode, parent?: TreeNode): void => {
    nodes.push(boxOf(node, parent));
    const shown = node.children.flatMap((child) => shownOf(node, child));
    const healthy = shown.filter((child) => child.kind === "Machine" && isWell(child));
    const crowd = healthy.length > MAX_ALIKE ? healthy : [];
    for (const child of shown) {
      if (crowd.includes(child)) continue;
      edges.push({ from: node.item.id, to: child.item.id, health: healthOf(child) });
      visit(child, node);
    }
    const [first] = crowd;
    if (first === undefined) return;
    const id = `${node.item.id}/healthy`;
    const provider = providerOf(first);
    edges.push({ from: node.item.id, to: id, health: "good" });
    nodes.push({
      id,
      kind: "Machine",
      name: `${crowd.length} machines`,
      title: `${crowd.length} machines`,
      health: "good",
      detail: "all ready",
      count: crowd.length,
      provider,
    });
  };
  visit(root);
  return { nodes, edges };
}

function isWell(node: TreeNode): boolean {
  return healthOf(node) === "good" && node.children.every(isWell);
}

/** A Machine also represents its bootstrap and infrastructure objects while these are healthy; hosts are then attached to the Machine itself. */
function shownOf(parent: TreeNode, child: TreeNode): TreeNode[] {
  const half = parent.kind === "Machine" && (child.kind.endsWith("Config") || child.item.provider !== undefined);
  return half && healthOf(child) === "good" ? child.children : [child];
}

function providerOf(node: TreeNode): string | undefined {
  if (node.kind !== "Machine") return node.item.provider;
  return node.children.find((part) => part.item.provider !== undefined)?.item.provider;
}

function boxOf(node: TreeNode, parent: TreeNode | undefined): GraphNode {
  const { item } = node;
  const health = healthOf(node);
  const provider = providerOf(node);
  return {
    id: item.id,
    kind: item.kind,
    name: item.name,
    title: item.kind.endsWith("Machine") ? titleOf(item.name, parent?.item.name) : item.name,
    health,
    detail: detailOf(node, health),
    count: 1,
    provider,
  };
}

/** Shortens a name by the prefix it shares with its parent: `general-own-fznb6-ckn28` below `general-own` is `…fznb6-ckn28`. */
export function titleOf(name: string, parent: string | undefined): string {
  if (parent === undefined || !name.startsWith(`${parent}-`)) return name;
  const rest = name.slice(parent.length + 1);
  return rest.length < 4 ? name : `…${rest}`;
}

function detailOf(node: TreeNode, health: Tone): string {
  const { facts } = node.item;
  if (node.deleting) return "deleting";
  if (health !== "good") return node.item.state.reason;
  if (facts.desired !== undefined) return `${facts.available ?? facts.ready ?? 0} of ${facts.desired}`;
  return facts.node ?? facts.version ?? facts.endpoint ?? "";
}
