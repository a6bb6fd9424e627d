import type { ReasonCatalogue } from "@capstan/capi";

/** Reasons that the agent of a host reports. */
export const AGENT_REASONS: ReasonCatalogue = {
  WaitingForMachineRefToBeAssigned: { meaning: "No machine has claimed the host." },
  BootstrapDataSecretUnavailable: { meaning: "The bootstrap data of the machine has not reached the host yet." },
  AgentRunning: { meaning: "The agent reports, and the host can be claimed." },
  BootstrapFailed: {
    meaning: "The commands of the bootstrap data failed on the host.",
    cure: "Read the message and the log of the agent on the host; the Machine is replaced by a health check or by deleting it.",
  },
  Bootstrapping: { meaning: "The host carries out its bootstrap data; the message names the step." },
  Cleaning: { meaning: "The host removes what an earlier Machine left." },
  CleaningFailed: {
    meaning: "The host could not remove what an earlier Machine left.",
    cure: "Correct what the message names on the host; the agent retries.",
  },
  CloudInitExecutionFailed: {
    meaning: "The commands of the bootstrap data failed, as tools for the upstream provider expect to read it.",
    cure: "As for BootstrapFailed.",
  },
  DiskFull: {
    meaning: "There is too little free space for what is to be written.",
    cure: "Free space in the file system that the message names.",
  },
  HoldsEtcdMember: {
    meaning: "The host still holds a voting member of etcd and is not cleaned.",
    cure: "Remove the member first, as the message says.",
  },
  HostNameInvalid: {
    meaning: "The host's name is not a valid name of a Node.",
    cure: "Set one with hostnamectl.",
  },
  Joined: { meaning: "The host has joined its cluster." },
  K8sNodeAbsent: { meaning: "The host is no Node: it is being cleaned, or was not claimed." },
  LeftoversFound: {
    meaning: "The host has files of an earlier Kubernetes.",
    cure: "If it is no longer a Node, run kubeadm reset on it.",
  },
  ProgramsMissing: {
    meaning: "Programs that a Node needs are not installed on the host.",
    cure: "Install them, or give the Machine an installer template.",
  },
  ReleaseFailed: {
    meaning: "The host could not be released from its Machine.",
    cure: "Correct what the message names on the host; the agent retries.",
  },
  SwapOn: {
    meaning: "The host swaps, and the kubelet does not start.",
    cure: "Run swapoff -a and remove the entry from /etc/fstab, or set failSwapOn: false.",
  },
};
