import type { ResourceType } from "../types.ts";
import { configMap } from "./config-map.ts";
import { event, groupEvent } from "./event.ts";
import { lease } from "./lease.ts";
import { namespace } from "./namespace.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./rbac.ts";
import { secret } from "./secret.ts";
import { serviceAccount } from "./service-account.ts";

export { ALL_VERBS, defineBuiltin, withSubresource } from "./define.ts";
export { builtinSchema } from "./definitions.ts";

const TYPES: readonly ResourceType[] = [
  namespace,
  secret,
  configMap,
  serviceAccount,
  event,
  groupEvent,
  lease,
  role,
  roleBinding,
  clusterRole,
  clusterRoleBinding,
];

/** The built-in kinds. The values are immutable and shared by all servers of the process; schemas are expanded when first read. */
export function builtinTypes(): ResourceType[] {
  return [...TYPES];
}
