import type { ReasonCatalogue } from "@capstan/capi";

const OUTER = "Look at the pod in the outer cluster: kubectl describe pod NAME.";
const REPLACE = "Delete the Machine to have it replaced; a MachineHealthCheck does it.";

/** Reasons of the conditions of clusters and machines that are pods. */
export const KUBERNETES_REASONS: ReasonCatalogue = {
  BootstrapDataNotSupported: {
    meaning: "The bootstrap data needs what a pod cannot do, such as disks.",
    cure: "Remove what the message names from the KubeadmConfig.",
  },
  BootstrapFailed: {
    meaning: "The bootstrap script failed; the message has the command and the end of its output.",
    cure: "Correct the cause and delete the Machine to have it replaced.",
  },
  BootstrapSucceeded: { meaning: "The bootstrap script has run." },
  Bootstrapping: { meaning: "The node has started and runs its bootstrap script." },
  ClaimLost: {
    meaning:
      "A PersistentVolumeClaim with the data of a control plane machine is deleted, so that its pod is not created again.",
    cure: REPLACE,
  },
  ClaimPending: {
    meaning: "A PersistentVolumeClaim of the machine has no volume.",
    cure: "Correct the StorageClass, or create a volume.",
  },
  ContainerCannotStart: { meaning: "The outer node cannot start a container of the pod.", cure: OUTER },
  Creating: { meaning: "The pod, or the Service, is being created." },
  DeletingObjects: { meaning: "Objects in the outer cluster are being deleted." },
  DeletingPod: { meaning: "The pod of a deleted machine is ending." },
  EndpointChanged: {
    meaning: "The Service has another address than the cluster's endpoint.",
    cure: "Give the Service its former address back.",
  },
  EndpointNodeLost: {
    meaning: "The outer node whose address is the endpoint does not exist any more, or is not Ready.",
    cure: "Start it again, or give its address to another outer node.",
  },
  HostClusterForbids: {
    meaning: "The outer cluster does not allow a write.",
    cure: "Grant the permissions that the message names.",
  },
  HostClusterNotKnown: {
    meaning: "The Secret with the kubeconfig of the outer cluster is missing or not usable.",
    cure: "Create it in the namespace of the KubernetesCluster, with key value.",
  },
  HostClusterNotReachable: {
    meaning: "The outer cluster does not answer, or no longer accepts the kubeconfig.",
    cure: "Restore it, or renew the kubeconfig in the Secret.",
  },
  HostClusterRefuses: { meaning: "The outer cluster refuses an object as invalid.", cure: "Correct the template." },
  ImagePullFailed: {
    meaning: "The image of the node cannot be pulled.",
    cure: "Correct spec.image, load the image on the outer nodes, or set imagePullSecrets.",
  },
  ImageUnknown: {
    meaning: "Neither spec.image nor the version of the Machine says which image to use.",
    cure: "Set one of them.",
  },
  InitContainerFailed: {
    meaning: "An init container of the pod template failed.",
    cure: "Correct it in a new template.",
  },
  NameNotUsable: { meaning: "The name of the machine cannot be a host name.", cure: "Use a shorter name." },
  NameTaken: {
    meaning: "An object of the same name in the outer cluster belongs to another owner.",
    cure: "Delete it there, or use another name.",
  },
  NetworksOverlap: {
    meaning: "A network of the Cluster is one of the outer cluster too.",
    cure: "Create the Cluster with other networks.",
  },
  NodeExited: { meaning: "The node exited after it was bootstrapped, or its outer node lost it.", cure: REPLACE },
  NothingRunsPods: {
    meaning: "The management cluster runs no pods.",
    cure: "Set spec.hostCluster.secretName of the KubernetesCluster.",
  },
  OuterNodeDrained: {
    meaning: "The outer node is cordoned: the Machine is replaced before its Node is drained.",
    cure: "Nothing, if a MachineSet owns the Machine; otherwise delete the Machine.",
  },
  OuterNodeStays: { meaning: "The outer node of the machine is not being drained." },
  PodDeleted: { meaning: "The pod was deleted in the outer cluster.", cure: REPLACE },
  PodDisrupted: {
    meaning: "The outer cluster removed the pod: preemption, a drain, a taint or a node without resources.",
    cure: REPLACE,
  },
  PodEvicted: { meaning: "The outer node was out of resources and evicted the pod.", cure: REPLACE },
  PodFailed: { meaning: "The outer node gave the pod up.", cure: OUTER },
  PodLost: { meaning: "The pod no longer exists in the outer cluster.", cure: REPLACE },
  PodNotReady: {
    meaning:
      "The node is bootstrapped and its API server is not ready yet, or a recreated pod runs and was not ready within recreationTimeout.",
    cure: OUTER,
  },
  PodNotTerminating: {
    meaning: "The pod of a deleted machine does not end, because its outer node is not there.",
    cure: "Delete the outer node, or taint it node.kubernetes.io/out-of-service.",
  },
  PodOOMKilled: {
    meaning: "The node used more memory than its limit.",
    cure: "Raise resources.limits.memory in a new template.",
  },
  PodSecurityForbids: {
    meaning: "Pod Security of the namespace does not allow a privileged node.",
    cure: "Label the namespace pod-security.kubernetes.io/enforce=privileged, or use hostUsers: false or a runtimeClassName.",
  },
  PodTemplateInvalid: {
    meaning: "The pod template is refused: it cannot be a node, or asks for what a machine may not have.",
    cure: "Correct the field that the message names, in a new template.",
  },
  Recreating: { meaning: "The lost pod is created again under the same name." },
  RecreationTimeout: {
    meaning: "The pod that was created again is not ready in time.",
    cure: REPLACE,
  },
  Scheduling: { meaning: "The pod waits for an outer node." },
  SchedulingGated: { meaning: "The pod has scheduling gates.", cure: "Remove them." },
  Starting: { meaning: "The outer node starts the pod." },
  WaitingForAddress: { meaning: "The Service has no address yet." },
  WaitingForBootstrap: { meaning: "The bootstrap script has not finished." },
  WaitingForEndpoint: {
    meaning: "The cluster has no Service, and no endpoint of its own either.",
    cure: "Set spec.controlPlaneEndpoint of the KubernetesCluster.",
  },
  WaitingForKubernetesCluster: {
    meaning: "The KubernetesCluster of the Cluster does not exist, so the outer cluster is not known.",
    cure: "Create it.",
  },
  WaitingForLoadBalancer: {
    meaning: "The Service has no address of a load balancer.",
    cure: "Install an implementation of type LoadBalancer, or use type NodePort or ClusterIP.",
  },
  WaitingForMachinePool: { meaning: "No MachinePool owns the KubernetesMachinePool yet." },
  WaitingForMachines: { meaning: "Not all machines of the pool are ready." },
  WaitingForOuterNode: {
    meaning: "No outer node has an address that could be the endpoint.",
    cure: "Add a node, or set spec.controlPlaneEndpoint.",
  },
};
