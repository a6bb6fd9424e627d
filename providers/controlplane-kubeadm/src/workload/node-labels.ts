import type { KubeadmConfig, Machine, Node } from "@capstan/capi";
import { health } from "./static-pods.ts";
import type { ReportedHealth } from "./workload-side.ts";

/** The label, and the key of the taint, that kubeadm sets on control plane Nodes. */
export const CONTROL_PLANE_ROLE = "node-role.kubernetes.io/control-plane";

type Taint = { key?: string | undefined; effect?: string | undefined };

/** Whether a Node carries what kubeadm sets on control plane Nodes. */
export function nodeLabelsHealth(machine: Machine, node: Node, config: KubeadmConfig | undefined): ReportedHealth {
  const missing: string[] = [];
  if (node.metadata.labels?.[CONTROL_PLANE_ROLE] === undefined) missing.push(`the ${CONTROL_PLANE_ROLE} label`);
  if (isTaintExpected(machine, config) && !(node.spec?.taints ?? []).some(isDefaultTaint))
    missing.push(`the ${CONTROL_PLANE_ROLE}:NoSchedule taint`);
  if (missing.length === 0) return health("True", "Set");
  return health("False", "NotSet", `Node ${node.metadata.name} does not have ${missing.join(" and ")}`);
}

/** kubeadm sets the taint unless the configuration of the Node lists taints without it. */
function isTaintExpected({ spec }: Machine, config: KubeadmConfig | undefined): boolean {
  if ((spec.taints ?? []).some(isDefaultTaint)) return true;
  if (config === undefined) return false;
  const { joinConfiguration: join, initConfiguration: init } = config.spec ?? {};
  const joins = join?.controlPlane !== undefined || (join?.nodeRegistration?.kubeletExtraArgs ?? []).length > 0;
  const taints = (joins ? join : init)?.nodeRegistration?.taints;
  return taints === undefined || taints.some(isDefaultTaint);
}

function isDefaultTaint({ key, effect }: Taint): boolean {
  return key === CONTROL_PLANE_ROLE && effect === "NoSchedule";
}
