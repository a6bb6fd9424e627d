import type { KubeObject, Unstructured } from "@capstan/apimachinery";
import type { Client, Kind } from "@capstan/runtime";
import { HOSTED_LABEL, OWNER_ANNOTATION } from "../pods/host-cluster.ts";
import {
  Deployment,
  HostSecret,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from "../pods/kinds.ts";

const ALL = [
  Deployment,
  StatefulSet,
  Pod,
  Service,
  PodDisruptionBudget,
  NetworkPolicy,
  HostSecret,
  PersistentVolumeClaim,
] as readonly Kind<KubeObject>[];

/** Returns all objects of a control plane in the cluster that runs its pods. */
export async function podObjects(client: Client, owner: string): Promise<Unstructured[]> {
  const lists = await Promise.all(ALL.map((kind) => client.list(kind, { labelSelector: HOSTED_LABEL })));
  return lists
    .flatMap(({ items }) => items as Unstructured[])
    .filter((object) => object.metadata.annotations?.[OWNER_ANNOTATION] === owner);
}

/** Returns `KIND NAME UID` of all objects of a control plane; PodDisruptionBudgets are renamed so that they do not count as pods. */
export async function podThings(client: Client, owner: string): Promise<string[]> {
  const objects = await podObjects(client, owner);
  return objects
    .map(({ kind, metadata }) => `${kind === "PodDisruptionBudget" ? "Budget" : kind} ${metadata.name} ${metadata.uid}`)
    .toSorted();
}

/** Identifies the volumes of a control plane; undefined if it has none. */
export async function podData(client: Client, owner: string): Promise<string | undefined> {
  const claims = (await podThings(client, owner)).filter((thing) => thing.startsWith("PersistentVolumeClaim"));
  return claims.length === 0 ? undefined : claims.join();
}
