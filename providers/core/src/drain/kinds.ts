import type { KubeObject } from "@capstan/apimachinery";
import type { Node } from "@capstan/capi";
import { kindRef } from "@capstan/runtime";

/** The fields of a Pod that draining reads. */
export interface Pod extends KubeObject {
  spec?: {
    nodeName?: string;
    volumes?: { emptyDir?: object; persistentVolumeClaim?: { claimName: string } }[];
  };
  status?: { phase?: string };
}

/** The fields of a PersistentVolumeClaim that draining reads. */
export interface PersistentVolumeClaim extends KubeObject {
  spec?: { volumeName?: string };
}

/** The fields of a PersistentVolume that draining reads. */
export interface PersistentVolume extends KubeObject {
  spec?: { csi?: { driver: string; volumeHandle: string } };
}

/** The fields of a VolumeAttachment that draining reads. */
export interface VolumeAttachment extends KubeObject {
  spec?: { nodeName?: string; attacher?: string; source?: { persistentVolumeName?: string } };
  status?: { attached?: boolean };
}

/** Kind reference of Nodes in workload clusters. */
export const NodeKind = kindRef<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
/** Kind reference of Pods in workload clusters. */
export const PodKind = kindRef<Pod>({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
/** Kind reference of Namespaces in workload clusters. */
export const NamespaceKind = kindRef<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});
/** Kind reference of DaemonSets in workload clusters. */
export const DaemonSetKind = kindRef<KubeObject>({
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
});
/** Kind reference of PersistentVolumeClaims in workload clusters. */
export const PersistentVolumeClaimKind = kindRef<PersistentVolumeClaim>({
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
});
/** Kind reference of PersistentVolumes in workload clusters. */
export const PersistentVolumeKind = kindRef<PersistentVolume>({
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
});
/** Kind reference of VolumeAttachments in workload clusters. */
export const VolumeAttachmentKind = kindRef<VolumeAttachment>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  namespaced: false,
});
