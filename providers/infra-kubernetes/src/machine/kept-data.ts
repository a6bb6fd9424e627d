import { type Cluster, isControlPlaneMachine, type Machine } from "@capstan/capi";
import type { KubernetesMachine } from "../kinds/kubernetes-machine.ts";
import { CLAIM_FOLDERS } from "../pod/defaults.ts";
import { nodeContainer, templateSpec } from "../pod/template.ts";

const ETCD = "/var/lib/etcd";
/** With them a pod that is created again is the same node; with one of them it is none. */
const IDENTITY = ["/etc/kubernetes", "/var/lib/kubelet"];
const CURE =
  "Set recreationPolicy: Never, or add volumeClaimTemplates named var-lib-etcd, etc-kubernetes and var-lib-kubelet";

/** What decides whether a lost pod may be created again. */
interface LostMachine {
  readonly object: KubernetesMachine;
  readonly machine: Machine;
  readonly cluster: Cluster;
}

/** Returns whether a lost pod is to be created again under the same name, as the machine's policy says. */
export function wantsRecreation({ spec }: KubernetesMachine): boolean {
  return spec?.recreationPolicy === undefined ? spec?.allowRecreation === true : spec.recreationPolicy === "Always";
}

/**
 * Returns why a lost pod must not be created again although the policy says so. The pod of a control plane would run its bootstrap script
 * again: without the data of etcd, `kubeadm init` starts an empty second cluster behind the same endpoint.
 */
export function recreationProblem(lost: LostMachine): string | undefined {
  const { object, machine, cluster } = lost;
  if (!wantsRecreation(object) || !isControlPlaneMachine(machine)) return undefined;
  const refuse = (why: string): string => `recreationPolicy Always is refused for this control plane: ${why}. ${CURE}`;
  if (!keeps(object, ETCD))
    return refuse(`no claim is mounted at ${ETCD}, so that the data of etcd is lost with the pod`);
  const kept = IDENTITY.filter((folder) => keeps(object, folder));
  if (kept.length === IDENTITY.length) return undefined;
  if (kept.length > 0)
    return refuse(`${kept.join()} is kept without ${IDENTITY.filter((each) => !kept.includes(each)).join()}`);
  const { desiredReplicas, replicas } = cluster.status?.controlPlane ?? {};
  // A single replica initializes over its data; one of several would return as another member.
  if (desiredReplicas === 1 && (replicas ?? 1) <= 1) return undefined;
  return refuse(`one of several replicas cannot return to etcd without ${IDENTITY.join(" and ")}`);
}

/** Whether a claim is mounted at a folder: as the template says, or by the name of the claim. */
function keeps({ spec }: KubernetesMachine, folder: string): boolean {
  const template = templateSpec(spec ?? {});
  const own = (spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name);
  const given = (template.volumes ?? []).filter((each) => each["persistentVolumeClaim"] !== undefined);
  const claims = new Set([...own, ...given.map(({ name }) => name)]);
  const mounts = nodeContainer(template)?.volumeMounts ?? [];
  const mount = mounts.find(({ mountPath }) => mountPath.replace(/\/+$/, "") === folder);
  if (mount !== undefined) return claims.has(mount.name);
  return own.some((name) => CLAIM_FOLDERS[name] === folder && !mounts.some((each) => each.name === name));
}
