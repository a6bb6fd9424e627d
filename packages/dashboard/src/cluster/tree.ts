import type { ClusterItem, ObjectItem, TimelineItem } from "@capstan/dashboard-server";
import { type Tone, toneOfState } from "../ui/tone.ts";

/** An object of a cluster with its parts. */
export interface TreeNode {
  readonly item: ObjectItem;
  readonly kind: string;
  readonly name: string;
  readonly deleting: boolean;
  children: TreeNode[];
}

/** The content of a cluster's topic as a tree and a timeline. */
export interface ClusterTree {
  /** Undefined while the Cluster does not exist or the user may not see it. */
  readonly root: TreeNode | undefined;
  readonly nodes: ReadonlyMap<string, TreeNode>;
  readonly timeline: readonly TimelineItem[];
}

/** How trees are read: infrastructure, control plane, then workers. */
const KIND_ORDER = ["ControlPlane", "WorkerPool", "MachineDeployment", "MachinePool", "Machine"];

/** Builds the tree from parent references; objects without a visible parent are attached to the Cluster. */
export function clusterTree(items: Iterable<ClusterItem>): ClusterTree {
  const nodes = new Map<string, TreeNode>();
  const timeline: TimelineItem[] = [];
  for (const item of items) {
    if (item.type === "object") nodes.set(item.id, nodeOf(item));
    else timeline.push(item);
  }
  const root = [...nodes.values()].find((node) => node.item.kind === "Cluster");
  for (const node of nodes.values()) {
    if (node === root) continue;
    const parent = (node.item.parent === undefined ? undefined : nodes.get(node.item.parent)) ?? root;
    parent?.children.push(node);
  }
  for (const node of nodes.values()) node.children.sort(byKindAndName);
  timeline.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return { root, nodes, timeline };
}

function nodeOf(item: ObjectItem): TreeNode {
  const { kind, name, deleting } = item;
  return { item, kind, name, deleting, children: [] };
}

function byKindAndName(a: TreeNode, b: TreeNode): number {
  return rank(a.kind) - rank(b.kind) || a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name);
}

function rank(kind: string): number {
  return KIND_ORDER.findIndex((end) => kind.endsWith(end));
}

/** Returns the tone of an object from the state that the server computed. */
export function healthOf({ item }: Pick<TreeNode, "item">): Tone {
  return toneOfState(item.state);
}
