import type { PodController } from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";

/** What is fixed when etcd's data is made; lies beside the data, in an annotation of the StatefulSet, and moves with it. */
export interface PodsRecord {
  /** Of the HostedControlPlane the data belongs to. */
  objectUid?: string;
  /** Fingerprint of the cluster's authority: it tells the same control plane after a move gave it another uid. */
  authority: string;
  members: number;
  storage: NonNullable<NonNullable<HostedControlPlaneSpec["etcd"]>["storage"]>;
  /** Reference of the image of etcd that last used the data: never replaced by an older one. */
  etcdImage: string;
}

export const RECORD_ANNOTATION = "capstan.dev/plane";

/** The record of a control plane; undefined when there is none yet. */
export function readPodsRecord(etcd: PodController | undefined): PodsRecord | undefined {
  const text = etcd?.metadata.annotations?.[RECORD_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as PodsRecord;
  } catch {
    return undefined;
  }
}
