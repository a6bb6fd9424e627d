import type { Unstructured } from "@capstan/apimachinery";
import type { Node } from "@capstan/capi";

/** The components of a control plane machine that run as static pods. */
export const COMPONENTS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"] as const;
/** One of COMPONENTS. */
export type Component = (typeof COMPONENTS)[number];

/** How a static pod does. */
export type PodHealth = "running" | "crashing" | "unknown";

/** What a mirror pod is made from. */
export interface MirrorPodInput {
  readonly component: Component;
  readonly node: Node;
  readonly version: string;
  /** When it started, RFC 3339. */
  readonly since: string;
}

/** What the status of a mirror Pod is made from. */
export interface PodReport {
  readonly component: Component;
  readonly version: string;
  readonly address: string;
  readonly health: PodHealth;
  /** When it changed, RFC 3339. */
  readonly since: string;
}

/** Builds the mirror Pod that a kubelet creates for a static pod; with its Node it is deleted. */
export function mirrorPod(input: MirrorPodInput): Unstructured {
  const { component, node, version, since } = input;
  const nodeName = node.metadata.name ?? "";
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: podName(component, nodeName),
      namespace: "kube-system",
      labels: { component, tier: "control-plane" },
      annotations: {
        "kubernetes.io/config.hash": `${component}-${version}`,
        "kubernetes.io/config.mirror": `${component}-${version}`,
        "kubernetes.io/config.seen": since,
        "kubernetes.io/config.source": "file",
      },
      ownerReferences: [
        { apiVersion: "v1", kind: "Node", name: nodeName, uid: node.metadata.uid ?? "", controller: true },
      ],
    },
    spec: {
      nodeName,
      hostNetwork: true,
      priorityClassName: "system-node-critical",
      restartPolicy: "Always",
      tolerations: [{ effect: "NoExecute", operator: "Exists" }],
      containers: [{ name: component, image: imageOf(component, version) }],
    },
  };
}

/** Name of a static pod's mirror Pod. */
export function podName(component: Component, nodeName: string): string {
  return `${component}-${nodeName}`;
}

/** What a kubelet reports of a static pod, or the node lifecycle controller of one on a silent Node. */
export function podStatus({ component, health, version, since, address }: PodReport): object {
  const ready = health === "running" ? "True" : "False";
  const condition = (type: string, status: string): object => ({
    type,
    status,
    lastTransitionTime: since,
    ...(health === "crashing" && status === "False"
      ? { reason: "ContainersNotReady", message: `containers with unready status: [${component}]` }
      : {}),
  });
  return {
    phase: "Running",
    hostIP: address,
    podIP: address,
    startTime: since,
    conditions: [
      condition("PodScheduled", "True"),
      condition("Initialized", "True"),
      // Of a silent Node only the Ready condition is changed.
      condition("ContainersReady", health === "unknown" ? "True" : ready),
      condition("Ready", ready),
    ],
    containerStatuses: [
      {
        name: component,
        image: imageOf(component, version),
        imageID: "",
        ready: health !== "crashing",
        restartCount: health === "crashing" ? 5 : 0,
        started: health !== "crashing",
        state:
          health === "crashing"
            ? {
                waiting: {
                  reason: "CrashLoopBackOff",
                  message: `back-off 5m0s restarting failed container=${component}`,
                },
              }
            : { running: { startedAt: since } },
      },
    ],
  };
}

function imageOf(component: Component, version: string): string {
  return component === "etcd" ? "registry.k8s.io/etcd:3.6.5-0" : `registry.k8s.io/${component}:${version}`;
}
