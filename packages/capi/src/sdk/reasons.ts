/** What a reason of a condition means, and what to do about it; no cure: nothing has to be done. */
export interface ReasonDoc {
  readonly meaning: string;
  readonly cure?: string;
}

/** The reasons that a provider's conditions have. */
export type ReasonCatalogue = Readonly<Record<string, ReasonDoc>>;

/** Reasons that the code below the providers gives: what is the same for all of them. */
export const SHARED_REASONS: ReasonCatalogue = {
  Complete: { meaning: "All replicas are up to date and available." },
  InsufficientCapacity: {
    meaning: "No free host matches the Machine.",
    cure: "Add a host that matches, relax the selector, or scale down.",
  },
  InternalError: {
    meaning: "The last attempt failed with an unexpected error and is retried with a back-off.",
    cure: "Read the message; if it stays, read the log of the manager.",
  },
  NodeOfAnotherMachine: {
    meaning: "The Node of the machine's name has another provider ID.",
    cure: "Delete that Node if its machine no longer exists.",
  },
  NodeProviderIDSet: { meaning: "The Node has the provider ID of the machine." },
  NoReplicas: { meaning: "There are no Machines to aggregate." },
  NotDeleting: { meaning: "The object is not being deleted." },
  NotPaused: { meaning: "The object is reconciled." },
  NotScalingDown: { meaning: "There are no more Machines than requested." },
  NotScalingUp: { meaning: "There are no fewer Machines than requested." },
  ObjectDeleted: {
    meaning: "The object behind it was deleted at its provider or in the API.",
    cure: "Delete the Machine to have it replaced, or create the object again.",
  },
  Paused: {
    meaning: "The Cluster or the object is paused, and nothing is reconciled.",
    cure: "Run capstan resume NAME, or remove the annotation cluster.x-k8s.io/paused.",
  },
  ProgressDeadlineExceeded: {
    meaning: "A rollout has made no progress for its deadline, ten minutes by default.",
    cure: "The message names what blocks it; capstan why NAME shows the cause.",
  },
  Progressing: { meaning: "A rollout makes progress." },
  ProviderIDChanged: {
    meaning: "The machine behind the object is another one than before.",
    cure: "Delete the Machine to have it replaced.",
  },
  Ready: { meaning: "The object is ready." },
  ScalingDown: { meaning: "Machines are being deleted to reach the requested number." },
  ScalingUp: { meaning: "Machines are being created to reach the requested number; the message says what blocks it." },
  WaitingForBootstrapData: {
    meaning: "The bootstrap provider has not written the bootstrap data yet.",
    cure: "Look at the KubeadmConfig of the Machine, and at the control plane if that is not initialized.",
  },
  WaitingForCluster: {
    meaning: "The Cluster that the object belongs to does not exist, or does not refer to it.",
    cure: "Create the Cluster, or correct spec.clusterName or spec.infrastructureRef.",
  },
  WaitingForClusterInfrastructureReady: {
    meaning: "Machines wait until the infrastructure of their Cluster is ready.",
    cure: "Look at the conditions of the infrastructure cluster.",
  },
  WaitingForControlPlaneInitialized: {
    meaning: "Workers wait until the control plane is initialized.",
    cure: "Look at the conditions of the control plane.",
  },
  WaitingForMachine: {
    meaning: "No Machine owns this infrastructure object yet.",
    cure: "Create a Machine that refers to it, or delete it.",
  },
  WaitingForMachinesDeletion: { meaning: "The infrastructure cluster is deleted after its machines." },
  WaitingForReplicasSet: {
    meaning: "spec.replicas is not set yet.",
    cure: "Set spec.replicas, or let an autoscaler set it.",
  },
};
