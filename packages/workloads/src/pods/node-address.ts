import type { HostNode } from "./kinds.ts";

/** Returns the address of the first Ready node by name, so that the result is stable while that node exists. */
export function readyNodeAddress(nodes: readonly HostNode[]): string | undefined {
  const ready = nodes.filter((node) =>
    node.status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True"),
  );
  ready.sort((a, b) => (a.metadata.name ?? "").localeCompare(b.metadata.name ?? ""));
  for (const type of ["ExternalIP", "InternalIP"])
    for (const node of ready) {
      const found = node.status?.addresses?.find((address) => address.type === type);
      if (found !== undefined) return found.address;
    }
  return undefined;
}
