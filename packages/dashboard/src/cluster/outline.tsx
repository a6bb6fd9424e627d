import type { ReactNode } from "react";
import { ProviderBadge } from "../ui/provider.tsx";
import { type GraphNode, graphModel } from "./graph-model.ts";
import type { TreeNode } from "./tree.ts";

/** Shows the cluster as an indented list, for screens that are too narrow for the graph. */
export function Outline({ root, onOpen }: { root: TreeNode; onOpen: (id: string) => void }): ReactNode {
  const { nodes, edges } = graphModel(root);
  const boxes = new Map(nodes.map((box) => [box.id, box]));
  const below = (id: string): GraphNode[] =>
    edges.flatMap((edge) => {
      const box = edge.from === id ? boxes.get(edge.to) : undefined;
      return box === undefined ? [] : [box];
    });
  const line = (box: GraphNode): ReactNode => {
    const children = below(box.id);
    return (
      <li key={box.id}>
        <button type="button" className={`outline-box outline-${box.health}`} onClick={() => onOpen(box.id)}>
          <span className="outline-title">{box.title}</span>
          <span className="dim">{box.kind}</span>
          {box.provider !== undefined && <ProviderBadge provider={box.provider} />}
          <span className="outline-detail">{box.detail}</span>
        </button>
        {children.length > 0 && <ul>{children.map(line)}</ul>}
      </li>
    );
  };
  const first = boxes.get(root.item.id);
  return (
    <section className="card outline" aria-label="Topology">
      <ul>{first === undefined ? null : line(first)}</ul>
    </section>
  );
}
