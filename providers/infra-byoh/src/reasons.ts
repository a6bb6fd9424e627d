import type { ReasonCatalogue } from "@capstan/capi";
import { AGENT_REASONS } from "@capstan/host-agent";

/** Reasons of the conditions of hosts, their machines and their enrolment. */
export const BYOH_REASONS: ReasonCatalogue = {
  ...AGENT_REASONS,
  CertificateExpired: {
    meaning: "The certificate of the agent expired, and it has not reported since.",
    cure: "Run the command that capstan host add NAME prints on the host.",
  },
  ClockSkew: {
    meaning: "The clock of the host is wrong, and certificates and tokens fail because of it.",
    cure: "Set up NTP on the host.",
  },
  ClonedMachineID: {
    meaning: "Another host had this machine-id before, and no machine can claim the host.",
    cure: "Give it a new one with systemd-machine-id-setup, or remove the other host.",
  },
  HeartbeatTimeout: {
    meaning: "The agent has stopped reporting.",
    cure: "Check that the host is powered on, reaches the management API and runs capstan-host-agent.",
  },
  HeartbeatsArrive: { meaning: "The agent reports." },
  HostPaused: { meaning: "The host is paused.", cure: "Resume it, as the message says." },
  InSync: { meaning: "The clock of the host is right." },
  InstallationSecretNotAvailable: {
    meaning: "The installer of the machine has not written its commands yet.",
    cure: "Look at the installer that spec.installerRef names.",
  },
  Unique: { meaning: "No other host has this machine-id." },
  WaitingForAgent: {
    meaning: "No agent has enrolled for the host.",
    cure: "Run the command that capstan host add NAME prints on the host.",
  },
  AuthorityInvalid: {
    meaning: "The authority in the BootstrapKubeconfig is not a PEM certificate.",
    cure: "Set certificate-authority-data to the base64 of one.",
  },
  HostClaimed: { meaning: "A host is claimed; its agent has not read the bootstrap data yet." },
  HostContended: { meaning: "A host changed while it was being claimed; the controller retries." },
  HostEnrolled: { meaning: "The host proved its identity and got its certificate." },
  HostEnrolledAlready: {
    meaning: "A host of this name has an agent already.",
    cure: "Remove it first: capstan host remove NAME.",
  },
  HostGivenUp: {
    meaning: "The host was removed while it could not be reached, and gets no new certificate.",
    cure: "Enrol it again: capstan host add NAME.",
  },
  HostRefused: {
    meaning: "The certificate request does not fit the host.",
    cure: "Enrol the host again with a new token: capstan host add NAME.",
  },
  InsecureRefused: {
    meaning: "The BootstrapKubeconfig would skip the verification of the server.",
    cure: "Remove insecure-skip-tls-verify and set certificate-authority-data.",
  },
  InvalidConfiguration: {
    meaning: "The installer template is not valid.",
    cure: "Correct the field that the message names.",
  },
  Releasing: { meaning: "The host of a deleted machine is being released." },
  ReleasingHost: { meaning: "A host that was claimed earlier is being released first." },
  TokenExpired: {
    meaning: "No host enrolled with the token in time.",
    cure: "Delete the BootstrapKubeconfig and create a new one.",
  },
  TokenGood: { meaning: "The token is valid for one host.", cure: "Start the agent on the host with it." },
  TokenUsed: { meaning: "A host has enrolled with the token." },
  WaitingForNode: { meaning: "The host has joined; its Node has not appeared yet." },
};
