import type { ReasonCatalogue } from "@capstan/capi";

/** Reasons of the conditions of MetaClusters. */
export const META_REASONS: ReasonCatalogue = {
  Deleting: { meaning: "The infrastructures are deleted first; the message names those that are left." },
  EndpointMismatch: {
    meaning: "An infrastructure has another endpoint than the cluster.",
    cure: "Recreate the child without spec.controlPlaneEndpoint.",
  },
  EndpointReady: { meaning: "The cluster has an endpoint." },
  FailureDomainClash: {
    meaning: "Two infrastructures have a failure domain of the same name.",
    cure: "Rename it in one of them.",
  },
  InfrastructuresNotReady: {
    meaning: "Some infrastructures are not ready; the message has a line for each.",
    cure: "Look at the conditions of those that the message names.",
  },
  InfrastructuresReady: { meaning: "All infrastructures are ready." },
  ObjectDoesNotExist: {
    meaning: "An infrastructure that spec refers to does not exist.",
    cure: "Create it, or remove the reference.",
  },
  OwnedByAnother: {
    meaning: "An infrastructure belongs to another object and is not adopted.",
    cure: "Refer to another one, or remove the owner there.",
  },
  ProviderNotInstalled: {
    meaning: "No installed provider serves the kind of a reference.",
    cure: "Install the provider, or correct the reference.",
  },
  WaitingForEndpoint: {
    meaning: "No infrastructure and no control plane offers an endpoint yet.",
    cure: "Set it on the Cluster, on this object or on the control plane, or mark a child with controlPlane: true.",
  },
};
