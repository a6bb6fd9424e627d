import type { ReasonCatalogue } from "@capstan/capi";

/** Reasons of the conditions of bare-metal hosts, their machines and their data. */
export const METAL3_REASONS: ReasonCatalogue = {
  DeletionForced: {
    meaning: "A host was deleted although it could not be powered off or cleaned (an event).",
    cure: "Check the machine before another one uses it.",
  },
  HealthDegraded: {
    meaning: "The BMC reports a problem of the hardware (an event).",
    cure: "Check the part that the message names.",
  },
  HostClaimed: { meaning: "A host is claimed by this machine." },
  HostContended: { meaning: "A host changed while it was being claimed; the controller retries." },
  InvalidHardwareDetails: {
    meaning: "The annotation with hardware details is not valid (an event).",
    cure: "Correct the annotation that the message names.",
  },
  ReleasingHost: { meaning: "A host that was claimed earlier is being released." },
  ReleasingHosts: { meaning: "The hosts of a deleted cluster are being released." },
  WaitingForCloudProvider: {
    meaning: "The Node waits for a cloud provider to set its provider ID.",
    cure: "Check that the cloud provider runs in the workload cluster.",
  },
  WaitingForNode: { meaning: "The host runs; its Node has not appeared yet." },
  WaitingForReusedHost: { meaning: "A host is kept for this machine and is not available yet." },
  WaitingForWorkloadCluster: {
    meaning: "The workload cluster cannot be reached.",
    cure: "Check its endpoint, firewalls and certificates.",
  },
  AssociateBareMetalHostFailed: {
    meaning: "No BareMetalHost could be claimed.",
    cure: "Register a host that matches spec.hostSelector, or free one.",
  },
  AssociateBareMetalHostSuccess: { meaning: "A BareMetalHost is claimed." },
  AllocationFailed: {
    meaning: "An address could not be allocated from its IPPool.",
    cure: "Correct the pool as the message says.",
  },
  DataNotRendered: {
    meaning: "The data of the machine cannot be rendered from its template.",
    cure: "Correct the object that the message names; the controller renders again when it changes.",
  },
  DeprovisioningHost: { meaning: "The host of a deleted machine is being deprovisioned." },
  HostError: {
    meaning: "The BareMetalHost reports an error.",
    cure: "Correct what the message names; the controller retries.",
  },
  HostProvisioning: { meaning: "The host is on its way to provisioned; the message has its state." },
  NotManaged: { meaning: "The host has no credentials of a BMC yet.", cure: "Set spec.bmc of the BareMetalHost." },
  PoolExhausted: {
    meaning: "The IPPool has no free address left.",
    cure: "Add addresses to the pool, or delete claims that are no longer needed.",
  },
  PowerFailure: {
    meaning: "The BMC did not power the host on or off.",
    cure: "Check the host and its BMC; the controller retries.",
  },
  Registering: { meaning: "The host is being registered with its BMC." },
  RegistrationFailed: {
    meaning: "The BMC cannot be reached or refuses the credentials.",
    cure: "Correct spec.bmc.address or the Secret with the credentials.",
  },
  ReleasingData: { meaning: "The data and addresses of a deleted machine are being released." },
  Unknown: { meaning: "The driver has not reported the health of the host." },
  WaitingForMetal3Data: { meaning: "The data of the machine has not been rendered yet; the message says why." },
};
