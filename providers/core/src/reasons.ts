import type { ReasonCatalogue } from "@capstan/capi";

/** Reasons of the conditions of Clusters, Machines and their owners, of health checks, classes, pools and resource sets. */
export const CORE_REASONS: ReasonCatalogue = {
  AllocationFailed: { meaning: "The address cannot be allocated.", cure: "Correct what the message names." },
  Applied: { meaning: "All resources are applied." },
  Available: { meaning: "The object is available." },
  ClusterClassNotReconciled: {
    meaning: "The ClusterClass has not been reconciled at its current generation.",
    cure: "Look at its conditions if this persists.",
  },
  ClusterDoesNotExist: {
    meaning: "The Cluster that spec.clusterName names does not exist.",
    cure: "Create it, or correct spec.clusterName.",
  },
  DataSecretProvided: { meaning: "The Machine has bootstrap data that a user provided." },
  Deleting: {
    meaning: "The object is being deleted; the message names the step or what is left.",
    cure: "capstan why NAME names the object that deletion waits for.",
  },
  DeletingNode: {
    meaning: "The Node cannot be deleted yet.",
    cure: "The message has the error; the controller retries.",
  },
  DeletionCompleted: { meaning: "The Machine is deleted." },
  DrainingNode: {
    meaning: "The Node is being drained; the message names the pods that are left.",
    cure: "Correct the PodDisruptionBudget or the pods that the message names.",
  },
  HealthCheckSucceeded: { meaning: "The Machine passes its health check." },
  Initialized: { meaning: "The control plane was initialized." },
  InvalidConditionReported: {
    meaning: "The referenced object has a condition that is not valid.",
    cure: "Its provider must correct it.",
  },
  InvalidSelector: { meaning: "The selector is not valid.", cure: "Correct spec.selector." },
  InvalidSpec: {
    meaning: "The addresses of the pool are not valid.",
    cure: "Correct the field that the message names.",
  },
  NoMemberHasRoom: {
    meaning: "Replicas do not fit into any member of the WorkerPool.",
    cure: "Raise the max of a member, add a member, or free capacity.",
  },
  NoWorkers: { meaning: "The Cluster has no workers." },
  NodeDeleted: { meaning: "The Node of the Machine was deleted.", cure: "Delete the Machine to have it replaced." },
  NodeHealthy: { meaning: "The conditions of the Node are good." },
  NodeHealthyUnknown: { meaning: "Some conditions of the Node are unknown.", cure: "Check the host if it stays so." },
  NodeNotHealthy: { meaning: "The Node reports problems.", cure: "Correct what the message lists on the host." },
  NodeNotReady: { meaning: "The Node is not Ready.", cure: "Check the kubelet on the host." },
  NodeReady: { meaning: "The Node is Ready." },
  NodeReadyUnknown: {
    meaning: "The kubelet has stopped reporting, or has not reported yet.",
    cure: "Check the host and its network.",
  },
  NodeStartupTimeout: {
    meaning: "No Node appeared within the startup timeout.",
    cure: "Look at the host; the Machine is replaced if remediation is allowed.",
  },
  NotAvailable: {
    meaning: "The object is not available yet; the message says why.",
    cure: "Look at what the message names.",
  },
  NotInitialized: {
    meaning: "The control plane is not initialized yet.",
    cure: "Look at the conditions of the control plane.",
  },
  NotReady: {
    meaning: "The object is not ready yet; the message says why.",
    cure: "Look at the conditions of the object that the message names.",
  },
  NotRemediating: { meaning: "No Machine is being remediated." },
  NotRollingOut: { meaning: "All Machines are up to date." },
  NotUpToDate: {
    meaning: "The Machine differs from what is requested; the message lists the differences.",
    cure: "It is replaced or updated by the rollout.",
  },
  NotUpdating: { meaning: "The Machine is not being updated in place." },
  NotYetReported: {
    meaning: "A condition that a readiness gate names has not been reported.",
    cure: "Its controller must report it, or remove the gate.",
  },
  ObjectDoesNotExist: {
    meaning: "An object that is referred to does not exist.",
    cure: "Create it, or correct the reference.",
  },
  Placed: { meaning: "All replicas of the WorkerPool have a member." },
  PodNetworkMissing: {
    meaning: "The cluster has no pod network.",
    cure: "Apply a CNI, by hand or with a ClusterResourceSet.",
  },
  PoolExhausted: {
    meaning: "The pool has no free address left.",
    cure: "Add addresses to it, or delete claims that are no longer needed.",
  },
  PoolNotReady: {
    meaning: "The pool does not exist, is being deleted, or is not valid.",
    cure: "Create or correct the pool that the message names.",
  },
  ProbeFailed: {
    meaning: "The API of the workload cluster cannot be reached.",
    cure: "Check its endpoint, firewalls and certificates.",
  },
  ProbeSucceeded: { meaning: "The API of the workload cluster answers." },
  ReconcileFailed: {
    meaning: "The topology could not be applied.",
    cure: "Correct the class or the patch that the message names.",
  },
  ReconcileSucceeded: { meaning: "The Cluster is as its topology says." },
  RefVersionsNotUpToDate: {
    meaning: "Templates of the ClusterClass are referred to in an old API version.",
    cure: "Update the references that the message lists.",
  },
  RefVersionsUpToDate: { meaning: "All references of the ClusterClass use the newest API version." },
  Remediating: { meaning: "Machines are being remediated." },
  RemediationAllowed: { meaning: "Unhealthy Machines are remediated." },
  RemediationRequestCreationFailed: {
    meaning: "The request for external remediation could not be created.",
    cure: "The message has the error; the controller retries.",
  },
  RemediationTemplateNotFound: {
    meaning: "The template of the external remediation does not exist.",
    cure: "Create it, or correct spec.remediation.templateRef.",
  },
  RollingOut: { meaning: "Machines are being replaced; the message has the reasons." },
  Settled: { meaning: "The WorkerPool has as many Machines as requested." },
  TooManyUnhealthy: {
    meaning: "More Machines are unhealthy than may be remediated.",
    cure: "Correct the common cause, or raise the limit in spec.remediation.",
  },
  UnhealthyNode: {
    meaning: "A condition of the Node was bad for longer than the check tolerates.",
    cure: "The Machine is replaced if remediation is allowed.",
  },
  UpToDate: { meaning: "The Machine is as requested." },
  Updating: { meaning: "The kubelet of the Node has another version than the Machine requests." },
  VariableDiscoveryFailed: {
    meaning: "Patches discover variables through extensions, which are not supported.",
    cure: "Define the variables in spec.variables.",
  },
  VariablesReady: { meaning: "The variables of the ClusterClass are valid." },
  WaitingForControlPlaneDeletion: {
    meaning: "The control plane is deleted after the workers.",
    cure: "capstan why NAME names what it waits for.",
  },
  WaitingForInfrastructureDeletion: {
    meaning: "The infrastructure is deleted last.",
    cure: "capstan why NAME names what it waits for.",
  },
  WaitingForMinReadySeconds: { meaning: "The Machine is ready, but not for long enough to count as available." },
  WaitingForRemediation: {
    meaning: "The owner or an external controller has to remediate the Machine.",
    cure: "Look at the owner of the Machine, or at the external controller.",
  },
  WaitingForReplacement: { meaning: "More Machines than requested run until others are available." },
  WaitingForVolumeDetach: {
    meaning: "Volumes are still attached to the Node.",
    cure: "The message names them; detach them if their driver is not running.",
  },
  WaitingForWorkersDeletion: {
    meaning: "Workers are deleted first.",
    cure: "capstan why NAME names what it waits for.",
  },
  WrongSecretType: {
    meaning: "A Secret of a ClusterResourceSet has a type that is not supported.",
    cure: "Create it with the type that the message names.",
  },
};
