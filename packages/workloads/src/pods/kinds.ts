import type { KubeObject } from "@capstan/apimachinery";
import { kindRef } from "@capstan/runtime";

/** A built-in kind of a cluster that runs pods. */
function builtin<T extends KubeObject>(group: string, kind: string, plural: string, namespaced = true) {
  return kindRef<T>({ group, version: "v1", kind, plural, namespaced });
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string | undefined;
}

/** A Deployment or StatefulSet, reduced to the fields that show its rollout. */
export interface PodController extends KubeObject {
  spec?: { replicas?: number };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    updatedReplicas?: number;
    unavailableReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
    conditions?: Condition[];
  };
}
/** Refers to the Deployment kind of a host cluster. */
export const Deployment = builtin<PodController>("apps", "Deployment", "deployments");
/** Refers to the StatefulSet kind of a host cluster. */
export const StatefulSet = builtin<PodController>("apps", "StatefulSet", "statefulsets");

/** The current or last state of a container, as the kubelet reports it. */
export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: { reason?: string; message?: string; exitCode?: number };
}

/** One container's entry in the status of a pod. */
export interface ContainerStatus {
  name: string;
  ready?: boolean;
  /** Whether its startup probe succeeded. */
  started?: boolean;
  restartCount?: number;
  state?: ContainerState;
  lastState?: ContainerState;
}

/** Status of a pod, reduced to what explains why it is not ready. */
export interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  podIP?: string;
  podIPs?: { ip?: string }[];
  conditions?: Condition[];
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

/** A pod, reduced to the fields that show its state. */
export interface Pod extends KubeObject {
  spec?: {
    nodeName?: string;
    hostname?: string;
    volumes?: { name: string; persistentVolumeClaim?: { claimName: string } }[];
  };
  status?: PodStatus;
}
export const Pod = builtin<Pod>("", "Pod", "pods");

/** A PersistentVolumeClaim, reduced to its storage class and phase. */
export interface PersistentVolumeClaim extends KubeObject {
  spec?: { storageClassName?: string };
  status?: { phase?: string };
}
export const PersistentVolumeClaim = builtin<PersistentVolumeClaim>(
  "",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);

/** A Service, reduced to its ports and addresses. */
export interface Service extends KubeObject {
  spec?: {
    type?: string;
    clusterIP?: string;
    ports?: { name?: string; port: number; nodePort?: number; protocol?: string; targetPort?: number }[];
    selector?: Record<string, string>;
    publishNotReadyAddresses?: boolean;
    loadBalancerIP?: string;
  };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}
export const Service = builtin<Service>("", "Service", "services");

/** A Secret in the host cluster. */
export interface HostSecret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}
export const HostSecret = builtin<HostSecret>("", "Secret", "secrets");

/** Refers to the PodDisruptionBudget kind of a host cluster. */
export const PodDisruptionBudget = builtin("policy", "PodDisruptionBudget", "poddisruptionbudgets");
/** Refers to the NetworkPolicy kind of a host cluster. */
export const NetworkPolicy = builtin("networking.k8s.io", "NetworkPolicy", "networkpolicies");

/** A Node of the host cluster. */
export interface HostNode extends KubeObject {
  spec?: { unschedulable?: boolean; podCIDR?: string; podCIDRs?: string[]; taints?: { key: string }[] };
  status?: { conditions?: Condition[]; addresses?: { type: string; address: string }[] };
}
export const HostNode = builtin<HostNode>("", "Node", "nodes", false);

/** The ranges of a cluster's Services, since Kubernetes 1.33. */
export interface ServiceCidr extends KubeObject {
  spec?: { cidrs?: string[] };
}
export const ServiceCidr = builtin<ServiceCidr>("networking.k8s.io", "ServiceCIDR", "servicecidrs", false);
