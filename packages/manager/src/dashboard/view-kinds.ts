import type { Clock, KubeObject, Random } from "@capstan/apimachinery";
import { type Cache, type KindRef, keyText, type Logger } from "@capstan/runtime";
import { clusterNameOf } from "./cluster-item.ts";

/** What the views are made from. */
export interface ViewsOptions {
  readonly cache: Cache;
  /** Every kind that may be a part of a cluster, and the kinds of hosts. */
  readonly kinds: readonly KindRef[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Files objects under the cluster they belong to. */
export const CLUSTER_INDEX = "dashboard-cluster";
/** Files hosts under the machine that uses them. */
export const CLAIM_INDEX = "dashboard-claim";

/** Of the kinds that are served, those the dashboard shows: no templates, no addresses, no bindings. */
export function shownKinds(kinds: readonly KindRef[]): KindRef[] {
  const plain = new Set([
    "Cluster",
    "Machine",
    "MachineSet",
    "MachineDeployment",
    "MachinePool",
    "WorkerPool",
    "KubeadmConfig",
  ]);
  return kinds.filter(
    (kind) =>
      plain.has(kind.kind) ||
      isHostKind(kind) ||
      kind.kind.endsWith("ControlPlane") ||
      (kind.group === "infrastructure.cluster.x-k8s.io" && /(Cluster|Machine)$/.test(kind.kind)),
  );
}

/** Whether a kind is a machine that somebody owns. */
export function isHostKind(kind: KindRef): boolean {
  return kind.kind === "ByoHost" || kind.kind === "BareMetalHost";
}

/** `namespace/cluster` of an object, if it belongs to one. */
export function clusterKeyOf(object: KubeObject): string | undefined {
  const name = clusterNameOf(object);
  return name === undefined ? undefined : keyText(object.metadata.namespace, name);
}
