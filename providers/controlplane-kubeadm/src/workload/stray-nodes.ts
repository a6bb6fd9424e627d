import { isReason } from "@capstan/apimachinery";
import type { Machine, Node } from "@capstan/capi";
import { type Client, kindRef } from "@capstan/runtime";
import { CONTROL_PLANE_ROLE } from "./node-labels.ts";

const NodeKind = kindRef<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });

/** Names of control plane Nodes that belong to none of the Machines. While a Machine has no Node yet, any Node may be its. */
export function strayNodes(machines: readonly Machine[], nodes: readonly Node[]): string[] {
  const names = machines.map(({ status }) => status?.nodeRef?.name);
  if (names.includes(undefined)) return [];
  return nodes.flatMap(({ metadata }) => (names.includes(metadata.name) ? [] : [metadata.name ?? ""]));
}

/** Deletes those Nodes. The API is asked which there are: a watch may still show what was there before the data was restored. */
export async function removeStrayNodes(
  client: Client,
  machines: readonly Machine[],
  signal: AbortSignal,
): Promise<void> {
  const { items } = await client.list(NodeKind, { labelSelector: CONTROL_PLANE_ROLE }, signal);
  for (const name of strayNodes(machines, items))
    await client.delete({ kind: NodeKind, name }, {}, signal).catch((error: unknown) => {
      if (!isReason(error, "NotFound")) throw error;
    });
}
