import { ownerReference } from "@capstan/apimachinery";
import {
  type Cluster,
  type ClusterKey,
  CONTROL_PLANE_LABEL,
  type KubeadmControlPlane,
  type Machine,
  validEndpoint,
} from "@capstan/capi";
import { type Authorities, type BackupPlace, ensureAuthorities, openBackupStore } from "@capstan/controlplane";
import { publicKeyPin } from "@capstan/pki";
import type { ReconcileContext } from "@capstan/runtime";
import type { EtcdPlace, EtcdWays } from "../etcd/etcd-ways.ts";
import { machinesOfCluster } from "../indexes.ts";
import { ControlPlaneBackup } from "../kinds/control-plane-backup.ts";

/** The control plane on Machines of a Cluster. */
export interface MachinePlane {
  readonly key: ClusterKey;
  readonly cluster: Cluster;
  readonly controlPlane: KubeadmControlPlane;
}

/** What a backup contains in addition to etcd's data: the endpoint and the CAs that nodes trust. */
export interface MachinePlaneDescription {
  readonly owner: string;
  readonly clusterName: string;
  readonly clusterUid: string | undefined;
  /** Hash of the public key of the cluster's CA, as kubeadm writes it. Another cluster of the same name has another one. */
  readonly caFingerprint: string;
  readonly version: string;
  readonly endpoint: { readonly host: string; readonly port: number } | undefined;
  readonly authorities: Authorities;
}

/** Owner of the backups in a store. Names of objects have no underscore: a HostedControlPlane never has the same. */
export function backupOwner({ key, controlPlane }: Pick<MachinePlane, "key" | "controlPlane">): string {
  return `${key.namespace}/${controlPlane.metadata.name ?? ""}_kubeadm`;
}

/** The settings of a Cluster's backups: those of its oldest ControlPlaneBackup. */
export function backupSettingsOf(
  { namespace, name }: ClusterKey,
  context: ReconcileContext,
): ControlPlaneBackup | undefined {
  const all = context.cache.list(ControlPlaneBackup, { namespace }).filter(({ spec }) => spec.clusterName === name);
  const rank = ({ metadata }: ControlPlaneBackup): string =>
    `${metadata.creationTimestamp ?? ""} ${metadata.name ?? ""}`;
  return all.sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).at(0);
}

/** The store of a Cluster's backups: that of its ControlPlaneBackup, or the manager's own. */
export async function storeOf(key: ClusterKey, place: BackupPlace, context: ReconcileContext) {
  const settings = backupSettingsOf(key, context)?.spec;
  return await openBackupStore({ namespace: key.namespace, settings, field: "spec" }, place, context);
}

/** Members of etcd that could be asked, in the order of their Machines' names. */
export function placesOf(key: ClusterKey, context: ReconcileContext): EtcdPlace[] {
  return machinesOfCluster(context.cache, key)
    .filter(({ metadata }) => metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined)
    .flatMap((machine) => placeOf(machine) ?? [])
    .sort((a, b) => (a.machine < b.machine ? -1 : 1));
}

/** The member on a Machine's Node; undefined before it has one. */
export function placeOf({ metadata, status }: Machine): EtcdPlace | undefined {
  const nodeName = status?.nodeRef?.name;
  if (nodeName === undefined) return undefined;
  const addresses = (status?.addresses ?? []).filter(({ type }) => type.endsWith("IP")).map(({ address }) => address);
  return { machine: metadata.name ?? "", nodeName, addresses };
}

/** Saves a snapshot of the first member that answers and has a leader: one without may lack the newest writes. */
export async function snapshotOfQuorum(
  key: ClusterKey,
  ways: EtcdWays,
  file: string,
  context: ReconcileContext,
): Promise<void> {
  const failures: string[] = [];
  for (const place of placesOf(key, context)) {
    try {
      const { client, endpoint } = await ways.open(key, place);
      const { leader } = await client.status(endpoint);
      if (leader === "" || leader === "0") throw new Error("etcd has no leader");
      await client.snapshot(endpoint, file);
      return;
    } catch (error) {
      failures.push(`Machine ${place.machine}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(failures.length === 0 ? "no control plane Machine has a Node yet" : failures.join("; "));
}

/** The authorities of a control plane, which are never created here: a backup with new ones would be one that no node trusts. */
export async function authoritiesOf(
  { key, controlPlane }: MachinePlane,
  context: ReconcileContext,
): Promise<Authorities> {
  const found = await ensureAuthorities(
    {
      cluster: key,
      owner: ownerReference(controlPlane, { controller: true }),
      algorithm: "RSA-2048",
      mayCreate: false,
    },
    context,
  );
  if ("problem" in found) throw new Error(found.problem);
  return found.authorities;
}

/** Serializes the description of a control plane for a backup. */
export async function describePlane(plane: MachinePlane, context: ReconcileContext): Promise<string> {
  const { key, cluster, controlPlane } = plane;
  const authorities = await authoritiesOf(plane, context);
  const description: MachinePlaneDescription = {
    owner: backupOwner(plane),
    clusterName: key.name,
    clusterUid: cluster.metadata.uid,
    caFingerprint: publicKeyPin(authorities.cluster.certPem),
    version: controlPlane.status?.version ?? controlPlane.spec.version,
    endpoint: validEndpoint(cluster.spec?.controlPlaneEndpoint),
    authorities,
  };
  return JSON.stringify(description);
}
