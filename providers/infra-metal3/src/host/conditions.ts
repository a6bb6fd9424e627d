import { findCondition } from "@capstan/apimachinery";
import { type ConditionInput, resolveReference } from "@capstan/capi";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import type { ProvisioningState } from "../kinds/bare-metal-host-status.ts";
import type { HardwareHealth } from "../provisioner/provisioner.ts";
import { type HostStatus, runsSomething, stateOf } from "./status.ts";

const PROGRESS: Partial<Record<ProvisioningState, string>> = {
  registering: "Registering",
  inspecting: "Inspecting",
  preparing: "Preparing",
  provisioning: "Provisioning",
  deprovisioning: "Deprovisioning",
  "powering off before delete": "PoweringOffBeforeDelete",
  deleting: "Deleting",
};

const NEXT: Partial<Record<ProvisioningState, string>> = {
  "": "The host is new and has not been reconciled",
  unmanaged: "The host has no spec.bmc: set its address and credentialsName",
  registering: "Waiting for an answer from the management controller",
  inspecting: "Waiting for the inventory of the hardware",
  preparing: "Disks and firmware are being prepared",
  available: "Available: a Metal3Machine can claim the host, or set spec.image",
  provisioning: "The image is being provisioned",
  deprovisioning: "The image is being removed from the host",
  "powering off before delete": "The host is powered off before it is deleted",
  deleting: "The host is being deleted",
};

/** Computes the conditions of a host, with upstream's types and reasons. */
export function hostConditions(host: BareMetalHost, status: HostStatus, health?: HardwareHealth): ConditionInput[] {
  const state = stateOf(status);
  return [
    manageable(status, state),
    provisioned(status, state),
    ready(status, state),
    available(host, status, state),
    progressing(status, state),
    healthy(host, health),
  ];
}

function make(type: string, status: boolean, reason: string, message = ""): ConditionInput {
  return { type, status: status ? "True" : "False", reason, message };
}

function manageable(status: HostStatus, state: ProvisioningState): ConditionInput {
  const { errorType, errorMessage } = status;
  const no = (reason: string, message: string): ConditionInput => make("Manageable", false, reason, message);
  if (state === "" || state === "unmanaged") return no("NotManaged", NEXT[state] ?? "");
  if (status.operationalStatus === "detached") return no("NotManaged", DETACHED);
  if (errorType === "registration error" || errorType === "provisioned registration error")
    return no("RegistrationFailed", errorMessage);
  if (errorType === "power management error") return no("PowerFailure", errorMessage);
  if (status.goodCredentials === undefined) return no("Registering", NEXT.registering ?? "");
  return make("Manageable", true, "Manageable");
}

const DETACHED = "The host is detached: remove the annotation baremetalhost.metal3.io/detached to manage it again";

function provisioned(status: HostStatus, state: ProvisioningState): ConditionInput {
  if (runsSomething(state)) return make("Provisioned", true, "Provisioned");
  const reason = state === "provisioning" ? "Provisioning" : "NotProvisioned";
  return make("Provisioned", false, reason, status.errorMessage || NEXT[state]);
}

function ready(status: HostStatus, state: ProvisioningState): ConditionInput {
  if (status.operationalStatus === "detached") return make("Ready", false, "Detached", DETACHED);
  if (status.errorType !== undefined) return make("Ready", false, "Error", status.errorMessage);
  if (runsSomething(state)) return make("Ready", true, "Provisioned");
  return make("Ready", false, "NotProvisioned", NEXT[state]);
}

function available(host: BareMetalHost, status: HostStatus, state: ProvisioningState): ConditionInput {
  const type = "AvailableForProvisioning";
  const isManageable = manageable(status, state);
  if (isManageable.status !== "True") return make(type, false, "NotManageable", isManageable.message);
  const { consumerRef } = host.spec;
  if (consumerRef !== undefined) {
    const consumer = resolveReference(host, consumerRef, "spec.consumerRef");
    const isUsed = `The host is in use by ${consumerRef.kind} ${consumerRef.name}`;
    return make(type, false, "NotAvailable", "problem" in consumer ? consumer.problem : isUsed);
  }
  if (state === "available" && status.errorType === undefined) return make(type, true, "Available");
  return make(type, false, "NotAvailable", status.errorMessage || NEXT[state] || "The host is in use");
}

function progressing(status: HostStatus, state: ProvisioningState): ConditionInput {
  if (status.operationalStatus === "detached") return make("Progressing", false, "Detached", DETACHED);
  const reason = PROGRESS[state];
  return reason === undefined
    ? make("Progressing", false, "NotProgressing")
    : make("Progressing", true, reason, status.errorMessage || NEXT[state]);
}

/** Formats the message for hardware that the management controller reports as unhealthy. */
export function healthText(health: "Warning" | "Critical"): string {
  return `The management controller reports hardware health ${health}: find the failed part in its log and repair it`;
}

/** What is not known now is as it was. */
function healthy(host: BareMetalHost, health: HardwareHealth | undefined): ConditionInput {
  const before = findCondition(host.status?.conditions ?? [], HEALTHY);
  if (health === undefined && before !== undefined) {
    const { type, status, reason, message } = before;
    return { type, status, reason, message };
  }
  if (health === undefined)
    return { type: HEALTHY, status: "Unknown", reason: "Unknown", message: "The driver has not reported health" };
  if (health === "OK") return make(HEALTHY, true, "Healthy");
  return make(HEALTHY, false, health === "Critical" ? "CriticalError" : "Warning", healthText(health));
}

const HEALTHY = "Healthy";
