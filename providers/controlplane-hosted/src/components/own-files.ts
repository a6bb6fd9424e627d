import { KUBE_APISERVER_FILES } from "./kube-apiserver.ts";
import { KUBE_CONTROLLER_MANAGER_FILES } from "./kube-controller-manager.ts";
import { KUBE_SCHEDULER_FILES } from "./kube-scheduler.ts";
import { ENCRYPTION_FILE } from "./settings.ts";

/** Names that only some placements use. */
const MORE = [
  ENCRYPTION_FILE,
  "egress-selector.yaml",
  "konnectivity-server.conf",
  "konnectivity-server.crt",
  "konnectivity-server.key",
];

/**
 * File names that `spec.*.files` must not use, because a user's file would replace a key or CA of the placement. Paths appear as Secret key
 * and as folder name.
 */
export const OWN_FILES: readonly string[] = [
  ...new Set([...KUBE_APISERVER_FILES, ...KUBE_CONTROLLER_MANAGER_FILES, ...KUBE_SCHEDULER_FILES, ...MORE]),
].flatMap((name) => (name.includes("/") ? [name.replaceAll("/", "__"), name.slice(0, name.indexOf("/"))] : [name]));
