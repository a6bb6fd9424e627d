import type { KubeObject } from "@capstan/apimachinery";
import type { Node } from "@capstan/capi";
import { kindRef } from "@capstan/runtime";

/** What draining reads of a Pod. */
export interface Pod extends KubeObject {
  spec?: {
    nodeName?: string;
    volumes?: { emptyDir?: object; persistentVolumeClaim?: { claimName: string } }[];
  };
  status?: { phase?: string };
}

export interface PersistentVolumeClaim extends KubeObject {
  spec?: { volumeName?: string };
}

export interface PersistentVolume extends KubeObject {
  spec?: { csi?: { driver: string; volumeHandle: string } };
}

export interface VolumeAttachment extends KubeObject {
  spec?: { nodeName?: string; attacher?: string; source?: { persistentVolumeName?: string } };
  status?: { attached?: boolean };
}

export const NodeKind = kindRef<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
export const PodKind = kindRef<Pod>({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
export const NamespaceKind = kindRef<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});
export const DaemonSetKind = kindRef<KubeObject>({
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
});
export const PersistentVolumeClaimKind = kindRef<PersistentVolumeClaim>({
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
});
export const PersistentVolumeKind = kindRef<PersistentVolume>({
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
});
export const VolumeAttachmentKind = kindRef<VolumeAttachment>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  namespaced: false,
});
