import { formatTime } from "@capstan/apimachinery";
import type { ProvisioningState } from "../kinds/bare-metal-host-status.ts";
import { failedBefore, type HostStatus, stateOf, withoutError } from "./status.ts";
import type { HostMemory, HostView } from "./step.ts";

/** A Kubernetes event to record for a host. */
export interface HostEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
}

type History = NonNullable<HostStatus["operationHistory"]>;

const STARTS: Partial<Record<ProvisioningState, keyof History>> = {
  registering: "register",
  inspecting: "inspect",
  provisioning: "provision",
  deprovisioning: "deprovision",
};

/** Moves a host into another provisioning state: finishes the operation of the old state, starts that of the new one and adds events. */
export function enterState(
  { host, status, memory, nowMs }: HostView,
  state: ProvisioningState,
  keepError = false,
): { status: HostStatus; memory: HostMemory; events: HostEvent[] } {
  const from = stateOf(status);
  const now = formatTime(nowMs);
  const history: History = { ...status.operationHistory };
  const ended = STARTS[from];
  if (ended !== undefined && history[ended]?.end === undefined) history[ended] = { ...history[ended], end: now };
  const started = STARTS[state];
  if (started !== undefined) history[started] = { start: now };
  // The error of a failed image stays until the image is replaced or works.
  const kept = keepError || (from === "deprovisioning" && failedBefore(host, status));
  const cleared = kept ? { ...status, errorCount: 0 } : withoutError(status);
  const next: HostStatus = {
    ...cleared,
    provisioning: { ...cleared.provisioning, state },
    ...(Object.keys(history).length === 0 ? {} : { operationHistory: history }),
  };
  const { running: _, ...rest } = memory;
  return { status: changed(next, host.spec, from, state), memory: rest, events: eventsOf(from, state) };
}

/** What a state needs or leaves in the status. */
function changed(
  status: HostStatus,
  spec: HostView["host"]["spec"],
  from: ProvisioningState,
  state: ProvisioningState,
): HostStatus {
  const { image, customDeploy } = spec;
  const running = {
    image,
    customDeploy,
  };
  if (state === "unmanaged") return { ...status, operationalStatus: "discovered" };
  if (state === "provisioning") {
    const { lastAttemptedImage: _, ...rest } = status;
    return { ...rest, ...(image === undefined ? {} : { lastAttemptedImage: image }) };
  }
  if (from === "externally provisioned" && state === "provisioned")
    return { ...status, provisioning: { ...status.provisioning, ...running } };
  if (from === "deprovisioning") {
    const { image: _image, customDeploy: _deploy, ...rest } = status.provisioning;
    return { ...status, provisioning: rest };
  }
  return status;
}

function eventsOf(from: ProvisioningState, to: ProvisioningState): HostEvent[] {
  const normal = (reason: string, note: string): HostEvent => ({ type: "Normal", reason, note });
  if (to === "unmanaged")
    return [normal("Discovered", "The host has no spec.bmc: set its address and credentialsName")];
  if (to === "inspecting") return [normal("InspectionStarted", "Hardware inspection has started")];
  if (to === "provisioning") return [normal("ProvisioningStarted", "The host is being provisioned")];
  if (to === "provisioned" && from === "provisioning")
    return [normal("ProvisioningComplete", "The host is provisioned")];
  if (to === "deprovisioning") return [normal("DeprovisioningStarted", "The host is being deprovisioned")];
  if (to === "available" && from === "preparing") return [normal("ProfileSet", "The host is prepared and available")];
  return from === "deprovisioning" ? [normal("DeprovisioningComplete", "The host is deprovisioned")] : [];
}
