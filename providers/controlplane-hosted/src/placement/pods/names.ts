import { createHash } from "node:crypto";
import { HOSTED_LABEL, OWNER_ANNOTATION } from "@capstan/workloads";

/** A component of a control plane that runs in pods. */
export type PodComponent = "etcd" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler";

/** Names of a control plane's objects in the host cluster; derived from the HostedControlPlane, so they never change. */
export interface PodNames {
  /** `NAMESPACE/NAME` of the HostedControlPlane. */
  owner: string;
  namespace: string;
  /** Prefix of all names. */
  stem: string;
}

/** Returns the names for a HostedControlPlane. The namespace in the host cluster is the same as the object's. */
export function podNames(owner: string): PodNames {
  const [namespace = "", name = ""] = owner.split("/");
  return { owner, namespace, stem: stemOf(name) };
}

/** Returns the name of a component's Deployment, StatefulSet, Service and PodDisruptionBudget. */
export function nameOf(names: PodNames, component: PodComponent): string {
  return `${names.stem}-${component}`;
}

/** Returns the name of an etcd member and its StatefulSet. */
export function memberName(names: PodNames, index: number): string {
  return `${nameOf(names, "etcd")}-${index}`;
}

/** Returns the name of a member's pod. */
export function memberPod(names: PodNames, index: number): string {
  return `${memberName(names, index)}-0`;
}

/** Returns the name of a member's PersistentVolumeClaim, as its StatefulSet creates it. */
export function memberClaim(names: PodNames, index: number): string {
  return `data-${memberPod(names, index)}`;
}

/** Returns the name of the pod that restores a member's volume from a backup. */
export function restorePodName(names: PodNames, index: number): string {
  return `${memberName(names, index)}-restore`;
}

/** Returns the name of the pod of an etcd trial. */
export function trialPodName(names: PodNames): string {
  return `${nameOf(names, "etcd")}-next`;
}

/** Label with the member that a pod runs. */
const MEMBER_LABEL = "capstan.dev/etcd-member";

/** Returns the labels that select a member's pod. */
export function memberLabels(names: PodNames, index: number): Record<string, string> {
  return { ...selectorLabels(names, "etcd"), [MEMBER_LABEL]: String(index) };
}

/** Returns the name of the Secret with a component's files, which differs from Cluster API's own Secrets such as CLUSTER-etcd. */
export function filesSecretName(names: PodNames, component: PodComponent): string {
  return `${names.stem}-hcp-${component}`;
}

/** Returns the name of the Secret with the leaf certificates. */
export function certificatesSecretName(names: PodNames): string {
  return `${names.stem}-hcp-certificates`;
}

/** Returns the DNS name of an etcd member in the host cluster. */
export function etcdHost(names: PodNames, index: number): string {
  return `${memberPod(names, index)}.${nameOf(names, "etcd")}.${names.namespace}.svc`;
}

/** Returns the DNS name of the API in the host cluster. */
export function apiHost(names: PodNames): string {
  return `${nameOf(names, "kube-apiserver")}.${names.namespace}.svc`;
}

/** Returns the labels that select a component's pods. */
export function selectorLabels(names: PodNames, component: PodComponent): Record<string, string> {
  return { [HOSTED_LABEL]: names.stem, "app.kubernetes.io/component": component };
}

/** Returns the metadata of an object that this placement creates in the host cluster. */
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

/** A valid prefix of Service names: a DNS label that starts with a letter and leaves room for suffixes. */
function stemOf(name: string): string {
  if (name.length <= LONGEST_STEM && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  const readable = name.replaceAll(/[^a-z0-9-]/g, "-").slice(0, LONGEST_STEM - 11);
  return `c-${readable}-${hash}`;
}
