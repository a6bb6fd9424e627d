import { createHash } from "node:crypto";
import { HOSTED_LABEL, OWNER_ANNOTATION } from "@capstan/workloads";

/** The parts of a control plane that are pods. */
export type PodComponent = "etcd" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler";

/** What the objects of one control plane are called in the cluster that runs its pods: derived from the object, so found again. */
export interface PodNames {
  /** `NAMESPACE/NAME` of the HostedControlPlane. */
  owner: string;
  namespace: string;
  /** What all names begin with. */
  stem: string;
}

/** Names for a HostedControlPlane. The namespace in the host cluster is the object's own. */
export function podNames(owner: string): PodNames {
  const [namespace = "", name = ""] = owner.split("/");
  return { owner, namespace, stem: stemOf(name) };
}

/** Deployment, StatefulSet, Service and PodDisruptionBudget of a component. */
export function nameOf(names: PodNames, component: PodComponent): string {
  return `${names.stem}-${component}`;
}

/** The StatefulSet of one member of etcd, and the name of the member. */
export function memberName(names: PodNames, index: number): string {
  return `${nameOf(names, "etcd")}-${index}`;
}

/** The one pod of a member. */
export function memberPod(names: PodNames, index: number): string {
  return `${memberName(names, index)}-0`;
}

/** The claim of a member's volume, as its StatefulSet calls it. */
export function memberClaim(names: PodNames, index: number): string {
  return `data-${memberPod(names, index)}`;
}

/** The pod that fills a member's volume from a backup. */
export function restorePodName(names: PodNames, index: number): string {
  return `${memberName(names, index)}-restore`;
}

/** The pod of an etcd without data, to see whether it starts as described. */
export function trialPodName(names: PodNames): string {
  return `${nameOf(names, "etcd")}-next`;
}

/** Which member a pod is. */
const MEMBER_LABEL = "capstan.dev/etcd-member";

/** Labels that select the pod of a member. */
export function memberLabels(names: PodNames, index: number): Record<string, string> {
  return { ...selectorLabels(names, "etcd"), [MEMBER_LABEL]: String(index) };
}

/** The Secret with a component's files. Cluster API's own Secrets are called CLUSTER-etcd and the like, so these are not. */
export function filesSecretName(names: PodNames, component: PodComponent): string {
  return `${names.stem}-hcp-${component}`;
}

/** The Secret that leaf certificates are kept in. */
export function certificatesSecretName(names: PodNames): string {
  return `${names.stem}-hcp-certificates`;
}

/** The name of a member of etcd in the host cluster's DNS. */
export function etcdHost(names: PodNames, index: number): string {
  return `${memberPod(names, index)}.${nameOf(names, "etcd")}.${names.namespace}.svc`;
}

/** The name of the API in the host cluster's DNS. */
export function apiHost(names: PodNames): string {
  return `${nameOf(names, "kube-apiserver")}.${names.namespace}.svc`;
}

/** Labels that select the pods of a component. */
export function selectorLabels(names: PodNames, component: PodComponent): Record<string, string> {
  return { [HOSTED_LABEL]: names.stem, "app.kubernetes.io/component": component };
}

/** The metadata of one of our objects in the host cluster. */
export function ownMetadata(names: PodNames, name: string, component?: PodComponent) {
  return {
    namespace: names.namespace,
    name,
    labels: {
      ...(component === undefined ? { [HOSTED_LABEL]: names.stem } : selectorLabels(names, component)),
      "app.kubernetes.io/managed-by": "capstan",
    },
    annotations: { [OWNER_ANNOTATION]: names.owner },
  };
}

const LONGEST_STEM = 30;

/** A name that Services take: a DNS label that starts with a letter and leaves room for what is added. */
function stemOf(name: string): string {
  if (name.length <= LONGEST_STEM && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  const readable = name.replaceAll(/[^a-z0-9-]/g, "-").slice(0, LONGEST_STEM - 11);
  return `c-${readable}-${hash}`;
}
