import type { ReasonCatalogue } from "@capstan/capi";
import { CONTROL_PLANE_REASONS } from "@capstan/controlplane";

const COMPONENTS: ReasonCatalogue = {
  ConnectionDown: {
    meaning: "The API of the workload cluster does not answer, so that nothing is known of the component.",
    cure: "Check the endpoint: its virtual IP or load balancer, and the Machines behind it.",
  },
  DoesNotExist: {
    meaning: "The static pod is not there.",
    cure: "Read on the machine what kubeadm and the kubelet printed.",
  },
  Failed: {
    meaning: "The static pod has exited, or keeps exiting.",
    cure: "Read its log on the machine: crictl logs.",
  },
  HealthUnknown: { meaning: "No Machine reports the health of its components yet." },
  Healthy: { meaning: "The components work." },
  InspectionFailed: {
    meaning: "The component could not be looked at; the message says why.",
    cure: "If it stays, check the Machine that the message names.",
  },
  NotHealthy: {
    meaning: "A component of a Machine, or its member of etcd, does not work.",
    cure: "Repair or replace the Machine that the message names.",
  },
  NotSet: {
    meaning: "The Node lacks the label or the taint of control planes that kubeadm sets.",
    cure: "Set it again with kubectl label or kubectl taint.",
  },
  Provisioning: { meaning: "The static pod is starting." },
  Running: { meaning: "The static pod is ready." },
  Set: { meaning: "The Node has the label and the taint of control planes." },
};

const CHANGES: ReasonCatalogue = {
  AdoptionFailed: {
    meaning: "A control plane Machine without an owner cannot be adopted.",
    cure: "The message says what to change: its version, its bootstrap configuration or its label.",
  },
  CannotBeRemediated: {
    meaning: "Replacing the Machine would cost etcd's quorum or the last control plane, or was tried too often.",
    cure: "Repair it, or the other unhealthy Machines. After the permitted retries (MaxRetry), delete the Machine once the cause is repaired.",
  },
  LeaderUnknown: {
    meaning: "No other member can take over the leadership of etcd, so that the Machine is kept.",
    cure: "Repair the other members.",
  },
  MachinesOfAnotherOwner: {
    meaning: "Control plane Machines of the Cluster belong to another owner, so that none is changed.",
    cure: "Delete those of the other owner, or remove their label cluster.x-k8s.io/control-plane.",
  },
  MembersUnknown: {
    meaning: "The members of etcd are unknown, so that none is removed.",
    cure: "Bring back a majority of them, or recover: capstan recover NAME.",
  },
  NoHealthyControlPlane: {
    meaning: "No other control plane Machine has healthy components.",
    cure: "Repair one of them first.",
  },
  NotEnoughFreeHosts: {
    meaning: "A rollout with a surge needs a free host.",
    cure: "Add a host, or set spec.rollout.strategy.rollingUpdate.maxSurge to 0.",
  },
  OrphanedMember: {
    meaning: "A member of etcd belongs to no Machine, and its removal could cost the quorum.",
    cure: "Repair the unhealthy members first.",
  },
  QuorumWouldBeLost: {
    meaning: "etcd could lose its quorum, so that nothing is removed or added.",
    cure: "Repair the unhealthy members first.",
  },
  Recovering: { meaning: "A ControlPlaneRecovery replaces the Machines." },
  RemediationDeferred: {
    meaning: "The controller replaces the Machine after the operation that the message names has completed.",
  },
  SettingsNotSupported: {
    meaning: "The version refuses settings of spec.kubeadmConfigSpec; no Machine is created or replaced.",
    cure: "Correct what the message names, or set the annotation capstan.dev/drop-removed-flags.",
  },
};

const START: ReasonCatalogue = {
  CertificatesNotAvailable: {
    meaning: "Authorities of the cluster are missing or cannot be used.",
    cure: "Restore or create the Secret that the message names.",
  },
  InfrastructureTemplateNotFound: {
    meaning: "spec.machineTemplate.spec.infrastructureRef leads nowhere.",
    cure: "Apply the template, or name another one.",
  },
  WaitingForCluster: {
    meaning: "No Cluster names the control plane.",
    cure: "Set spec.controlPlaneRef of the Cluster.",
  },
  WaitingForClusterInfrastructureReady: { meaning: "The infrastructure of the Cluster is not provisioned yet." },
  WaitingForEndpoint: {
    meaning: "The Cluster has no endpoint.",
    cure: "Set spec.controlPlaneEndpoint of the Cluster to a load balancer or virtual IP.",
  },
  WaitingForMachineDeletion: { meaning: "The control plane is being deleted; its Machines go first." },
  WaitingForWorkersDeletion: { meaning: "The control plane is being deleted after all workers." },
};

const ETCD: ReasonCatalogue = {
  DefragmentationFailed: {
    meaning: "Members of etcd could not be compacted or defragmented; it is tried again.",
    cure: "Correct what the message names.",
  },
  InvalidSchedule: {
    meaning: "The annotation capstan.dev/etcd-defragment-schedule is no schedule.",
    cure: "Write five fields of cron, in UTC.",
  },
  NoSpace: {
    meaning: "etcd has reached its quota and rejects writes (alarm NOSPACE).",
    cure: "Delete objects, or raise quota-backend-bytes in spec.kubeadmConfigSpec.clusterConfiguration.etcd.local.extraArgs.",
  },
  TooManyLeaderChanges: {
    meaning: "etcd changed its leader four times or more within ten minutes.",
    cure: "The message names the likely cause: a slow disk, a slow network, or too little CPU.",
  },
};

const ADDONS: ReasonCatalogue = {
  AddonsNotUpdated: {
    meaning: "kube-proxy, CoreDNS or kubeadm-config could not be brought up to date; it is tried again.",
    cure: "Correct what the message names.",
  },
  CoreDNSNotMigratable: {
    meaning: "There is no path from the running CoreDNS to the wanted one.",
    cure: "Choose another version, or set the annotation that the message names.",
  },
  CoreDNSNotUpdated: { meaning: "CoreDNS cannot be updated.", cure: "Correct what the message names." },
  KubeProxyImageUnknown: {
    meaning: "The image of kube-proxy has no tag that could be replaced.",
    cure: "Write it with a tag, or set the annotation that the message names.",
  },
};

const STATES: ReasonCatalogue = {
  Available: { meaning: "Enough Machines have healthy components, and etcd has its quorum." },
  CertificatesMissing: {
    meaning: "No Machine can join, because an authority of the cluster is missing.",
    cure: "The condition CertificatesAvailable names it: restore its Secret.",
  },
  Deleting: { meaning: "The Machine is being deleted." },
  EndpointDown: {
    meaning: "The API answers at the Machines, but not at the endpoint of the cluster.",
    cure: "Repair the load balancer or virtual IP of the endpoint; repairs of the control plane continue meanwhile.",
  },
  Initialized: { meaning: "The first Machine serves the API of the cluster." },
  MachineDeleting: { meaning: "A control plane Machine is being deleted; others change after that." },
  NotAvailable: {
    meaning: "No control plane Machine serves the API, or etcd has no quorum.",
    cure: "Repair what the message names; without a quorum: capstan recover NAME.",
  },
  NotInitialized: { meaning: "The first Machine has not run kubeadm init to its end yet." },
  NotRemediating: { meaning: "No Machine is being replaced because of its health." },
  NotRollingOut: { meaning: "All Machines are as specified." },
  NotUpToDate: {
    meaning: "The Machine differs from the specification and will be replaced; the message says in what.",
  },
  Recovered: { meaning: "The recovery has brought the control plane back to its number of Machines." },
  Remediating: { meaning: "Machines whose health check failed are being replaced." },
  RollingOut: { meaning: "Machines are being replaced, since they differ from the specification." },
  TopologyVersion: { meaning: "The version of the topology has to reach the control plane before Machines change." },
  UpToDate: { meaning: "The Machine is as specified." },
  Updating: { meaning: "The Machine is being updated." },
  WorkersLeft: { meaning: "The control plane is deleted after the workers." },
};

/** Reasons of the conditions of control planes on Machines. */
export const KUBEADM_CONTROL_PLANE_REASONS: ReasonCatalogue = {
  ...CONTROL_PLANE_REASONS,
  ...START,
  ...STATES,
  ...COMPONENTS,
  ...CHANGES,
  ...ETCD,
  ...ADDONS,
};
