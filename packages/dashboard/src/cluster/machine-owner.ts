import type { ObjectItem } from "@capstan/dashboard-server";
import type { ClusterTree } from "./tree.ts";

/** Returns the display name of a machine's owner: its WorkerPool and deployment, or its control plane. */
export function ownerOfMachine(tree: ClusterTree, machine: ObjectItem): string {
  const owner = machine.parent === undefined ? undefined : tree.nodes.get(machine.parent);
  if (owner === undefined || owner.kind === "Cluster") return "–";
  const pool = owner.item.parent === undefined ? undefined : tree.nodes.get(owner.item.parent);
  return pool?.kind === "WorkerPool" ? `${pool.name} › ${owner.name}` : owner.name;
}
