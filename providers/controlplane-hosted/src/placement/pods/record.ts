import type { EtcdMemberRecord } from "@capstan/etcd";
import type { HostSecret } from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import type { EtcdChangeState } from "../etcd-upgrade/record.ts";

/** Persistent state of etcd that is not in its data; stored in an annotation of etcd's Secret. */
export interface PodsRecord extends EtcdChangeState {
  /** UID of the HostedControlPlane that owns the data. */
  objectUid?: string;
  /** Fingerprint of the cluster's CA, which identifies the same control plane after a move gave it another uid. */
  authority: string;
  members: PodsMember[];
  storage: NonNullable<NonNullable<HostedControlPlaneSpec["etcd"]>["storage"]>;
  /** Image of etcd's members. */
  etcdImage: string;
  /** When etcd was last defragmented or its data was created. */
  lastDefragmentMs?: number;
  /** The backup that is being restored; nothing else runs meanwhile. */
  restoring?: string;
  /** The backup that was restored last. */
  restored?: string;
  /** The version before whose upgrade a backup was taken. */
  backedUpFor?: string;
}

/** Persistent state of an etcd member in a pod. */
export interface PodsMember extends EtcdMemberRecord {
  /** Why it is stopped and added again; with `wipe`, its volume is deleted. */
  replacing?: { why: string; wipe: boolean };
}

/** Reports whether members are being added, removed or replaced; no other change happens meanwhile. */
export function membersChange({ members }: PodsRecord): boolean {
  return members.some(
    ({ learner, joining, leaving, replacing }) =>
      learner === true || joining === true || leaving === true || replacing !== undefined,
  );
}

/** Annotation on etcd's Secret with the PodsRecord as JSON. */
export const RECORD_ANNOTATION = "capstan.dev/plane";

/** Returns the record of a control plane; undefined if there is none yet. */
export function readPodsRecord(etcd: HostSecret | undefined): PodsRecord | undefined {
  const text = etcd?.metadata.annotations?.[RECORD_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as PodsRecord;
  } catch {
    return undefined;
  }
}
