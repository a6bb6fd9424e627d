import type { KubeObject, OwnerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import { field } from "../contract/fields.ts";
import type { HostKind } from "../sdk/description.ts";
import { isHostKind } from "./host-kinds.ts";
import { hostDescription, type NodeContext } from "./host-trouble.ts";
import { type ObjectNode, objectNode } from "./object-node.ts";

/** `Machine/m1`: names an object within its namespace. */
export function objectId(kind: string, name: string): string {
  return `${kind}/${name}`;
}

/** Finds an object of the same cluster by its id. */
export type Lookup = (id: string) => KubeObject | undefined;

/** Kinds that are only a step between two others: their parts are shown below their owner. */
const HIDDEN = new Set(["MachineSet"]);

/** Whether the kind is left out of trees. */
export function isHidden(kind: string): boolean {
  return HIDDEN.has(kind);
}

/** Of the kinds that are served, those that a cluster's tree is made of: no templates, no addresses, no bindings. */
export function isTreeKind(
  { group, kind }: { group: string; kind: string },
  hosts: readonly Pick<HostKind, "group" | "kind">[],
): boolean {
  return (
    /^(Cluster|Machine|MachineSet|MachineDeployment|MachinePool|WorkerPool|KubeadmConfig)$/.test(kind) ||
    hosts.some((host) => host.kind === kind && host.group === group) ||
    kind.endsWith("ControlPlane") ||
    (group === "infrastructure.cluster.x-k8s.io" && /(Cluster|Machine)$/.test(kind))
  );
}

/** Name of the Cluster an object belongs to. */
export function clusterNameOf(object: KubeObject): string | undefined {
  if (object.kind === "Cluster") return object.metadata.name;
  const named = field(object, "spec", "clusterName");
  if (typeof named === "string") return named;
  return (
    object.metadata.labels?.[CLUSTER_NAME_LABEL] ??
    object.metadata.ownerReferences?.find((owner) => owner.kind === "Cluster")?.name
  );
}

/** The infrastructure machine (`Kind/name`) that uses a host of one of these providers. */
export function claimOf(object: KubeObject, providers: NodeContext["providers"]): string | undefined {
  const host = hostDescription(object, providers);
  if (host === undefined) return undefined;
  const claim = field(object, "spec", host.claimedBy.field);
  const [kind, name] = [field(claim, "kind"), field(claim, "name")];
  return typeof kind === "string" && typeof name === "string" ? objectId(kind, name) : undefined;
}

/** The object something is shown below: its controller, the machine that claimed it, else the Cluster. */
export function parentOf(object: KubeObject, lookup: Lookup, providers: NodeContext["providers"]): string | undefined {
  if (object.kind === "Cluster") return undefined;
  const claimed = claimOf(object, providers);
  if (claimed !== undefined && lookup(claimed) !== undefined) return claimed;
  const owners = object.metadata.ownerReferences ?? [];
  const owner = owners.find((reference) => reference.controller === true) ?? owners[0];
  const found = owner === undefined ? undefined : visibleOwner(owner, lookup, providers);
  return found ?? objectId("Cluster", clusterNameOf(object) ?? "");
}

function visibleOwner(owner: OwnerReference, lookup: Lookup, providers: NodeContext["providers"]): string | undefined {
  const id = objectId(owner.kind, owner.name);
  const object = lookup(id);
  if (object === undefined) return undefined;
  return isHidden(owner.kind) ? parentOf(object, lookup, providers) : id;
}

/** The tree of a cluster with its nodes by id. */
export interface ClusterNodes {
  /** Undefined without the Cluster itself. */
  root: ObjectNode | undefined;
  nodes: ReadonlyMap<string, ObjectNode>;
}

/** Puts the objects of one cluster together; an object whose owner is not among them is a part of the Cluster. */
export function clusterTree(objects: Iterable<KubeObject>, context: NodeContext): ClusterNodes {
  const byId = new Map<string, KubeObject>();
  for (const object of objects) byId.set(objectId(object.kind, object.metadata.name ?? ""), object);
  const nodes = new Map<string, ObjectNode>();
  for (const [id, object] of byId) if (!isHidden(object.kind)) nodes.set(id, objectNode(object, context));
  const root = [...nodes.values()].find(({ kind }) => kind === "Cluster");
  const lookup: Lookup = (id) => byId.get(id);
  for (const [id, node] of nodes) {
    const object = byId.get(id);
    const parent = object === undefined ? undefined : parentOf(object, lookup, context.providers);
    const above = (parent === undefined ? undefined : nodes.get(parent)) ?? root;
    if (above !== node) above?.children.push(node);
  }
  return { root, nodes };
}

/** The objects of each cluster by `namespace/name`; a host belongs to the cluster whose machine claimed it. */
export function objectsByCluster(
  objects: Iterable<KubeObject>,
  providers: NodeContext["providers"],
): Map<string, KubeObject[]> {
  const clusters = new Map<string, KubeObject[]>();
  const owners = new Map<string, string>();
  const hosts: KubeObject[] = [];
  for (const object of objects) {
    const { namespace = "", name = "" } = object.metadata;
    if (isHostKind(object.kind)) {
      hosts.push(object);
      continue;
    }
    const cluster = clusterNameOf(object);
    if (cluster === undefined) continue;
    const key = `${namespace}/${cluster}`;
    owners.set(`${namespace}/${objectId(object.kind, name)}`, key);
    put(clusters, key, object);
  }
  for (const host of hosts) {
    const claim = claimOf(host, providers);
    const key = claim === undefined ? undefined : owners.get(`${host.metadata.namespace ?? ""}/${claim}`);
    if (key !== undefined) put(clusters, key, host);
  }
  return clusters;
}

function put(clusters: Map<string, KubeObject[]>, key: string, object: KubeObject): void {
  const known = clusters.get(key);
  if (known === undefined) clusters.set(key, [object]);
  else known.push(object);
}
