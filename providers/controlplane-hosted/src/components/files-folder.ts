import type { PlacementType } from "../planes.ts";

/** The folder of `files` in each placement; a process runs in a working directory of its own. */
export const FILES_FOLDER: Readonly<Record<PlacementType, string>> = {
  Process: "/proc/self/cwd/files",
  Pods: "/etc/kubernetes/pki",
  Embedded: "/none",
};
