import { CLUSTER_NAME_LABEL, CONTROL_PLANE_LABEL } from "@capstan/capi";
import { OUTER_LIB } from "../node/checks.ts";
import type { Volume } from "./shape.ts";

/** A volume that a node needs, and where. */
export interface NodeVolume {
  readonly volume: Volume;
  readonly mountPath: string;
  readonly readOnly?: true;
  /** Folder that the entry point makes of it; a template that mounts something there needs no such volume. */
  readonly becomes?: string;
}

const memory = { emptyDir: { medium: "Memory" } };

/** Returns the volumes of a node; a template replaces one by a volume of the same name or a mount at the same folder. */
export function nodeVolumes(controlPlane: boolean, privileged: boolean): NodeVolume[] {
  return [
    { volume: { name: "run", ...memory }, mountPath: "/run" },
    { volume: { name: "tmp", ...memory }, mountPath: "/tmp" },
    // An overlay file system cannot be in the overlay of the container.
    { volume: { name: "var-lib-containerd", emptyDir: {} }, mountPath: "/var/lib/containerd" },
    { volume: { name: "var-lib-kubelet", emptyDir: {} }, mountPath: "/var/lib/kubelet" },
    { volume: { name: "var-log", emptyDir: {} }, mountPath: "/var/log" },
    ...(controlPlane ? [{ volume: { name: "var-lib-etcd", emptyDir: {} }, mountPath: "/var/lib/etcd" }] : []),
    // Some outer nodes have no modules: a volume of type Directory would keep the machine from starting there, and with every other type
    // the outer node gets the folder. Its parent always exists.
    ...(privileged
      ? [
          {
            volume: { name: "outer-lib", hostPath: { path: "/lib", type: "Directory" } },
            mountPath: OUTER_LIB,
            readOnly: true as const,
            becomes: "/lib/modules",
          },
        ]
      : []),
  ];
}

/** Folders at which claims of these names are mounted unless the template mounts them. */
export const CLAIM_FOLDERS: Readonly<Record<string, string>> = {
  "etc-kubernetes": "/etc/kubernetes",
  "var-lib-etcd": "/var/lib/etcd",
  "var-lib-kubelet": "/var/lib/kubelet",
  "var-lib-containerd": "/var/lib/containerd",
  "var-log": "/var/log",
};

/** Returns the labels of the pods of a cluster's control plane, or of its workers. */
export function machineLabels(cluster: string, controlPlane: boolean): Record<string, string> {
  return { [CLUSTER_NAME_LABEL]: cluster, ...(controlPlane ? { [CONTROL_PLANE_LABEL]: "" } : {}) };
}

/**
 * Returns how the machines of a cluster spread over the outer nodes, as far as these have room. Zones have no constraint of their own: the
 * scheduler leaves out every node that lacks the label of any constraint, so outer nodes without zones would spread nothing.
 */
export function spreadOf(cluster: string, controlPlane: boolean): object {
  const operator = controlPlane ? "Exists" : "DoesNotExist";
  return {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: {
          matchLabels: { [CLUSTER_NAME_LABEL]: cluster },
          matchExpressions: [{ key: CONTROL_PLANE_LABEL, operator }],
        },
      },
    ],
  };
}
