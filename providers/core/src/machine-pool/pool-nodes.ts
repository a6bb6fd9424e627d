import type { MachinePool, Node } from "@capstan/capi";

/** Keeps pods away until the Node has its annotations. */
const UNINITIALIZED_TAINT = "node.cluster.x-k8s.io/uninitialized";

type NodeReference = NonNullable<NonNullable<MachinePool["status"]>["nodeRefs"]>[number];

/** The Nodes of a pool and their aggregated state. */
export interface PoolNodes {
  nodes: Node[];
  references: NodeReference[];
  ready: number;
  available: number;
  upToDate: number;
  /** Milliseconds until the next ready Node counts as available. */
  recheckMs?: number;
}

/** Finds the Nodes of a pool by their provider IDs. */
export function poolNodes(
  pool: MachinePool,
  providerIDs: readonly string[],
  byProviderID: (id: string) => Node | undefined,
  nowMs: number,
): PoolNodes {
  const { minReadySeconds = 0, version } = pool.spec.template.spec;
  const nodes = providerIDs.flatMap((id) => byProviderID(id) ?? []);
  const waits = nodes.flatMap((node) => {
    const since = readySince(node);
    return since === undefined ? [] : [since + minReadySeconds * 1000 - nowMs];
  });
  const open = waits.filter((ms) => ms > 0);
  return {
    nodes,
    references: nodes.map(({ metadata }) => ({
      apiVersion: "v1",
      kind: "Node",
      name: metadata.name ?? "",
      uid: metadata.uid,
    })),
    ready: waits.length,
    available: waits.length - open.length,
    upToDate: nodes.filter((node) => version === undefined || node.status?.nodeInfo?.["kubeletVersion"] === version)
      .length,
    ...(open.length > 0 ? { recheckMs: Math.min(...open) } : {}),
  };
}

function readySince(node: Node): number | undefined {
  const ready = node.status?.conditions?.find((condition) => condition.type === "Ready");
  if (ready?.status !== "True") return undefined;
  const since = Date.parse(ready.lastTransitionTime ?? "");
  return Number.isNaN(since) ? 0 : since;
}

/** Returns Nodes of the pool whose instances no longer exist. Requires a complete list of instances. */
export function retiredNodes(
  before: readonly NodeReference[],
  providerIDs: readonly string[],
  byName: (name: string) => Node | undefined,
): Node[] {
  const kept = new Set(providerIDs);
  return before.flatMap((reference) => {
    const node = byName(reference.name ?? "");
    const id = node?.spec?.providerID;
    // Not another Node of the same name, nor one that cannot be identified.
    if (node === undefined || id === undefined || id === "" || kept.has(id)) return [];
    return reference.uid === undefined || reference.uid === node.metadata.uid ? [node] : [];
  });
}

/** Returns the patch that sets the annotations and removes the uninitialized taint of a pool's Node; undefined if nothing changes. */
export function nodePatch(node: Node, pool: MachinePool): object | undefined {
  const wanted: Record<string, string> = {
    "cluster.x-k8s.io/cluster-name": pool.spec.clusterName,
    "cluster.x-k8s.io/cluster-namespace": pool.metadata.namespace ?? "",
    "cluster.x-k8s.io/owner-kind": pool.kind,
    "cluster.x-k8s.io/owner-name": pool.metadata.name ?? "",
  };
  const annotated = Object.entries(wanted).every(([key, value]) => node.metadata.annotations?.[key] === value);
  const taints = node.spec?.taints ?? [];
  const kept = taints.filter((taint) => taint.key !== UNINITIALIZED_TAINT);
  if (annotated && kept.length === taints.length) return undefined;
  return {
    metadata: { annotations: wanted, resourceVersion: node.metadata.resourceVersion },
    ...(kept.length === taints.length ? {} : { spec: { taints: kept } }),
  };
}
