import "@xyflow/react/dist/style.css";
import { graphlib, layout } from "@dagrejs/dagre";
import { Background, Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import { type ReactNode, useMemo } from "react";
import { ProviderBadge } from "../ui/provider.tsx";
import { type GraphModel, type GraphNode, graphModel } from "./graph-model.ts";
import type { TreeNode } from "./tree.ts";

const WIDTH = 216;
const HEIGHT = 76;

type BoxNode = Node<{ box: GraphNode }, "box">;

/** Shows the cluster as a graph from left to right, from the Cluster to the hosts that it runs on. */
export function ClusterGraph({ root, onOpen }: { root: TreeNode; onOpen: (id: string) => void }): ReactNode {
  const model = useMemo(() => graphModel(root), [root]);
  const { nodes, edges } = useMemo(() => placed(model), [model]);
  return (
    <section className="graph" aria-label="Topology">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        onNodesChange={(changes) => {
          // A click and the Enter key both select; nothing stays selected, so the same box can be opened again.
          for (const change of changes) if (change.type === "select" && change.selected) onOpen(change.id);
        }}
        fitView
        fitViewOptions={{ padding: 0.08, maxZoom: 1 }}
        minZoom={0.1}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        attributionPosition="bottom-left"
      >
        <Background />
        <Controls showInteractive={false} position="bottom-right" />
      </ReactFlow>
    </section>
  );
}

const NODE_TYPES = { box: Box };

function Box({ data: { box } }: NodeProps<BoxNode>): ReactNode {
  return (
    <div className={`box box-${box.health}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <div className="box-kind clip">{box.kind}</div>
      <div className="box-title clip" title={box.name}>
        {box.title === box.name ? (
          box.name
        ) : (
          <>
            <span aria-hidden="true">{box.title}</span>
            <span className="unseen">{box.name}</span>
          </>
        )}
      </div>
      <div className="box-detail clip">{box.detail}</div>
      <span className="unseen">{WORDS[box.health]}</span>
      {box.provider !== undefined && <ProviderBadge provider={box.provider} />}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

/** The layout of the graph. */
function placed(model: GraphModel): { nodes: BoxNode[]; edges: Edge[] } {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 12, ranksep: 44 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of model.nodes) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const { from, to } of model.edges) graph.setEdge(from, to);
  layout(graph);
  return {
    nodes: model.nodes.map((box) => {
      const { x, y } = graph.node(box.id) as { x: number; y: number };
      return {
        id: box.id,
        type: "box",
        position: { x: x - WIDTH / 2, y: y - HEIGHT / 2 },
        width: WIDTH,
        height: HEIGHT,
        data: { box },
        ariaRole: "button",
      };
    }),
    edges: model.edges.map(({ from, to, health }) => ({
      id: `${from}>${to}`,
      source: from,
      target: to,
      className: `edge-${health}`,
      animated: health === "wait",
    })),
  };
}

const WORDS = {
  good: "healthy",
  bad: "degraded",
  wait: "progressing",
  plain: "at rest",
  unknown: "unknown",
} as const;
