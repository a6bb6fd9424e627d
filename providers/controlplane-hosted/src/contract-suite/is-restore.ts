import type { Pod } from "@capstan/workloads";

/** Reports whether a pod restores a backup, so that it waits for the bytes. */
export function isRestore({ metadata }: Pod): boolean {
  return metadata.labels?.["app.kubernetes.io/component"] === "etcd-restore";
}
