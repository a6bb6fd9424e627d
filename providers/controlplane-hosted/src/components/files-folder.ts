import type { PlacementType } from "../planes.ts";

/** Where components find `files`, by placement; a process's working directory is its own folder. */
export const FILES_FOLDER: Readonly<Record<PlacementType, string>> = {
  Process: "/proc/self/cwd/files",
  Pods: "/etc/kubernetes/pki",
  Embedded: "/none",
};
