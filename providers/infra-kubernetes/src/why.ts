import { sentence, type WhyRules } from "@capstan/capi";

/** Reasons that stay until a person acts. */
const FAULTS = new Set([
  "BootstrapDataNotSupported",
  "BootstrapFailed",
  "EndpointChanged",
  "EndpointNodeLost",
  "HostClusterForbids",
  "HostClusterNotKnown",
  "HostClusterRefuses",
  "ImageUnknown",
  "InitContainerFailed",
  "NameNotUsable",
  "NameTaken",
  "NetworksOverlap",
  "NothingRunsPods",
  "PodLost",
  "PodOOMKilled",
  "PodSecurityForbids",
  "PodTemplateInvalid",
  "RecreationTimeout",
  "WaitingForKubernetesCluster",
]);

/** What `why` knows about machines that are pods. */
export const kubernetesWhy: WhyRules = {
  capacityCure: "add nodes to the outer cluster, raise its quota, or lower resources.requests in a new template",
  isFault: ({ kind, reason }) => kind.startsWith("Kubernetes") && FAULTS.has(reason),
  remedies: [
    {
      matches: ({ kind, reason }) => kind === "KubernetesMachine" && reason === "BootstrapFailed",
      remedy: ({ cause }, { machine, flags }) => ({
        cause: `The bootstrap script of machine ${cause.name} failed${sentence(cause.message, ": ")}`,
        steps: [
          "correct what the message says: the KubeadmConfig, the image or the control plane",
          `have it replaced: kubectl delete machine ${machine ?? cause.name}${flags}, or let a MachineHealthCheck do it`,
        ],
      }),
    },
  ],
};
