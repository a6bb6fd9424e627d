/** Reasons of conditions that upstream does not have: people and programs rely on them, so existing ones never change. */
export const REASONS = {
  /** No Cluster names the control plane in spec.controlPlaneRef. */
  waitingForCluster: "WaitingForCluster",
  /** The infrastructure cluster has not been provisioned. */
  waitingForInfrastructure: "WaitingForClusterInfrastructureReady",
  /** Nothing has set the address of the API. */
  waitingForEndpoint: "WaitingForEndpoint",
  /** spec.machineTemplate.spec.infrastructureRef leads nowhere. */
  templateNotFound: "InfrastructureTemplateNotFound",
  /** Authorities cannot be created or read. */
  certificatesNotAvailable: "CertificatesNotAvailable",
  /** Control plane Machines of the Cluster have another controller. */
  foreignMachines: "MachinesOfAnotherOwner",
  /** A stand-alone control plane Machine cannot be adopted. */
  adoptionFailed: "AdoptionFailed",
  /** Most members of etcd do not answer. */
  quorumLost: "QuorumLost",
  /** The API answers at the Machines only. */
  endpointDown: "EndpointDown",
  /** A ControlPlaneRecovery replaces the Machines. */
  recovering: "Recovering",
} as const;
